package measured

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/weft-sim/weft/sim"
)

// sweep is a series of out-of-place times in us at 8, 16, 32 ... bytes, and of
// in-place ones if there are any.
func sweep(out, in []float64) *Series {
	s := made("t", "all_reduce", 8)
	for place, times := range [][]float64{out, in} {
		for i, us := range times {
			s.Points = append(s.Points, Point{Size: 8 << i, Time: sim.Time(us * float64(sim.Microsecond)), Placement: []string{"out", "in"}[place]})
		}
	}
	return s
}

func TestLeft(t *testing.T) {
	for _, c := range []struct {
		name    string
		out, in []float64
		want    map[int]string // by index of the point, out of place first
	}{
		{"the first row warms up, out of place", []float64{68, 25, 25, 25}, []float64{25, 25, 25, 25}, map[int]string{0: WarmUp}},
		{"in place too, where there is nothing before it", nil, []float64{68, 25, 25, 25}, map[int]string{0: WarmUp}},
		{"a test of few sizes is no sweep", []float64{20, 25, 25}, nil, map[int]string{}},
		{"a spike", []float64{25, 25, 80, 25, 25}, []float64{25, 25, 25, 25, 25}, map[int]string{0: WarmUp, 2: Spike}},
		{"twice is not more than twice", []float64{25, 25, 50, 26, 26}, []float64{25, 25, 50, 26, 26}, map[int]string{0: WarmUp}},
		{"first use in one placement", []float64{25, 25, 25, 40, 30}, []float64{25, 25, 25, 26, 30}, map[int]string{0: WarmUp, 3: FirstUse}},
		{"a switch that both placements show", []float64{25, 25, 30, 40, 30}, []float64{25, 25, 30, 41, 30}, map[int]string{0: WarmUp}},
		{"the last row has no larger neighbour", []float64{25, 25, 25, 400}, nil, map[int]string{0: WarmUp}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := sweep(c.out, c.in)
			got := map[int]string{}
			for i, why := range s.Left([]*Series{s}) {
				if why != "" {
					got[i] = why
				}
			}
			assert.Equal(t, c.want, got)
		})
	}
}

// TestAnotherTypeAgrees: another element type of the same version is a sample of
// the same row, another version is not.
func TestAnotherTypeAgrees(t *testing.T) {
	a, b := sweep([]float64{9, 9, 9, 15, 10}, nil), sweep([]float64{9, 9, 9, 16, 10}, nil)
	a.Table = b.Table
	a.Type, b.Type = "half", "int8"
	assert.Empty(t, a.Left([]*Series{a, b})[3])
	b.Variant = "another version"
	assert.Equal(t, FirstUse, a.Left([]*Series{a, b})[3])
}

func TestStated(t *testing.T) {
	s := sweep([]float64{9, 9}, []float64{9, 9})
	all := func() []string { return s.Left([]*Series{s}) }
	s.Case.LeaveOut = []Gap{{From: 16, Placement: "out", Because: "torn"}}
	assert.Equal(t, []string{"", "torn", "", ""}, all())
	s.Case.LeaveOut = []Gap{{To: 8, Because: "worn"}}
	assert.Equal(t, []string{"worn", "", "worn", ""}, all())
	s.Case.LeaveOut = nil
	s.Case.Placement = "in*"
	assert.Equal(t, []string{Placed, Placed, "", ""}, all())
	s.Case.Placement = ""
	s.Points[1].Coarse = true
	assert.Equal(t, []string{"", Rounded, "", ""}, all())
	s.Case.NeverFit = "broken"
	assert.Equal(t, "never fit: broken", all()[3])
	s.Case.Skip = "unknown"
	assert.Equal(t, "unknown", all()[0])
}
