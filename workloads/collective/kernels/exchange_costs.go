package kernels

import (
	_ "embed"
	"encoding/csv"
	"fmt"
	"strconv"
	"strings"
	"sync"

	"github.com/weft-sim/weft/sim"
)

// exchangeCost is what the kernels of an exchange cost on a generation.
type exchangeCost struct {
	start     sim.Time // between two ranks, without a token: launch, counts, flags
	peer      sim.Time // each rank more
	expert    sim.Time // low latency: each expert, whose count is sent and waited for
	hidden    sim.Time // the first token through, for every 1024 of its elements
	turn      sim.Time // what a thread block spends on a token beside copying it
	block     sim.Rate // what a thread block copies
	rank      sim.Rate // what a rank sends to others at most
	net       sim.Time // beyond the wires, where the way crosses the network
	allBlocks bool     // on all SMs, not on those that it is given
}

//go:embed exchange.csv
var exchangeTable string

var exchangeCosts = sync.OnceValues(func() (map[costKey]exchangeCost, error) { return readExchangeCosts(exchangeTable) })

func readExchangeCosts(table string) (map[costKey]exchangeCost, error) {
	r := csv.NewReader(strings.NewReader(table))
	r.Comment = '#'
	rows, err := r.ReadAll()
	if err != nil {
		return nil, fmt.Errorf("read costs of exchanges: %w", err)
	}
	all := map[costKey]exchangeCost{}
	for _, row := range rows[1:] {
		var f [8]float64
		for i := range f {
			if f[i], err = strconv.ParseFloat(row[2+i], 64); err != nil || !(f[i] >= 0) || (i == 5 || i == 6) && f[i] == 0 {
				return nil, fmt.Errorf("read costs of exchanges: %s on %s: %q: want a figure, and rates above zero", row[0], row[1], row[2+i])
			}
		}
		us := func(v float64) sim.Time { return sim.Time(v * float64(sim.Microsecond)) }
		all[costKey{row[0], generation(row[1])}] = exchangeCost{
			start: us(f[0]), peer: us(f[1]), expert: us(f[2]), hidden: us(f[3]), turn: us(f[4]),
			block: sim.Rate(f[5] * 1e9), rank: sim.Rate(f[6] * 1e9), net: us(f[7]), allBlocks: strings.HasPrefix(row[0], "nvlink"),
		}
	}
	return all, nil
}

// kernel is the name in exchange.csv of the kernels that a library runs.
func (x Exchange) kernel(library string) string {
	name := library + "-normal"
	switch {
	case library == "nvlink-a2a" && x.OneSided:
		name = library + "-onesided"
	case library == "nvlink-a2a":
		name = library + "-twosided"
	case x.LowLatency:
		name = library + "-ll"
	}
	if x.Combine {
		return name + "-combine"
	}
	return name + "-dispatch"
}
