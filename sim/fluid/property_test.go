package fluid

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/weft-sim/weft/sim"
)

// load is a random set of flows with bytes.
type load struct {
	den      int32
	capacity []sim.Rate
	flows    []loadFlow
	changes  []change
}

// change is another capacity for a link.
type change struct {
	at   sim.Time
	link LinkID
	to   sim.Rate
}

type loadFlow struct {
	start sim.Time
	hops  []Hop
	bytes sim.Bytes
	o     Options
}

func drawLoad(t *rapid.T) load {
	l := load{den: rapid.SampledFrom([]int32{1, 2, 18}).Draw(t, "den")}
	for range rapid.IntRange(1, 6).Draw(t, "links") {
		l.capacity = append(l.capacity, sim.Rate(rapid.SampledFrom([]int64{25, 50, 100, 429, 900}).Draw(t, "capacity"))*sim.GBps)
	}
	for range rapid.IntRange(1, 20).Draw(t, "flows") {
		f := loadFlow{
			start: sim.Time(rapid.Int64Range(0, 20).Draw(t, "start")) * 10 * sim.Microsecond,
			bytes: sim.Bytes(rapid.OneOf(rapid.Int64Range(0, 100), rapid.Int64Range(0, 40e6)).Draw(t, "bytes")),
		}
		for range rapid.IntRange(0, 4).Draw(t, "hops") {
			f.hops = append(f.hops, Hop{LinkID(rapid.IntRange(0, len(l.capacity)-1).Draw(t, "link")), rapid.Int32Range(1, 18).Draw(t, "hop weight")})
		}
		f.o.Weight = rapid.Int32Range(0, 3).Draw(t, "weight")
		f.o.Latency = sim.Time(rapid.Int64Range(0, 2).Draw(t, "latency")) * sim.Microsecond
		if rapid.IntRange(0, 3).Draw(t, "limited") == 0 {
			f.o.Limit = sim.Rate(rapid.Int64Range(1e9, 100e9).Draw(t, "limit"))
		}
		l.flows = append(l.flows, f)
	}
	for range rapid.IntRange(0, 3).Draw(t, "changes") {
		l.changes = append(l.changes, change{
			sim.Time(rapid.Int64Range(0, 20).Draw(t, "at")) * 10 * sim.Microsecond,
			LinkID(rapid.IntRange(0, len(l.capacity)-1).Draw(t, "changed link")),
			min(sim.Rate(rapid.SampledFrom([]int64{1, 10, 50, 400}).Draw(t, "to"))*sim.GBps, slices.Max(l.capacity)),
		})
	}
	return l
}

// run starts the flows in the order given and returns their ends by number.
func (l load) run(t tester, order []int, also func(*rig)) (*rig, []sim.Time) {
	r := newRig(t, l.den, l.capacity...)
	r.ends = make([]sim.Time, len(l.flows))
	for _, i := range order {
		f := l.flows[i]
		f.o.Target, f.o.Kind, f.o.Arg = r.self, kindEnd, int64(i)
		r.at(f.start, func() { r.p.Start(f.hops, f.bytes, f.o) })
	}
	for _, c := range l.changes {
		r.at(c.at, func() { require.NoError(t, r.p.SetCapacity(c.link, c.to)) })
	}
	if also != nil {
		also(r)
	}
	r.run()
	return r, r.ends
}

func identity(n int) []int {
	s := make([]int, n)
	for i := range s {
		s[i] = i
	}
	return s
}

