package msccl

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The counts were taken from the files by other means.
func TestRealFiles(t *testing.T) {
	for _, c := range []struct {
		file           string
		gpus, tb       int
		steps          map[string]int
		coll, protocol string
	}{
		{"astra_custom_ring_allreduce_8.xml", 8, 8, map[string]int{"s": 112, "rrc": 56, "r": 56}, "all_reduce", "LL128"},
		{"ncv4_ag_hier_4_LL.xml", 4, 48, map[string]int{"r": 32, "s": 32, "rcs": 16, "cpy": 16}, "all_gather", "LL"},
		{"ncv4_ar_tree_12_LL.xml", 4, 192, map[string]int{"rrc": 24, "s": 48, "rrs": 48, "rcs": 48, "r": 24}, "all_reduce", "LL"},
		{"ndv4_a2a2ll.xml", 8, 224, map[string]int{"r": 112, "s": 112, "cpy": 16}, "alltoall", "LL"},
		{"ndv4_ag-1k-512k.xml", 8, 224, map[string]int{"r": 112, "s": 112}, "all_gather", "LL"},
		{"ndv5_ag-32m-1g.xml", 8, 256, map[string]int{"s": 256, "rcs": 1536, "r": 256}, "all_gather", "Simple"},
		{"ndv5_ap-1pass.xml.gz", 8, 256, map[string]int{"nop": 2656, "re": 1792, "s": 224, "r": 224}, "all_reduce", "LL"},
		{"ndv5_r48ll128.xml", 8, 256, map[string]int{"s": 64, "rrs": 384, "rcs": 384, "rrcs": 64, "r": 64}, "all_reduce", "LL128"},
		{"rccl_alltoall-8n-0-9kb.xml", 8, 120, map[string]int{"cpy": 8, "r": 56, "s": 56}, "alltoall", "LL"},
	} {
		t.Run(c.file, func(t *testing.T) {
			a, err := Read(c.file, sharedFile(t, "traces", "msccl_xml", c.file))
			require.NoError(t, err)
			blocks, steps := 0, map[string]int{}
			for _, g := range a.GPUs {
				blocks += len(g.Blocks)
				for _, b := range g.Blocks {
					for _, s := range b.Steps {
						steps[s.Kind.String()]++
					}
				}
			}
			assert.Len(t, a.GPUs, c.gpus)
			assert.Equal(t, c.tb, blocks)
			assert.Equal(t, c.steps, steps)
			assert.Equal(t, c.coll, a.Op())
			assert.Equal(t, c.protocol, a.Protocol.String())
			notes, err := a.Check()
			require.NoError(t, err)
			t.Log(a.Notes, notes)
		})
	}
}
