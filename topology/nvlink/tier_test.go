package nvlink_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/weft-sim/weft/sim"
	"github.com/weft-sim/weft/topology"
	"github.com/weft-sim/weft/topology/nvlink"
)

const ns = sim.Nanosecond

func times(n, k int) []int {
	s := make([]int, n)
	for i := range s {
		s[i] = k
	}
	return s
}

// The two-tier systems, with round figures: 20 GB/s a link.
var (
	nvl = topology.Wire{Rate: 20e9, Latency: 100 * ns, Class: topology.Class{Name: "nvlink"}}
	// DGX-2: two boards of eight GPUs and six NVSwitches; each switch has eight
	// links to its twin (reference: nvswitch1, 8 GPU ports + 8 trunk ports).
	dgx2 = nvlink.Spec{Planes: times(6, 1), Link: nvl, SwitchLatency: 120 * ns, Tier: &nvlink.Tier{Groups: 2, Uplinks: times(6, 8)}}
	// GB200 NVL36x2: two racks of 36 GPUs and 18 switches of 72 ports, so 36 up.
	nvl36x2 = nvlink.Spec{Planes: times(18, 1), Link: nvl, SwitchLatency: 120 * ns, Tier: &nvlink.Tier{Groups: 2, Uplinks: times(18, 36)}}
	// The NVLink network of 32 DGX H100: 20, 16, 16, 20 uplinks to 5, 4, 4, 5 of
	// 18 trays of 128 ports: 4 links to each, 32 x 4 = 128.
	h100x256 = nvlink.Spec{Planes: []int{5, 4, 4, 5}, Link: nvl, SwitchLatency: 120 * ns, Tier: &nvlink.Tier{
		Groups: 32, Uplinks: []int{20, 16, 16, 20}, Switches: []int{5, 4, 4, 5}, SwitchLatency: 200 * ns,
		Link: topology.Wire{Rate: 20e9, Latency: 150 * ns, Class: topology.Class{Name: "nvlink-osfp"}},
	}}
	// DGX GH200: chassis of eight GPUs on three switches, 6 links to each; 48
	// links down and 48 up to 12 of 36 upper switches, without taper.
	gh200x256 = nvlink.Spec{Planes: times(3, 6), Link: nvl, SwitchLatency: 120 * ns, Tier: &nvlink.Tier{
		Groups: 32, Uplinks: times(3, 48), Switches: times(3, 12), SwitchLatency: 120 * ns,
	}}
	// GH200 NVL32: one tier of 18 switches.
	nvl32 = nvlink.Spec{Planes: times(18, 1), Link: nvl, SwitchLatency: 120 * ns}
)

func TestDGX2(t *testing.T) {
	g, w, ids := domain(t, 16, dgx2)
	assert.Equal(t, 12, g.Count()[topology.NVSwitch])
	for a := range 16 {
		_, links := g.Egress(ids[a], topology.NVSwitch)
		assert.Equal(t, 6, links)
		for b := range 16 {
			if a == b {
				continue
			}
			assert.Equal(t, 6, w.Links(a, b), "NV6 between all")
			p := route(t, g, w, ids, a, b)
			_, rate := g.Bottleneck(p)
			assert.InEpsilon(t, 120e9, float64(rate), 1e-12, "6 x 20, whatever the board")
			if a/8 == b/8 {
				// Two links and a switch.
				assert.Len(t, p.Hops, 2)
				assert.Equal(t, 320*ns, p.Latency)
			} else {
				// Three links and two switches: 300 + 240.
				assert.Len(t, p.Hops, 3)
				assert.Equal(t, 540*ns, p.Latency)
			}
		}
	}
	// Eight GPUs of 120 GB/s meet 6 x 8 x 20 = 960 GB/s between the boards.
	m := topology.Machine{Graph: g, Ranks: ids}
	assert.InEpsilon(t, 960e9, float64(m.Bisection()), 1e-9)
	p := route(t, g, w, ids, 0, 8)
	assert.Equal(t, "n0.nvswitch > n0.nvswitch (48 nvlink links)", g.ResourceName(p.Hops[1].Resource))
	assert.InEpsilon(t, 960e9, float64(g.Capacity(p.Hops[1].Resource)), 1e-12)
}

