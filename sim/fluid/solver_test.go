package fluid

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func hops(links ...LinkID) []Hop {
	h := make([]Hop, len(links))
	for i, l := range links {
		h[i] = Hop{l, 1}
	}
	return h
}

// Flow 0 is on link A alone, 1 on A and B, 2 on B alone; A has 1 and B 10.
// A fills first, at half each; what flow 1 leaves of B is 9.5.
func TestSolverThreeFlows(t *testing.T) {
	s := NewSolver([]int64{1000, 10000})
	a, b, c := s.Add(hops(0), 1, 0), s.Add(hops(0, 1), 1, 0), s.Add(hops(1), 1, 0)
	require.Equal(t, []FlowID{a, b, c}, s.Solve())
	require.Equal(t, []int64{500, 500, 9500}, []int64{s.Rate(a), s.Rate(b), s.Rate(c)})
	require.Equal(t, []int64{1000, 10000}, []int64{s.Used(0), s.Used(1)})
	require.Empty(t, s.Solve(), "nothing changed")

	// Without flow 0 the middle one gets all of A.
	s.Remove(a)
	require.Equal(t, []FlowID{b, c}, s.Solve())
	require.Equal(t, []int64{1000, 9000}, []int64{s.Rate(b), s.Rate(c)})
}

func TestSolverRules(t *testing.T) {
	cases := []struct {
		name  string
		cap   []int64
		flows []twinFlow
		want  []int64
	}{
		{"one flow takes the narrowest link", []int64{100, 30, 50}, []twinFlow{{hops(0, 1, 2), 1, 0}}, []int64{30}},
		{"incast of 7: an exact seventh each", []int64{700, 700, 700, 700, 700, 700, 700, 700}, []twinFlow{
			{hops(0, 7), 1, 0}, {hops(1, 7), 1, 0}, {hops(2, 7), 1, 0}, {hops(3, 7), 1, 0},
			{hops(4, 7), 1, 0}, {hops(5, 7), 1, 0}, {hops(6, 7), 1, 0},
		}, []int64{100, 100, 100, 100, 100, 100, 100}},
		{"weights 1 and 3", []int64{100}, []twinFlow{{hops(0), 1, 0}, {hops(0), 3, 0}}, []int64{25, 75}},
		{"a limit leaves the rest to others", []int64{100}, []twinFlow{{hops(0), 1, 10}, {hops(0), 1, 0}}, []int64{10, 90}},
		{"a limit above the share binds nobody", []int64{100}, []twinFlow{{hops(0), 1, 60}, {hops(0), 1, 0}}, []int64{50, 50}},
		{"hop weight 3 consumes threefold", []int64{100, 100}, []twinFlow{{[]Hop{{0, 3}, {1, 1}}, 1, 0}, {hops(0), 1, 0}}, []int64{25, 25}},
		{"a link given twice counts twice", []int64{100}, []twinFlow{{[]Hop{{0, 1}, {0, 2}}, 1, 0}}, []int64{33}},
		{"rounding down: 100 over 3 leaves one unit unused", []int64{100}, []twinFlow{{hops(0), 1, 0}, {hops(0), 1, 0}, {hops(0), 1, 0}}, []int64{33, 33, 33}},
		{"no capacity for a unit each", []int64{1}, []twinFlow{{hops(0), 1, 0}, {hops(0), 1, 0}}, []int64{0, 0}},
		{"only a limit", nil, []twinFlow{{nil, 2, 21}}, []int64{20}},
		// Ring A over links 0 1 2, ring B over 2 3 4, as one coupled flow each,
		// which share link 2.
		{"two rings share a link", []int64{90, 90, 90, 90, 90}, []twinFlow{{hops(0, 1, 2), 1, 0}, {hops(2, 3, 4), 1, 0}}, []int64{45, 45}},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			s := NewSolver(tc.cap)
			var ids []FlowID
			for _, f := range tc.flows {
				ids = append(ids, s.Add(f.hops, f.weight, f.limit))
			}
			require.Len(t, s.Solve(), len(tc.flows))
			var got []int64
			for _, id := range ids {
				got = append(got, s.Rate(id))
			}
			require.Equal(t, tc.want, got)
			rates, _ := twin(tc.cap, tc.flows)
			require.Equal(t, tc.want, rates, "the twin")
		})
	}
}

