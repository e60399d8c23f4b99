package netfile_test

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-sim/weft/topology/discover/netfile"
)

const simai = "7 2 2 1 8 H100\n4 5 6\n"

// bad is a file that must be refused, and what the message must say.
type bad struct {
	name, text string
	err        error
	want       string
}

var badFiles = []bad{
	{"empty", "", netfile.ErrUnrecognised, "read network: f: an empty file; expected a network"},
	{"blank", " \n\t\n", netfile.ErrUnrecognised, "an empty file"},
	{"comments only", "# nothing\n", netfile.ErrUnrecognised, `f:1:1: "# nothing"`},
	{"prose", "\nOnce upon a time\n", netfile.ErrUnrecognised, `f:2:1: "Once upon a time"; expected a SimAI or ns-3 topology,`},
	{"binary", "9 1 8\n8\x00", netfile.ErrUnrecognised, "f:2:2: a zero byte; expected text"},
	{"UTF-16", "\xff\xfe\t\x00G\x00", netfile.ErrSyntax, "text in UTF-16; expected UTF-8"},
	{"gzip", "\x1f\x8bxx", netfile.ErrSyntax, "a gzip header that is broken"},
	{"xml", "<system></system>", netfile.ErrUnrecognised, "is read as a dump of a machine, not of a network"},
	{"matrix", "\tGPU0\tGPU1\nGPU0\tX\tNV18\n", netfile.ErrUnrecognised, "nvidia-smi topo -m"},

	{"ns3: header", "9 x 8\n8\n8 0 1Gbps 1us 0\n", netfile.ErrSyntax, `read ns-3 topology: f:1:3: the number of switches is "x"; expected a whole number`},
	{"ns3: no links", "9 1 8\n8\n", netfile.ErrSyntax, "read ns-3 topology: f:2: the end after 0 links; expected 8, as line 1 promises; is the file cut short?"},
	{"ns3: no ids", "9 3 8\n8\n", netfile.ErrSyntax, "the end after 1 switch ids; expected 3, as line 1 promises"},
	{"ns3: absurd", "999999999999 1 8\n8\n", netfile.ErrTooLarge, `f:1:1: the number of nodes is 999999999999; expected at most 1048576`},
	{"ns3: overflow", "9 99999999999999999999999 8\n", netfile.ErrTooLarge, "the number of switches is"},
	{"ns3: many nodes, no links", "1000000 0 1\n0 1 1Gbps 1us 0\n", netfile.ErrContradiction, "1000000 nodes and 1 links"},
	{"ns3: no GPU", "1 1 0\n0\n", netfile.ErrContradiction, "expected at least one GPU"},
	{"ns3: unknown node", "3 1 2\n2\n0 2 1Gbps 1us 0\n2 7 1Gbps 1us 0\n", netfile.ErrContradiction, "f:4:3: a link to node 7; expected a node from 0 to 2 (line 1 has 3 nodes)"},
	{"ns3: self-link", "3 1 2\n2\n0 2 1Gbps 1us 0\n2 2 1Gbps 1us 0\n", netfile.ErrContradiction, "f:4:1: a link from node 2 to itself"},
	{"ns3: id twice", "3 2 2\n2 2\n0 2 1Gbps 1us 0\n1 2 1Gbps 1us 0\n", netfile.ErrContradiction, "f:2:3: switch id 2 for the second time"},
	{"ns3: no such id", "3 1 2\n5\n0 2 1Gbps 1us 0\n1 2 1Gbps 1us 0\n", netfile.ErrTooLarge, "the switch id is 5; expected at most 2"},
	{"ns3: pieces", "4 1 3\n3\n0 3 1Gbps 1us 0\n0 3 1Gbps 1us 0\n1 2 1Gbps 1us 0\n", netfile.ErrContradiction, "the graph is in 2 pieces"},
	{"ns3: more links", "2 1 1\n1\n0 1 1Gbps 1us 0\n0 1 1Gbps 1us 0\n", netfile.ErrContradiction, "f:4:1: one more link than the 1 that line 1 promises"},
	{"simai: 0 rate", simai + "0 3 0Gbps 1us 0\n", netfile.ErrSyntax, `read SimAI topology: f:3:5: the rate is "0Gbps"; expected a rate above 0`},
	{"simai: unit", simai + "0 3 400GBPS 1us 0\n", netfile.ErrSyntax, `f:3:5: the rate "400GBPS" has the unknown unit "GBPS"`},
	{"simai: no unit", simai + "0 3 400Gbps 0.0005 0\n", netfile.ErrSyntax, `f:3:13: the latency "0.0005" has no unit`},
	{"simai: cut line", simai + "0 3 400Gb", netfile.ErrSyntax, "f:3:1: 3 words; expected `src dst rate latency error`"},
	{"simai: servers", "6 2 2 1 8 H100\n3 4 5\n", netfile.ErrContradiction, "f:1:3: 3 GPUs in servers of 2; expected as many in each"},

	{"astra: shape", "topology: [Rin]\nnpus_count: [4]\nbandwidth: [1]\nlatency: [1]\n", netfile.ErrSyntax, `f:1:12: the topology "Rin"; expected Ring, FullyConnected or Switch; did you mean "Ring"?`},
	{"astra: lengths", "topology: [Ring, Ring]\nnpus_count: [4]\nbandwidth: [1, 1]\nlatency: [1, 1]\n", netfile.ErrContradiction, "1 items of npus_count; expected 2, one for each dimension"},
	{"astra: missing", "topology: [Ring]\nnpus_count: [4]\nbandwith: [1]\nlatency: [1]\n", netfile.ErrSyntax, `no key "bandwidth"; expected a list of one value for each dimension; line 3 has "bandwith"`},
	{"astra: zero", "topology: [Ring]\nnpus_count: [4]\nbandwidth: [0]\nlatency: [1]\n", netfile.ErrSyntax, `f:3:13: "0"; expected a bandwidth in GB/s`},
	{"astra: negative", "topology: [Ring]\nnpus_count: [4]\nbandwidth: [1]\nlatency: [-1]\n", netfile.ErrSyntax, `f:4:11: "-1"; expected a latency in ns of 0 or more`},
	{"astra: nan", "topology: [Ring]\nnpus_count: [4]\nbandwidth: [NaN]\nlatency: [1]\n", netfile.ErrSyntax, `"NaN"; expected a bandwidth`},
	{"astra: one", "topology: [Ring]\nnpus_count: [1]\nbandwidth: [1]\nlatency: [1]\n", netfile.ErrSyntax, "1 NPUs in a dimension; expected at least 2; leave the dimension out"},
	{"astra: too many", "topology: [Switch, Switch]\nnpus_count: [100000, 100000]\nbandwidth: [1, 1]\nlatency: [1, 1]\n", netfile.ErrTooLarge, "a network of 10000000000 NPUs"},
	{"astra: full", "topology: [FullyConnected]\nnpus_count: [100000]\nbandwidth: [1]\nlatency: [1]\n", netfile.ErrTooLarge, "9999900000 links"},
	{"astra: deep", "topology: " + strings.Repeat("[", 3000) + "\nnpus_count: 1\n", netfile.ErrTooLarge, "nested deeper than 50 levels"},
	{"astra1: links", `{"topologies-per-dim": ["Ring"], "units-count": [4], "links-count": [3], "link-latency": [1], "link-bandwidth": [1]}`, netfile.ErrContradiction, "f:1:70: links-count 3; expected a multiple of 2"},
	{"astra1: cut", `{"topologies-per-dim": ["Ring"], "units-count": [4`, netfile.ErrSyntax, "the end of the file inside a JSON value"},
	{"astra1: twice", `{"topologies-per-dim": ["Ring"], "topologies-per-dim": ["Ring"]}`, netfile.ErrContradiction, `the key "topologies-per-dim" for the second time`},

	{"htsim: cut", "Nodes 8\nTiers 2\nPodsize 8\nTier 0\nDownlink_speed_Gbps 100\nRadix_Down 4\nRadix_Up 2\nDownlink_Latency_ns 100\n", netfile.ErrSyntax, "no Tier 1; expected a block for each of the 2 tiers; is the file cut short?"},
	{"htsim: name", "Nodes 8\nTiers 2\nTier 0\nRadx_Down 4\n", netfile.ErrSyntax, `f:4:1: the name "Radx_Down"; expected downlink_speed_gbps, radix_up, radix_down,`},
	{"htsim: ports", "Nodes 8\nTiers 2\nTier 0\nDownlink_speed_Gbps 100\nRadix_Down 4\nRadix_Up 2\nOversubscribed 2\nDownlink_Latency_ns 100\nTier 1\nDownlink_speed_Gbps 100\nRadix_Down 3\nDownlink_Latency_ns 100\n", netfile.ErrContradiction, "f:9: Radix_Down 3 in Tier 1; expected 2: the 2 switches of a pod in bundles of 1"},
	{"htsim: oversubscribed", "Nodes 8\nTiers 2\nTier 0\nDownlink_speed_Gbps 100\nRadix_Down 4\nRadix_Up 2\nDownlink_Latency_ns 100\nTier 1\nDownlink_speed_Gbps 100\nRadix_Down 2\nDownlink_Latency_ns 100\n", netfile.ErrContradiction, "Oversubscribed 1 in Tier 0; expected what 4 x 100 Gbit/s down and 2 x 100 Gbit/s up are"},
	{"htsim: zero", "Nodes 8\nTiers 2\nTier 0\nRadix_Down 0\n", netfile.ErrSyntax, "f:4:12: Radix_Down 0; expected 1 or more"},

	{"ib: cut", "Switch\t2 \"S-0a\"\t# \"sw\" lid 1\n[1]\t\"H-0b", netfile.ErrSyntax, "the GUID of the peer in quotes, is the line cut short?"},
	{"ib: no speed", "Switch\t2 \"S-0a\"\t# \"sw\" lid 1\n[1]\t\"H-0b\"[1] # \"n0 mlx5_0\" lid 2\n", netfile.ErrSyntax, `f:2:1: the speed "2"; expected lanes x generation at the end of the line, as 4xNDR`},
	{"ib: two speeds", "Switch\t2 \"S-0a\"\t# \"sw\"\n[1]\t\"H-0b\"[1] # \"n0 mlx5_0\" 4xNDR\n\nCa\t1 \"H-0b\"\t# \"n0 mlx5_0\"\n[1] \"S-0a\"[1] # \"sw\" 4xHDR\n", netfile.ErrContradiction, "a cable of 4xHDR, which is 4xNDR at its other end on line 2"},
	{"ib: port twice", "Switch\t2 \"S-0a\"\t# \"sw\"\n[1]\t\"H-0b\"[1] # \"n0 mlx5_0\" 4xNDR\n[1]\t\"H-0c\"[1] # \"n1 mlx5_0\" 4xNDR\n", netfile.ErrContradiction, "f:3:1: port 1 of S-0a, which line 2 has in use already; expected one cable in a port"},
	{"ib: self-link", "Switch\t2 \"S-0a\"\t# \"sw\"\n[1]\t\"S-0a\"[2] # \"sw\" 4xNDR\n", netfile.ErrContradiction, "a cable from S-0a to itself"},
	{"ib: block twice", "Switch\t2 \"S-0a\"\t# \"sw\"\nSwitch\t2 \"S-0a\"\t# \"sw\"\n", netfile.ErrContradiction, "a second block of S-0a"},
	{"ib: two fabrics", "Switch\t2 \"S-0a\"\t# \"sw\"\n[1]\t\"H-0b\"[1] # \"n0 mlx5_0\" 4xNDR\n\nSwitch\t2 \"S-0d\"\t# \"sw2\"\n[1]\t\"H-0c\"[1] # \"n1 mlx5_0\" 4xNDR\n", netfile.ErrContradiction, "the graph is in 2 pieces"},
	{"ib: nobody", "Switch\t2 \"S-0a\"\t# \"sw\"\n[1]\t\"S-0b\"[1] # \"sw2\" 4xNDR\n", netfile.ErrNoTopology, "no adapter of a server"},

	{"topograph: switch", "switches:\n  sw1:\n    switches:\n    - sw2\nblocks:\n- switch: sw3\n  nodes:\n  - a\n", netfile.ErrContradiction, `f:6:11: the switch "sw3"; expected one of those named above; did you mean "sw1"?`},
	{"topograph: range", "switches:\n  sw1:\nblocks:\n- switch: sw1\n  nodes:\n  - n[9-1]\n", netfile.ErrSyntax, `the nodes "n[9-1]"; expected a name or a range`},
	{"topograph: huge range", "switches:\n  sw1:\nblocks:\n- switch: sw1\n  nodes:\n  - n[1-999999999]\n", netfile.ErrTooLarge, "expected at most 1048576"},
	{"topograph: node twice", "switches:\n  sw1:\nblocks:\n- switch: sw1\n  nodes:\n  - a\n  - a\n", netfile.ErrContradiction, `the node "a" for the second time`},

	{"edges: kind", "n0.gpu0 n0.nvswich0 25GB/s 500ns\n", netfile.ErrSyntax, `read edge list: f:1:9: the node "n0.nvswich0"; expected a name whose part behind the last dot begins with its kind: gpu, nvswitch,`},
	{"edges: self-link", "n0.gpu0 n0.gpu1 25GB/s 500ns\nn0.gpu0 n0.gpu0 25GB/s 500ns\n", netfile.ErrContradiction, `f:2:9: a link from "n0.gpu0" to itself`},
	{"edges: width", "n0.gpu0 n0.gpu1 25GB/s 500ns x0\n", netfile.ErrSyntax, "f:1:30: x0; expected x1 or more; leave the line out"},
	{"edges: wide", "n0.gpu0 n0.gpu1 25GB/s 500ns x99999999\n", netfile.ErrTooLarge, "the number of links is 99999999; expected at most 65536"},
	{"edges: zero", "n0.gpu0 n0.gpu1 0GB/s 500ns\n", netfile.ErrSyntax, `f:1:17: the rate is "0GB/s"; expected a rate above 0`},
	{"edges: bare", "n0.gpu0 n0.gpu1 25 500ns\n", netfile.ErrSyntax, `f:1:17: the rate "25" has no unit`},
	{"edges: pieces", "n0.gpu0 n0.gpu1 1GB/s 1us\nn1.gpu0 n1.gpu1 1GB/s 1us\n", netfile.ErrContradiction, "the graph is in 2 pieces that no link joins"},
	{"edges: words", "n0.gpu0 n0.gpu1 1GB/s 1us\nrely\n", netfile.ErrSyntax, "f:2:1: 1 words; expected `a b rate latency [xN] [class]`, as n0.gpu0 leaf0 400Gbps 1us; did you mean \"relay\"?"},

	{"graph: version", `{"weft_graph": 2}`, netfile.ErrSyntax, `f:1:16: version "2"; expected weft_graph: 1`},
	{"graph: key", `{"weft_graph": 1, "link": []}`, netfile.ErrSyntax, `f:1:19: the key "link"; expected weft_graph, name, relay, notes, classes, nodes, links, trunks, ranks; did you mean "links"?`},
	{"graph: no links", `{"weft_graph": 1}`, netfile.ErrSyntax, "no links; expected a list of them"},
	{"graph: unknown node", "weft_graph: 1\nnodes: [{name: gpu0}, {name: gpu1}]\nlinks:\n- {from: gpu0, to: gpu2, rate: 1GB/s, latency: 1us}\n", netfile.ErrContradiction, `f:4:20: a link to "gpu2"; expected a node that is listed; did you mean "gpu0"?`},
	{"graph: zero width", "weft_graph: 1\nlinks:\n- {from: gpu0, to: gpu1, rate: 1GB/s, latency: 1us, width: 0}\n", netfile.ErrSyntax, `width "0"; expected a whole number from 1 to 65536`},
	{"graph: no rate", "weft_graph: 1\nlinks:\n- {from: gpu0, to: gpu1, latency: 1us}\n", netfile.ErrSyntax, "a link without a rate; expected rate: 450GB/s"},
	{"graph: node twice", "weft_graph: 1\nnodes: [{name: gpu0}, {name: gpu0}]\nlinks: []\n", netfile.ErrContradiction, `the node "gpu0" for the second time`},
	{"graph: one way", "weft_graph: 1\nlinks:\n- {from: gpu0, to: gpu1, rate: 1GB/s, latency: 1us, one_way: true}\n", netfile.ErrContradiction, "has no link back"},
	{"graph: rank", "weft_graph: 1\nlinks:\n- {from: gpu0, to: leaf0, rate: 1GB/s, latency: 1us}\nranks: [leaf0]\n", netfile.ErrContradiction, `the rank "leaf0", a switch; expected a GPU`},
	{"graph: alias", "weft_graph: 1\nlinks: &a [*a]\n", netfile.ErrSyntax, "expected a plain value, list or mapping"},
}

