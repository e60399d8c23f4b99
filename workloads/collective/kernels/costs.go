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

// generation is what the constants of kernels belong to: the GPUs and what
// joins them.
type generation string

// The generations. V100 and older take the constants of A100, which is assumed.
const (
	ampere    generation = "ampere"    // A100 and NVLink 3
	hopper    generation = "hopper"    // H100, H200 and NVLink 4
	blackwell generation = "blackwell" // B200, B300, GB200, GB300 and NVLink 5
	pcie4     generation = "pcie4"     // L40S and others over PCIe 4
	pcie5     generation = "pcie5"     // RTX PRO 6000 and others over PCIe 5
)

func generationOf(m Machine) generation {
	switch {
	case !m.NVLink && m.SM < 90:
		return pcie4
	case !m.NVLink:
		return pcie5
	case m.SM < 90:
		return ampere
	case m.SM < 100:
		return hopper
	}
	return blackwell
}

// copyRates are how fast a GPU copies within its memory: 80 % of its memory
// bandwidth, of which a copy uses twice its bytes. Derived from datasheets:
// A100 2.04, H100 3.35, B200 8, L40S 0.86, RTX PRO 6000 1.6 TB/s.
var copyRates = map[generation]sim.Rate{
	ampere: 0.815e12, hopper: 1.34e12, blackwell: 3.2e12, pcie4: 0.345e12, pcie5: 0.64e12,
}

// cost is what a kernel costs on a generation.
type cost struct {
	// start is what it takes between two ranks without any bytes, wires not
	// counted: launch within a graph, barriers, dependent trips.
	start sim.Time
	// peer is what each rank beyond the second adds: a flag more to write and
	// poll, and where peers are read one after the other, a trip.
	peer sim.Time
	// wave is what a turn of the thread blocks of a two-step kernel waits for
	// each peer: the second step reads its peers one after the other.
	wave sim.Time
	// lane and rank are what the thread blocks move between a pair of ranks
	// and from one rank altogether: bytes in flight over the time of a trip.
	lane, rank sim.Rate
	status     string // measured, derived or assumed
	source     string
}

// The constants. Rows that are measured are fitted by TestFit -update.
//
//go:embed costs.csv
var costTable string

type costKey struct {
	kernel string
	on     generation
}

var costs = sync.OnceValues(func() (map[costKey]cost, error) { return readCosts(costTable) })

// costOf returns what a kernel costs.
func costOf(name string, g generation) (cost, error) {
	all, err := costs()
	if err != nil {
		return cost{}, err
	}
	c, ok := all[costKey{name, g}]
	if !ok {
		return cost{}, fmt.Errorf("no cost of kernel %s on %s is known to weft", name, g)
	}
	return c, nil
}

// readCosts reads the table of constants.
func readCosts(table string) (map[costKey]cost, error) {
	r := csv.NewReader(strings.NewReader(table))
	r.Comment = '#'
	rows, err := r.ReadAll()
	if err != nil {
		return nil, fmt.Errorf("read costs of kernels: %w", err)
	}
	all := map[costKey]cost{}
	for _, row := range rows[1:] {
		var f [5]float64
		for i := range f {
			if f[i], err = strconv.ParseFloat(row[2+i], 64); err != nil || !(f[i] >= 0) || i >= 3 && f[i] == 0 {
				return nil, fmt.Errorf("read costs of kernels: %s on %s: %q: want a figure, and rates above zero", row[0], row[1], row[2+i])
			}
		}
		key := costKey{row[0], generation(row[1])}
		if _, twice := all[key]; twice {
			return nil, fmt.Errorf("read costs of kernels: %s on %s stands there twice", row[0], row[1])
		}
		all[key] = cost{
			start: sim.Time(f[0] * float64(sim.Microsecond)), peer: sim.Time(f[1] * float64(sim.Microsecond)),
			wave: sim.Time(f[2] * float64(sim.Microsecond)),
			lane: sim.Rate(f[3] * 1e9), rank: sim.Rate(f[4] * 1e9), status: row[7], source: row[8],
		}
	}
	return all, nil
}
