package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/weft-sim/weft/cmd/weft/internal/exitcode"
	"github.com/weft-sim/weft/cmd/weft/internal/report"
	"github.com/weft-sim/weft/configs"
	"github.com/weft-sim/weft/topology"
	"github.com/weft-sim/weft/topology/discover"
)

// matrix holds what nvidia-smi printed against what the system should print.
func (m *measurement) matrix(cmd *cobra.Command, name string, content []byte) (*report.Diagnosis, error) {
	switch {
	case m.op != "" || m.ranks > 0:
		return nil, usage(cmd, "%s is a matrix of nvidia-smi: no operation ran, so --op and --ranks say nothing", name)
	case m.system == "":
		return nil, usage(cmd, "%s is a matrix of nvidia-smi, which does not name the machine; expected --system, such as --system %s (`weft list systems` has them)", name, standardSystem)
	}
	dump, err := discover.Read(name, content)
	if err != nil {
		return nil, err
	}
	over := m.overlay()
	q := &question{made: true}
	text := fmt.Sprintf("name: diagnose\nsystem: %s\nworkload: {kind: collective, op: all_reduce, bytes: 1MiB}\n", standardSystem)
	if q.Scenario, err = over.Parse(diagnoseSource, []byte(text), "."); err != nil {
		return nil, q.mend(err)
	}
	hw, err := q.Hardware(nil)
	if err != nil {
		return nil, q.mend(err)
	}
	want, err := wanted(hw)
	if err != nil {
		return nil, exitcode.With(exitcode.Config, fmt.Errorf("diagnose %s: %w", name, err))
	}
	got := dump.Hosts[0].Matrix
	c := &report.MatrixCheck{System: q.system(), GPUs: got.GPUs, NICs: len(got.Devices) - got.GPUs}
	compareMatrices(c, got, want)
	for _, n := range dump.Notes {
		c.Notes = append(c.Notes, n.Text)
	}
	c.Judge()
	return &report.Diagnosis{Name: name, Version: version, Matrix: c}, nil
}

// wanted is the matrix that a sound machine prints.
func wanted(hw *configs.Hardware) (*discover.Matrix, error) {
	switch {
	case hw.Dump != nil && len(hw.Dump.Hosts) > 0 && hw.Dump.Hosts[0].Matrix != nil:
		return hw.Dump.Hosts[0].Matrix, nil
	case hw.Spec != nil:
		return discover.Relations(hw.Spec), nil
	}
	return nil, fmt.Errorf("%s is a network file, which has no matrix; expected a system of the catalogue, or the dump of a sound server", hw.Machine.Name)
}

// compareMatrices finds what differs. GPUs are compared by their numbers, NICs
// by how near the nearest are, since each site numbers them otherwise and has
// others for storage.
func compareMatrices(c *report.MatrixCheck, got, want *discover.Matrix) {
	if got.GPUs != want.GPUs {
		c.Add("gpu-count", "%s in the matrix, and %s has %d", report.Plural(got.GPUs, "GPU"), c.System, want.GPUs)
	}
	n := min(got.GPUs, want.GPUs)
	nvlinkPairs(c, got, want, n)
	ways(c, got, want, n)
	nics(c, got, want, n)
	sides(c, got, want, n)
}

// nvlinkPairs compares NVLinks.
func nvlinkPairs(c *report.MatrixCheck, got, want *discover.Matrix, n int) {
	lost := make([]int, n) // pairs of each GPU that have fewer
	type pair struct{ a, b, has, should int }
	var pairs []pair
	for a := range n {
		for b := a + 1; b < n; b++ {
			g, w := nvlinkCount(got.At(a, b)), nvlinkCount(want.At(a, b))
			if g < 0 || w < 0 || g == w {
				continue
			}
			if g > w {
				c.Add("nvlink-more", "GPU%d and GPU%d have %d NVLinks, expected %d: is this another system?", a, b, g, w)
				continue
			}
			lost[a]++
			lost[b]++
			pairs = append(pairs, pair{a, b, g, w})
		}
	}
	// A GPU that has fewer with all others is the one to look at.
	told := make([]bool, n)
	if len(pairs) == n*(n-1)/2 && n > 2 {
		c.Add("nvlink-missing", "all GPUs have fewer NVLinks with each other, such as %d of %d between GPU%d and GPU%d: a switch is missing, or the fabric manager does not run",
			pairs[0].has, pairs[0].should, pairs[0].a, pairs[0].b)
		return
	}
	for g := range n {
		if lost[g] == n-1 && n > 2 {
			told[g] = true
			least, should := -1, 0
			for _, p := range pairs {
				if p.a == g || p.b == g {
					if least < 0 || p.has < least {
						least, should = p.has, p.should
					}
				}
			}
			c.Add("nvlink-missing", "GPU%d has %d of %d NVLinks with each other GPU: nvidia-smi nvlink -s -i %d shows which are down", g, least, should, g)
		}
	}
	for _, p := range pairs {
		if !told[p.a] && !told[p.b] {
			c.Add("nvlink-missing", "GPU%d and GPU%d have %d of %d NVLinks", p.a, p.b, p.has, p.should)
		}
	}
}