// drawCapacity prefers small numbers, where rounding shows, and round ones,
// where levels tie.
func drawCapacity(t *rapid.T) int64 {
	return rapid.OneOf(rapid.Int64Range(0, 50), rapid.Map(rapid.Int64Range(1, 10), func(i int64) int64 { return i * 840 }),
		rapid.Int64Range(0, MaxCapacity)).Draw(t, "capacity")
}

func drawFlow(t *rapid.T, links int) twinFlow {
	f := twinFlow{weight: rapid.Int32Range(1, 3).Draw(t, "weight")}
	for range rapid.IntRange(1, 5).Draw(t, "hops") {
		f.hops = append(f.hops, Hop{LinkID(rapid.IntRange(0, links-1).Draw(t, "link")), rapid.Int32Range(1, 3).Draw(t, "hop weight")})
	}
	if rapid.IntRange(0, 3).Draw(t, "limited") == 0 {
		f.limit = drawCapacity(t)
	}
	return f
}

// Any sequence of changes in any mode gives the rates of the twin, which knows
// the final state only: so incremental is full, and no order matters.
func TestSolverEqualsTwin(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		links := rapid.IntRange(1, 8).Draw(t, "links")
		capacity := make([]int64, links)
		for l := range capacity {
			capacity[l] = drawCapacity(t)
		}
		s := NewSolver(capacity)
		s.Mode = rapid.SampledFrom([]Mode{Suffix, Part, Full}).Draw(t, "mode")
		var flows []twinFlow
		var ids []FlowID
		before := map[FlowID]int64{}
		for range rapid.IntRange(1, 12).Draw(t, "rounds") {
			for range rapid.IntRange(1, 4).Draw(t, "changes") {
				switch op := rapid.IntRange(0, 5).Draw(t, "op"); {
				case op == 0:
					l := rapid.IntRange(0, links-1).Draw(t, "link")
					capacity[l] = drawCapacity(t)
					s.SetCapacity(LinkID(l), capacity[l])
				case op <= 2 && len(ids) > 0:
					i := rapid.IntRange(0, len(ids)-1).Draw(t, "leaver")
					s.Remove(ids[i])
					delete(before, ids[i])
					ids = append(ids[:i], ids[i+1:]...)
					flows = append(flows[:i], flows[i+1:]...)
				default:
					f := drawFlow(t, links)
					id := s.Add(f.hops, f.weight, f.limit)
					delete(before, id)
					ids, flows = append(ids, id), append(flows, f)
				}
			}
			changed := map[FlowID]bool{}
			for _, id := range s.Solve() {
				require.False(t, changed[id], "flow %d is reported twice", id)
				changed[id] = true
			}
			rates, used := twin(capacity, flows)
			for i, id := range ids {
				require.Equal(t, rates[i], s.Rate(id), "flow %d %+v", id, flows[i])
				old, known := before[id]
				require.Equal(t, !known || old != rates[i], changed[id], "flow %d reported; it had %d, has %d", id, old, rates[i])
				before[id] = rates[i]
			}
			for l := range used {
				require.Equal(t, used[l], s.Used(LinkID(l)), "link %d", l)
				require.LessOrEqual(t, used[l], capacity[l])
			}
			require.Equal(t, len(ids), s.Flows())
			checkStores(t, s)
		}
	})
}

// checkStores holds what the solver keeps twice against each other.
func checkStores(t require.TestingT, s *Solver) {
	uses, total := make([]int32, len(s.links)), make([]int64, len(s.links))
	for id, f := range s.flows {
		for i := range f.n {
			h := s.hops.at[f.first+i]
			require.Equal(t, use{int32(id), f.first + i}, s.uses.at[h.pos], "hop %d of flow %d", i, id)
			uses[h.link]++
			total[h.link] += int64(f.weight) * int64(h.weight)
		}
	}
	for l, lk := range s.links {
		require.Equal(t, uses[l], lk.n, "uses of link %d", l)
		require.Equal(t, total[l], lk.total, "weight of link %d", l)
		require.Zero(t, lk.weight+lk.pend+int64(lk.fresh), "link %d is left in a solve", l)
		if lk.n > 0 {
			b := lk.head
			for range (lk.n - 1) / blockLen {
				require.Equal(t, b, s.uses.prev[s.uses.next[b]])
				b = s.uses.next[b]
			}
			require.Equal(t, lk.tail, b, "last block of link %d", l)
		}
	}
}

