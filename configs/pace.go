package configs

import (
	"math"

	"github.com/weft-sim/weft/sim"
	"github.com/weft-sim/weft/workloads"
	"github.com/weft-sim/weft/workloads/collective"
)

// Pace is what the kernels of a library cost at one site, compared with what
// weft knows of the library: factors of its own figures, 0 for 1. `weft
// calibrate` writes it.
type Pace struct {
	Start   float64  `yaml:"start" weft:"positive,max=100,doc=launch and set-up, as a factor"`
	Step    float64  `yaml:"step" weft:"positive,max=100,doc=each step within a node, as a factor"`
	NetStep float64  `yaml:"net_step" weft:"positive,max=100,doc=each step across the network, as a factor"`
	Slice   float64  `yaml:"slice" weft:"positive,max=100,doc=what slices cost beside being copied, as a factor"`
	Rate    float64  `yaml:"rate" weft:"positive,max=100,doc=what thread blocks send, as a factor; the wires still limit it"`
	Floor   sim.Time `yaml:"floor" weft:"doc=what the host takes to launch at least, in place of the library's"`
}

// Choices returns a chooser whose kernels have this pace; a nil Pace changes
// nothing.
func (p *Pace) Choices(choose collective.Chooser) collective.Chooser {
	if p == nil || choose == nil {
		return choose
	}
	return func(op workloads.Coll, size sim.Bytes, ranks []int32) (collective.Choice, error) {
		c, err := choose(op, size, ranks)
		c.Pace = p.Apply(c.Pace)
		return c, err
	}
}

// Sends is [Pace.Choices] for messages.
func (p *Pace) Sends(send collective.Sender) collective.Sender {
	if p == nil || send == nil {
		return send
	}
	return func(size sim.Bytes, from, to int32) (collective.Choice, error) {
		c, err := send(size, from, to)
		c.Pace = p.Apply(c.Pace)
		return c, err
	}
}

// Apply scales the pace of a library; a nil Pace changes nothing.
func (p *Pace) Apply(c collective.Pace) collective.Pace {
	if p == nil {
		return c
	}
	c.Start = scaled(c.Start, p.Start)
	c.Step = scaled(c.Step, p.Step)
	c.NetStep = scaled(c.NetStep, p.NetStep)
	c.Slice = scaled(c.Slice, p.Slice)
	c.Fill = scaled(c.Fill, p.Slice)
	c.Spread = scaled(c.Spread, p.Slice)
	if p.Rate > 0 {
		c.Limit *= sim.Rate(p.Rate)
	}
	if p.Floor > 0 {
		c.Floor = p.Floor
	}
	return c
}

func scaled(t sim.Time, by float64) sim.Time {
	if by == 0 {
		return t
	}
	return sim.Time(math.Round(float64(t) * by))
}