// The books balance at any time, and in the end each link has carried all
// bytes of its flows; no flow ends before its share could have been sent.
func TestPoolConserves(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := drawLoad(t)
		r, ends := l.run(t, identity(len(l.flows)), func(r *rig) {
			for i := range 8 {
				r.at(sim.Time(i)*33*sim.Microsecond, func() {
					require.NoError(t, r.p.Check())
					for l := range r.p.accounts {
						require.LessOrEqual(t, r.p.solver.Used(LinkID(l)), r.p.solver.Capacity(LinkID(l)))
					}
				})
			}
		})
		want := make([]float64, len(l.capacity))
		most := slices.Clone(l.capacity)
		for _, c := range l.changes {
			most[c.link] = max(most[c.link], c.to)
		}
		for i, f := range l.flows {
			least := f.start
			for _, h := range f.hops {
				want[h.Link] += float64(f.bytes) * float64(h.Weight) / float64(l.den)
				alone := sim.TransferTime(f.bytes*sim.Bytes(h.Weight), most[h.Link]*sim.Rate(l.den))
				least = max(least, f.start+alone)
			}
			require.GreaterOrEqual(t, ends[i], least+f.o.Latency, "flow %d %+v", i, f)
		}
		for i, w := range want {
			require.InEpsilon(t, 1+w, 1+r.p.Carried(LinkID(i)), 1e-12, "link %d", i)
		}
	})
}

// The order in which flows start within an instant changes nothing, nor does
// the solver's mode.
func TestPoolOrderIsNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := drawLoad(t)
		_, want := l.run(t, identity(len(l.flows)), nil)
		order := rapid.Permutation(identity(len(l.flows))).Draw(t, "order")
		mode := rapid.SampledFrom([]Mode{Suffix, Part, Full}).Draw(t, "mode")
		_, got := l.run(t, order, func(r *rig) { r.p.SetMode(mode) })
		require.Equal(t, want, got)
	})
}

// Twice the capacity and half the start times halve every end, up to the
// rounding of each instant to whole picoseconds, which slower flows see times the
// ratio of the rates: at most 10 ns here, where ends are at tens of microseconds.
func TestPoolDoubling(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := drawLoad(t)
		for i := range l.flows {
			l.flows[i].o.Latency = 0
		}
		_, slow := l.run(t, identity(len(l.flows)), nil)
		for i := range l.capacity {
			l.capacity[i] *= 2
		}
		for i := range l.flows {
			l.flows[i].start /= 2
			l.flows[i].o.Limit *= 2
		}
		for i := range l.changes {
			l.changes[i].at /= 2
			l.changes[i].to *= 2
		}
		_, fast := l.run(t, identity(len(l.flows)), nil)
		for i := range slow {
			require.InDelta(t, int64(slow[i]), int64(2*fast[i]), float64(500*len(l.flows)), "flow %d", i)
		}
	})
}

// One flow and link of each kind, with hop weights for how many of a kind meet,
// give the ends of n of each, to the picosecond. Copy i of a flow with weight w
// on a link kind uses the w copies i, i+1, ... of that link, so that each copy of
// the link carries w copies of the flow.
func TestPoolCollapsedIsExpanded(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := drawLoad(t)
		n := rapid.IntRange(18, 24).Draw(t, "copies")
		merged := make([][]Hop, len(l.flows))
		for i, f := range l.flows {
			// Distinct links, so that weights stay below n.
			seen := map[LinkID]bool{}
			for _, h := range f.hops {
				if !seen[h.Link] {
					merged[i] = append(merged[i], h)
				}
				seen[h.Link] = true
			}
			l.flows[i].hops = merged[i]
		}
		_, want := l.run(t, identity(len(l.flows)), nil)

		big := load{den: l.den}
		for _, c := range l.capacity {
			for range n {
				big.capacity = append(big.capacity, c)
			}
		}
		for _, c := range l.changes {
			for i := range n {
				big.changes = append(big.changes, change{c.at, LinkID(int(c.link)*n + i), c.to})
			}
		}
		for _, f := range l.flows {
			for i := range n {
				g := f
				g.hops = nil
				for _, h := range f.hops {
					for d := range int(h.Weight) {
						g.hops = append(g.hops, Hop{LinkID(int(h.Link)*n + (i+d)%n), 1})
					}
				}
				big.flows = append(big.flows, g)
			}
		}
		_, got := big.run(t, identity(len(big.flows)), nil)
		for i := range got {
			require.Equal(t, want[i/n], got[i], "copy %d of flow %d", i%n, i/n)
		}
	})
}