// Duplicates among many hops merge, and their block shrinks.
func TestSolverMergesHops(t *testing.T) {
	s := NewSolver([]int64{1000, 1000, 2000})
	long := make([]Hop, 100)
	for i := range long {
		long[i] = Hop{LinkID(i % 3), 1}
	}
	a := s.Add(long, 1, 0)
	b := s.Add(hops(2), 1, 0)
	s.Solve()
	checkStores(t, s)
	require.EqualValues(t, 1000/34, s.Rate(a), "34 times on link 0")
	require.EqualValues(t, 2000-33*29, s.Rate(b))
	s.Remove(a)
	require.Equal(t, []FlowID{b}, s.Solve())
	checkStores(t, s)
	require.Equal(t, a, s.Add(long, 1, 0), "a number is given out again")
}

// Marks stay right when their counter wraps.
func TestSolverStampWraps(t *testing.T) {
	s := NewSolver([]int64{1000, 1000})
	a, b := s.Add(hops(0), 1, 0), s.Add(hops(0, 1), 1, 0)
	s.Solve()
	s.stamp = 1<<32 - 2
	for i := range s.flows {
		s.flows[i].mark = s.stamp + 1
	}
	s.Remove(b)
	require.Equal(t, []FlowID{a}, s.Solve())
	require.EqualValues(t, 1000, s.Rate(a))
}

// churn makes random arrivals and departures, some at the same instant, on two
// solvers of different modes, and compares all rates after each.
func churn(t *testing.T, a, b *Solver, links, events int, local bool) {
	rng := rand.New(rand.NewPCG(3, 5))
	var ids []FlowID
	for n := 0; n < events; {
		for range 1 + rng.IntN(3) {
			n++
			if len(ids) > 150 || len(ids) > 0 && rng.IntN(2) == 0 {
				i := rng.IntN(len(ids))
				a.Remove(ids[i])
				b.Remove(ids[i])
				ids[i] = ids[len(ids)-1]
				ids = ids[:len(ids)-1]
				continue
			}
			at := rng.IntN(links)
			var h []Hop
			for range 1 + rng.IntN(4) {
				l := rng.IntN(links)
				if local {
					l = (at + rng.IntN(5)) % links
				}
				h = append(h, Hop{LinkID(l), 1 + rng.Int32N(3)})
			}
			w, limit := 1+rng.Int32N(2), int64(0)
			if rng.IntN(4) == 0 {
				limit = 1 + rng.Int64N(1<<59)
			}
			id := a.Add(h, w, limit)
			require.Equal(t, id, b.Add(h, w, limit))
			ids = append(ids, id)
		}
		a.Solve()
		b.Solve()
		if n%64 == 0 {
			checkStores(t, a)
		}
		for _, id := range ids {
			if a.Rate(id) != b.Rate(id) {
				require.Equal(t, a.Rate(id), b.Rate(id), "flow %d after %d changes", id, n)
			}
		}
		for l := range links {
			if a.Used(LinkID(l)) != b.Used(LinkID(l)) {
				require.Equal(t, a.Used(LinkID(l)), b.Used(LinkID(l)), "link %d after %d changes", l, n)
			}
		}
	}
}

func TestSolverModesAgree(t *testing.T) {
	events := 100_000
	if testing.Short() {
		events = 4_000
	}
	const links = 24
	capacity := make([]int64, links)
	for l := range capacity {
		capacity[l] = int64(1+l%5) << 58
	}
	for _, local := range []bool{false, true} {
		for _, mode := range []Mode{Suffix, Part} {
			t.Run(fmt.Sprintf("mode %d, local %v", mode, local), func(t *testing.T) {
				t.Parallel()
				a, b := NewSolver(capacity), NewSolver(capacity)
				a.Mode, b.Mode = mode, Full
				churn(t, a, b, links, events/2, local)
			})
		}
	}
}