func TestTwoTiers(t *testing.T) {
	for _, c := range []struct {
		name         string
		spec         nvlink.Spec
		gpus, group  int
		switches     int
		links        int
		near, far    sim.Time
		cross, whole float64 // what leaves a group, what its GPUs inject
	}{
		// 36 GPUs x 18 links in, 18 x 36 links out. Far: 3 links, 2 switches.
		{"NVL36x2", nvl36x2, 72, 36, 36, 18, 320 * ns, 540 * ns, 18 * 36 * 20e9, 36 * 18 * 20e9},
		// 144 links in, 72 out: 2:1. Far: 2 x 100, 2 x 120, 2 x 150, 200.
		{"256 H100", h100x256, 256, 8, 32*4 + 18, 18, 320 * ns, 940 * ns, 72 * 20e9, 144 * 20e9},
		// 144 in, 144 out. Far: 4 x 100 + 3 x 120.
		{"256 GH200", gh200x256, 256, 8, 96 + 36, 18, 320 * ns, 760 * ns, 144 * 20e9, 144 * 20e9},
		{"NVL32", nvl32, 32, 32, 18, 18, 320 * ns, 320 * ns, 0, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			g, w, ids := domain(t, c.gpus, c.spec)
			assert.Equal(t, c.switches, g.Count()[topology.NVSwitch])
			for a := range ids {
				_, links := g.Egress(ids[a], topology.NVSwitch)
				require.Equal(t, c.links, links)
				assert.Equal(t, a/c.group, w.Group(a))
			}
			assert.True(t, w.Complete())
			p := route(t, g, w, ids, 0, c.group-1)
			assert.Equal(t, c.near, p.Latency)
			assert.Len(t, p.Hops, 2)
			if c.cross == 0 {
				return
			}
			p = route(t, g, w, ids, 1, c.gpus-1)
			assert.Equal(t, c.far, p.Latency)
			assert.InEpsilon(t, c.cross, float64(g.Capacity(p.Hops[1].Resource)), 1e-12)
			_, rate := g.Bottleneck(p)
			assert.InEpsilon(t, 360e9, float64(rate), 1e-12, "one GPU alone is not tapered")
			out, _ := g.Egress(ids[0], topology.NVSwitch)
			assert.InEpsilon(t, c.whole, float64(out)*float64(c.group), 1e-12)
		})
	}
	// 57.6 TB/s for the vendor's all-to-all of 256 at 25 GB/s a link: half of the
	// GPUs' sum. Here with 20: 16 groups of 72 x 20 GB/s on either side.
	g, _, ids := domain(t, 256, h100x256)
	m := topology.Machine{Graph: g, Ranks: ids}
	assert.InEpsilon(t, 16*72*20e9, float64(m.Bisection()), 1e-9)
}

func TestUnevenUplinksLimit(t *testing.T) {
	// Half of a GPU's links go to each plane, but plane 1 has one uplink: what
	// leaves a group is limited by it to 2 x 20 GB/s, not 9 x 20.
	g, w, ids := domain(t, 4, nvlink.Spec{Planes: []int{2, 2}, Link: nvl, Tier: &nvlink.Tier{Groups: 2, Uplinks: []int{8, 1}}})
	p := route(t, g, w, ids, 0, 2)
	assert.InEpsilon(t, 40e9, float64(g.Capacity(p.Hops[1].Resource)), 1e-12)
}

