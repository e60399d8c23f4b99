package nccl

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-sim/weft/sim"
	"github.com/weft-sim/weft/workloads"
)

func TestTunerChoosesByItsFirstRule(t *testing.T) {
	tuner, err := ReadTuner("conf", []byte(`# small ones
allreduce, 0, 4096, nvls_tree, simple, -1, -1, -1
allreduce,0,4096,tree,ll,3,1,8
allreduce,0,65536,ring,simple,-1,-1,-1,-1,0
allgather,0,65536,ring,ll128,64,-1,-1,1,1
reducescatter,0,65536,ring,ll128,64,-1,16
broadcast,0,100,ring,ll128,64,-1,-1
`))
	require.NoError(t, err)
	require.Len(t, tuner.Rules, 6)
	m := modelFor(t, Latest, hgx(1), Intel)
	m.Tuner = tuner
	choose := func(op workloads.Coll, size int) string {
		c, err := m.Choose(op, sim.Bytes(size))
		require.NoError(t, err)
		line := 0
		if c.Rule != nil {
			line = c.Rule.Line
		}
		return fmt.Sprint(c.Algorithm, c.Protocol, c.Channels, line)
	}
	// One node has no NVLSTree, so the rule for it is passed over.
	assert.Equal(t, "Tree LL 3 3", choose(workloads.AllReduce, 4096))
	assert.Equal(t, "Ring Simple 1 4", choose(workloads.AllReduce, 4097), "the next rule")
	assert.Equal(t, "Ring LL 8 0", choose(workloads.AllReduce, 1<<18), "none")
	assert.Equal(t, "Ring LL 1 0", choose(workloads.AllGather, 100), "buffers are not registered")
	assert.Equal(t, "Ring LL 1 0", choose(workloads.ReduceScatter, 100), "of other ranks")
	assert.Equal(t, "Ring LL128 24 7", choose(workloads.Broadcast, 100), "no more channels than there are")

	own, err := m.Choose(workloads.AllReduce, 4096)
	require.NoError(t, err)
	require.NotNil(t, own.Next)
	assert.Equal(t, Ring, own.Next.Algorithm, "what NCCL would have chosen")
}

func TestTunerErrorsNameTheirPlace(t *testing.T) {
	for text, want := range map[string]string{
		"":                                      "no rules in 0 lines",
		"# nothing":                             "no rules in 1 lines",
		"\nallreduce,0,1,tree,ll,-1,-1":         "line 2: 7 fields, expected 8 to 10",
		"allreduce,0,1,tree,ll,-1,-1,-1,-1,0,0": "line 1: 11 fields",
		"AllReduce,0,1,tree,ll,-1,-1,-1":        `field 1, collective: read "AllReduce", expected one of broadcast reduce`,
		"allreduce,x,1,tree,ll,-1,-1,-1":        `field 2, least bytes: read "x"`,
		"allreduce,9,1,tree,ll,-1,-1,-1":        "bytes from 9 to 1, expected the least first",
		"allreduce,0,99999999999999999999,tree,ll,-1,-1,-1": "field 3, most bytes",
		"allreduce,0,1,Tree,ll,-1,-1,-1":                    `field 4, algorithm: read "Tree"`,
		"allreduce,0,1,tree,LL,-1,-1,-1":                    `field 5, protocol: read "LL", expected one of ll ll128 simple`,
		"allreduce,0,1,tree,ll,65,-1,-1":                    `field 6, channels: read "65"`,
		"allreduce,0,1,tree,ll,0,-1,-1":                     "0 channels, expected 1 to 64",
		"allreduce,0,1,tree,ll,-1,-2,-1":                    "field 7, nodes",
		"allreduce,0,1,tree,ll,-1,-1,a":                     "field 8, ranks",
		"allreduce,0,1,tree,ll,-1,-1,-1,-1,2":               "field 10, registered",
		strings.Repeat("a", 2000):                           "2000 characters, expected at most",
	} {
		_, err := ReadTuner("my.conf", []byte(text))
		require.Error(t, err, text)
		assert.Contains(t, err.Error(), want)
		assert.Contains(t, err.Error(), "read tuner: my.conf: ")
	}
}

func FuzzReadTuner(f *testing.F) {
	f.Add([]byte("allreduce,0,65536,tree,ll,-1,-1,-1\n"))
	f.Add([]byte("# c\r\nreducescatter , 1 , 2 , pat , simple , 4 , 2 , 16 , 1 , 0\r\n"))
	m, err := New(Latest, Summary{Ranks: 8, Nodes: 1, SM: 90, Graphs: Graphs{Ring: Graph{Channels: 2, Intra: 20, Inter: 20}, Tree: Graph{Channels: 2, Intra: 20, Inter: 20}}}, Env{NetOverhead: -1})
	require.NoError(f, err)
	f.Fuzz(func(t *testing.T, content []byte) {
		tuner, err := ReadTuner("f", content)
		if err != nil {
			assert.Empty(t, tuner.Rules)
			return
		}
		m := *m
		m.Tuner = tuner
		for _, op := range Ops {
			c, err := m.Choose(op, tuner.Rules[0].Least)
			require.NoError(t, err)
			assert.GreaterOrEqual(t, c.Channels, 1)
		}
	})
}
