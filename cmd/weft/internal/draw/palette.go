package draw

import (
	"math"

	"github.com/weft-sim/weft/sim"
	"github.com/weft-sim/weft/topology"
)

// family is what kind of wire a link is, to the eye.
type family uint8

const (
	nvlink family = iota
	pcie
	c2c
	cpu
	memory
	network
	families
)

func (f family) String() string {
	return [...]string{"NVLink", "PCIe", "chip to chip", "CPU to CPU and host bridge", "host memory", "network"}[f]
}

// color is by Okabe and Ito (2008), whose colours stay apart for the
// colour-blind; grey stands for memory.
func (f family) color() string {
	return [...]string{"#009E73", "#D55E00", "#56B4E9", "#CC79A7", "#8A8A8A", "#0072B2"}[f]
}

const (
	ink   = "#1b1f24"
	faint = "#59636e"
	hair  = "#c9d1d9"
	alarm = "#b3001b" // what is out of service or slower than its like
)

// familyOf tells the family of a link from the nodes at its ends.
func familyOf(a, b topology.NodeKind) family {
	has := func(k topology.NodeKind) bool { return a == k || b == k }
	switch {
	case has(topology.Switch), a == topology.NIC && b == topology.NIC:
		return network
	case has(topology.HostMemory):
		return memory
	case has(topology.NVSwitch), a == topology.GPU && b == topology.GPU:
		return nvlink
	case has(topology.Socket) && has(topology.GPU):
		return c2c
	case a == topology.Socket && (b == topology.Socket || b == topology.RootComplex),
		a == topology.RootComplex && b == topology.Socket:
		return cpu
	}
	return pcie
}

// paint is how a node is filled and framed.
type paint struct{ fill, edge string }

func paintOf(k topology.NodeKind) paint {
	return [...]paint{
		topology.GPU:         {"#d5f0e6", "#00795a"},
		topology.NVSwitch:    {"#8fd9c1", "#005c44"},
		topology.PCIeSwitch:  {"#fbe0cc", "#a84a00"},
		topology.RootComplex: {"#fdf0e4", "#a84a00"},
		topology.Socket:      {"#f3dfea", "#93487a"},
		topology.HostMemory:  {"#ececec", "#6b6b6b"},
		topology.NIC:         {"#d3e7f5", "#005a8d"},
		topology.Switch:      {"#a9d0ea", "#00456d"},
	}[k]
}

// thickness is the width of a line in pixels: it grows with the square root of
// the rate, since the rates of one machine differ a hundredfold.
func thickness(r sim.Rate) float64 {
	return min(22, max(0.8, 0.28*math.Sqrt(float64(r)/1e9)))
}