func TestBadFiles(t *testing.T) {
	for _, c := range badFiles {
		t.Run(c.name, func(t *testing.T) {
			_, err := netfile.Read("f", []byte(c.text), netfile.Assume{})
			require.Error(t, err)
			require.ErrorIs(t, err, c.err, "%v", err)
			assert.ErrorContains(t, err, c.want)
			var e *netfile.Error
			assert.True(t, errors.As(err, &e), "%T", err)
		})
	}
}

// A file cut at any byte is refused or read, and never breaks the reader.
func TestCutAnywhere(t *testing.T) {
	for _, f := range [][2]string{
		{"simai_topo", "DCN+SingleToR_64g_8gps_400Gbps_H100"}, {"fabric", "htsim_fat_tree_1024.topo"},
		{"fabric", "topograph_model_nvl72.yaml"}, {"astra_config", "analytical_Ring_FullyConnected_Switch.yml"},
	} {
		content := sample(t, f[0], f[1])
		for i := 0; i < len(content); i += 1 + len(content)/100 {
			_, err := netfile.Read(f[1], content[:i], netfile.Assume{})
			var e *netfile.Error
			if err != nil {
				require.True(t, errors.As(err, &e), "%s cut at %d: %T", f[1], i, err)
			}
		}
	}
}

func TestGzipBomb(t *testing.T) {
	var z bytes.Buffer
	w := gzip.NewWriter(&z)
	zeros := bytes.Repeat([]byte(" "), 1<<20)
	for range 65 {
		_, err := w.Write(zeros)
		require.NoError(t, err)
	}
	require.NoError(t, w.Close())
	_, err := netfile.Read("bomb", z.Bytes(), netfile.Assume{})
	require.ErrorIs(t, err, netfile.ErrTooLarge)
	assert.EqualError(t, err, "read network: bomb: more than 64 MiB; expected less")
}

// All errors of a file come together, twenty at most.
func TestAllErrorsAtOnce(t *testing.T) {
	var text strings.Builder
	for i := range 50 {
		fmt.Fprintf(&text, "n0.gpu%d n0.gpu%d 25GB 500ns\n", i, i+1)
	}
	text.WriteString("n0.gpu0 n0.gpu9 25GB/s 500ns\n")
	_, err := netfile.Read("f", []byte(text.String()), netfile.Assume{})
	assert.Equal(t, 20, strings.Count(err.Error(), "read edge list: f:"))
}