// nvlinkCount is how many NVLinks a cell has, -1 where it is not known.
func nvlinkCount(c discover.Cell) int {
	switch {
	case !c.Known:
		return -1
	case c.Kind == topology.NVL:
		return c.Links
	}
	return 0
}

// ways compares what lies between GPUs without NVLink.
func ways(c *report.MatrixCheck, got, want *discover.Matrix, n int) {
	for a := range n {
		for b := a + 1; b < n; b++ {
			g, w := got.At(a, b), want.At(a, b)
			if !g.Known || !w.Known || g.Kind == topology.NVL || w.Kind == topology.NVL || g.Kind == w.Kind {
				continue
			}
			c.Add("gpu-place", "GPU%d and GPU%d are %v apart, expected %v", a, b, g, w)
		}
	}
}

// nics compares how near each GPU's NICs are, the nearest first.
func nics(c *report.MatrixCheck, got, want *discover.Matrix, n int) {
	has, should := len(got.Devices)-got.GPUs, len(want.Devices)-want.GPUs
	if should == 0 {
		return
	}
	if has < should {
		c.Add("nic-count", "%s, expected %d", report.Plural(has, "NIC"), should)
	}
	if has == 0 {
		return
	}
	far := map[string][]string{}
	var order []string
	for g := range n {
		a, near := nearest(got, g)
		b, _ := nearest(want, g)
		if a <= b {
			continue
		}
		key := fmt.Sprintf("%v away, expected %v", a, b)
		if far[key] == nil {
			order = append(order, key)
		}
		far[key] = append(far[key], fmt.Sprintf("GPU%d (%s)", g, near))
	}
	for _, key := range order {
		c.Add("nic-place", "the nearest NIC is %s, of %s: a NIC is missing there, or sits elsewhere", key, strings.Join(far[key], ", "))
	}
}

// nearest returns how near the nearest NIC of a GPU is, and its label.
func nearest(m *discover.Matrix, gpu int) (topology.PathKind, string) {
	best, name := topology.PathKind(255), "none"
	for d := m.GPUs; d < len(m.Devices); d++ {
		if c := m.At(gpu, d); c.Known && c.Kind < best {
			best, name = c.Kind, m.Devices[d]
		}
	}
	return best, name
}

// sides compares which GPUs share a NUMA node, where both matrices say it.
func sides(c *report.MatrixCheck, got, want *discover.Matrix, n int) {
	known := func(m *discover.Matrix) bool {
		return len(m.Affinity) >= n && m.Columns > 1 && !slices.ContainsFunc(m.Affinity[:n], func(a discover.Affinity) bool {
			return a.NUMA == "" || a.NUMA == "N/A"
		})
	}
	if n == 0 || !known(got) || !known(want) {
		return
	}
	for a := range n {
		for b := a + 1; b < n; b++ {
			// Several NUMA nodes may be one socket, so only GPUs that share one
			// where they should not are told.
			if got.Affinity[a].NUMA == got.Affinity[b].NUMA && want.Affinity[a].NUMA != want.Affinity[b].NUMA {
				c.Add("gpu-socket", "GPU%d and GPU%d share NUMA node %s, expected two sockets: a virtual machine that hides them, or another slot", a, b, got.Affinity[a].NUMA)
				return
			}
		}
	}
}