func TestTierSpraysAroundWhatIsMissing(t *testing.T) {
	// GPU 0 of a DGX-2 lost plane 2. To the other board: five planes, 100 GB/s,
	// up, over and down on each.
	s := dgx2
	s.Down = []nvlink.Down{{GPU: 0, Plane: 2, Links: 1}}
	g, w, ids := domain(t, 16, s)
	p := route(t, g, w, ids, 0, 8)
	assert.EqualValues(t, 5, p.Den)
	assert.Len(t, p.Hops, 15)
	assert.Equal(t, 540*ns, p.Latency)
	_, rate := g.Bottleneck(p)
	assert.InEpsilon(t, 100e9, float64(rate), 1e-12)

	// With upper switches each plane's part is split over them: 5 links over 5
	// trays, 4 over 4: 17 links in 17 equal parts.
	s = h100x256
	s.Down = []nvlink.Down{{GPU: 0, Plane: 0, Links: 1}}
	g, w, ids = domain(t, 256, s)
	p = route(t, g, w, ids, 0, 255)
	assert.EqualValues(t, 17*5, p.Den)
	assert.Equal(t, 940*ns, p.Latency)
	_, rate = g.Bottleneck(p)
	assert.InEpsilon(t, 17*20e9, float64(rate), 1e-12)
}

func TestBalancedRelays(t *testing.T) {
	// GPU 0 reaches 5 over 1 (1, then 2 links) or 4 (2, then 1): equally wide.
	s := nvlink.Spec{Edges: dgx1, Link: nvl, BalanceRelays: true}
	g, w, ids := domain(t, 8, s)
	p := route(t, g, w, ids, 0, 5)
	assert.EqualValues(t, 2, p.Den)
	assert.Len(t, p.Hops, 4)
	_, rate := g.Bottleneck(p)
	assert.InEpsilon(t, 40e9, float64(rate), 1e-12, "twice one link")
}

func TestTierErrors(t *testing.T) {
	for _, c := range []struct {
		name string
		tier nvlink.Tier
		want string
	}{
		{"groups", nvlink.Tier{Groups: 3, Uplinks: []int{1}}, "16 GPUs in 3 groups"},
		{"one group", nvlink.Tier{Groups: 1, Uplinks: []int{1}}, "two groups or more"},
		{"planes", nvlink.Tier{Groups: 2, Uplinks: []int{1, 2}}, "uplinks of 2 planes, but a group has 1"},
		{"no uplink", nvlink.Tier{Groups: 2, Uplinks: []int{0}}, "plane 0 has 0 uplinks"},
		{"switches", nvlink.Tier{Groups: 2, Uplinks: []int{8}, Switches: []int{3}}, "8 uplinks to 3 switches, must be as many to each"},
		{"number of switches", nvlink.Tier{Groups: 2, Uplinks: []int{8}, Switches: []int{2, 2}}, "upper switches of 2 planes"},
		{"latency", nvlink.Tier{Groups: 2, Uplinks: []int{8}, SwitchLatency: -1}, "an upper switch takes"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := nvlink.Spec{Planes: []int{6}, Link: nvl, Tier: &c.tier}
			assert.ErrorContains(t, s.Validate(16), c.want)
		})
	}
	s := nvlink.Spec{Edges: [][3]int{{0, 1, 1}}, Link: nvl, Tier: &nvlink.Tier{Groups: 2}}
	assert.ErrorContains(t, s.Validate(2), "a tier, but no planes")
}

// TestEveryLinkIsUsed: in a random two-tier domain every GPU has exactly the
// links of its spec, and all that a GPU sends arrives.
func TestEveryLinkIsUsed(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		groups, per := rapid.IntRange(2, 4).Draw(rt, "groups"), rapid.IntRange(1, 4).Draw(rt, "per")
		s := nvlink.Spec{Planes: rapid.SliceOfN(rapid.IntRange(1, 5), 1, 4).Draw(rt, "planes"), Link: nvl, Tier: &nvlink.Tier{Groups: groups}}
		want := 0
		twins := rapid.Bool().Draw(rt, "twins")
		for _, n := range s.Planes {
			want += n
			k := rapid.IntRange(1, 4).Draw(rt, "switches")
			s.Tier.Uplinks = append(s.Tier.Uplinks, k*rapid.IntRange(1, 3).Draw(rt, "uplinks"))
			if !twins {
				s.Tier.Switches = append(s.Tier.Switches, k)
			}
		}
		g, w, ids := domain(t, groups*per, s)
		for a := range ids {
			_, links := g.Egress(ids[a], topology.NVSwitch)
			require.Equal(rt, want, links)
			require.Equal(rt, want, w.Wired(a))
			for b := range ids {
				route(t, g, w, ids, a, b)
			}
		}
	})
}
