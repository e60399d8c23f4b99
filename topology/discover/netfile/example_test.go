package netfile_test

import (
	"fmt"

	"github.com/weft-sim/weft/topology/discover/netfile"
	"github.com/weft-sim/weft/topology/shortest"
)

// A network of ASTRA-sim. Its GB are 2^30 bytes, and a switch is two links.
func ExampleRead() {
	n, err := netfile.Read("hgx.yml", []byte(`
topology: [ Switch ]
npus_count: [ 8 ]
bandwidth: [ 400.0 ]  # GB/s
latency: [ 936.25 ]   # ns
`), netfile.Assume{})
	if err != nil {
		fmt.Println(err)
		return
	}
	m, err := n.Machine(shortest.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	p, _ := m.Route(0, 7, nil)
	_, rate := m.Graph.Bottleneck(p)
	fmt.Println(n.Format, len(n.GPUs), p.Kind, p.Latency, rate)
	// Output: ASTRA-sim network 8 NVL 1.8725us 429.4967296GB/s
}
