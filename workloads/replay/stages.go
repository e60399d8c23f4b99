package replay

import (
	"github.com/weft-sim/weft/sim"
	"github.com/weft-sim/weft/topology"
	"github.com/weft-sim/weft/workloads/collective"
)

// staged says that the lanes of a coupled pattern are flows of their own, which
// pass slices on: grain chunk. Places in a tree are as many as ranks, so that
// equal ranks are not looked for.
func (s shape) staged() bool { return s.lanes.Coupled() && !s.merged }

// stagePart is what one stage carries of the message of its group.
type stagePart struct {
	weight int64
	after  []int32
}

// bytes returns what a stage carries of m bytes, cut in so many parts.
func (s stagePart) bytes(m sim.Bytes, parts int64) sim.Bytes {
	// In two steps, so that the product stays in range.
	whole, rest := int64(m)/parts, int64(m)%parts
	return sim.Bytes(whole*s.weight + (rest*s.weight+parts-1)/parts)
}

// layStages lays the lanes of a staged set.
func (l *layout) layStages(set *laneSet) error {
	lay := l.j.layoutOf(set.group)
	ranks := l.j.ranksOf(set.group)
	all := set.shape.lanes.Stages(lay, set.shape.orders)
	set.parts = set.shape.lanes.StageParts(lay, set.shape.orders)
	set.succ = make([][]int32, len(all))
	for i, s := range all {
		for _, before := range s.After {
			set.succ[before] = append(set.succ[before], int32(i))
		}
		w := way{i, ranks[s.From], ranks[s.To], s.Weight, s.Part}
		p, err := l.j.wires.path(w.a, w.b)
		if err == nil && s.Part != collective.Through {
			err = l.j.cut(&p, w)
		}
		if err != nil {
			return err
		}
		l.add(&p, 1, 1)
		ln := lane{
			latency: p.Latency, limit: p.Rate, alone: l.alone(&p), beyond: l.j.beyond(&p, w.a), members: 1,
			a: w.a, b: w.b, next: -1, net: p.Kind == topology.NET, stage: stagePart{s.Weight, s.After},
		}
		if ln.loads, err = l.loads(1); err != nil {
			return err
		}
		set.lanes = append(set.lanes, ln)
	}
	return nil
}

// stagesSent returns what the members of a group send in a staged plan, each
// lane rounded up.
func (j *job) stagesSent(p collective.Plan, g groupID) float64 {
	lay := j.layoutOf(g)
	parts := p.Pattern.StageParts(lay, p.Choice.Orders)
	total := 0.0
	for _, s := range p.Pattern.Stages(lay, p.Choice.Orders) {
		if s.Part != collective.In {
			total += float64(stagePart{weight: s.Weight}.bytes(p.Message, parts))
		}
	}
	return total
}

// ready returns how many slices a staged lane may send: those that have come on
// all lanes before it.
func (p *pipe) ready(after []int32) int32 {
	n := p.total
	for _, before := range after {
		n = min(n, p.lanes[before].got)
	}
	return n
}
