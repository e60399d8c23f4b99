package kernels

import (
	"fmt"
	"math"

	"github.com/weft-sim/weft/sim"
	"github.com/weft-sim/weft/workloads/collective"
)

// Exchange is one phase of the all-to-all of expert parallelism: tokens go to
// the ranks of their experts (dispatch), or what these made of them comes back
// (combine). Every rank has as many tokens, and a router without preferences.
// Zero fields take the values of DeepSeek-V3.
type Exchange struct {
	Tokens  int // of each rank, for Program; a choice goes by the size of the message
	Ranks   int // among which the experts are spread, where stages run between fewer; 0 is those of the message
	Nodes   int // over which Ranks lie; 0 is one
	Hidden  int // elements of a token; 0 is 7168
	TopK    int // experts of a token; 0 is 8
	Experts int // of all ranks; 0 is 256
	Blocks  int // thread blocks of normal kernels, the SMs that compute must spare; 0 is 24
	// Element is bytes of an element on the wire; 0 is 1 (FP8) for dispatch and 2 for combine.
	Element    float64
	Combine    bool
	LowLatency bool // each copy of a token straight to its expert's rank; else once to each node, then within it
	OneSided   bool // of the kernels over NVLink in a rack: those without a prepare step
	Balanced   bool // a token's experts are on as many ranks as can be, not drawn by chance
}

// withDefaults returns x with its zero fields filled.
func (x Exchange) withDefaults() Exchange {
	for _, f := range []struct {
		v *int
		d int
	}{{&x.Hidden, 7168}, {&x.TopK, 8}, {&x.Experts, 256}, {&x.Blocks, 24}} {
		if *f.v == 0 {
			*f.v = f.d
		}
	}
	if x.Element == 0 {
		x.Element = 1
		if x.Combine {
			x.Element = 2
		}
	}
	return x
}

// validate refuses what no model has.
func (x Exchange) validate() error {
	if x.Tokens < 0 || x.Ranks < 0 || x.Nodes < 0 || x.Hidden < 0 || x.TopK < 0 || x.Experts < 0 || x.Blocks < 0 || !(x.Element >= 0 && x.Element <= 8) {
		return fmt.Errorf("exchange of tokens: %d tokens of %d elements of %g bytes, %d of %d experts, %d blocks: want nothing negative and at most 8 bytes", x.Tokens, x.Hidden, x.Element, x.TopK, x.Experts, x.Blocks)
	}
	if d := x.withDefaults(); d.TopK > d.Experts {
		return fmt.Errorf("exchange of tokens: %d of %d experts a token: want at most all of them", d.TopK, d.Experts)
	}
	return nil
}

// TokenBytes is what one copy of a token takes on the wire: its elements, a
// scale for every 128 of them in FP8, and 16 bytes of header for a dispatch of
// low latency.
//
// Source: deepseek-ai/DeepEP, csrc/kernels/internode_ll.cu.
func (x Exchange) TokenBytes() float64 {
	x = x.withDefaults()
	b := float64(x.Hidden) * x.Element
	if x.Element == 1 {
		b += float64(x.Hidden) / 128 * 4
	}
	if x.LowLatency && !x.Combine {
		b += 16
	}
	return b
}

// Reach is to how many of so many equal parts of the ranks a token goes, its
// own included: all copies with low latency, else the parts that hold at least
// one of its experts.
func (x Exchange) Reach(parts int) float64 {
	x = x.withDefaults()
	if x.LowLatency {
		return float64(x.TopK)
	}
	if x.Balanced {
		return float64(min(x.TopK, parts))
	}
	// Of Experts, those of one part are all missed with (E-E/p choose k)/(E choose k).
	e, own, miss := float64(x.Experts), float64(x.Experts)/float64(parts), 1.0
	for i := range x.TopK {
		miss *= math.Max(0, e-own-float64(i)) / (e - float64(i))
	}
	return float64(parts) * (1 - miss)
}

// staged is how often the normal kernels copy a token beside what NVLink
// carries, to cross the network: into the buffer that is sent, once for each
// node; combine adds up what was received as well.
//
// Source: deepseek-ai/DeepEP, csrc/kernels/internode.cu; the tables of two and
// four nodes in ai-dynamo/aiconfigurator 095f58a5 agree within 10 %, without a
// constant of their own.
func (x Exchange) staged() float64 {
	switch {
	case x.LowLatency || x.Nodes < 2:
		return 0
	case x.Combine:
		return 2 * x.Reach(x.Nodes)
	}
	return x.Reach(x.Nodes)
}

// multiprocessors are the SMs of a GPU. Source: datasheets of A100, H100, B200.
var multiprocessors = map[generation]int{ampere: 108, hopper: 132, blackwell: 148}

// pace returns what the kernels of an exchange cost in a stage between so many
// members.
func (x Exchange) pace(c exchangeCost, g generation, members int) collective.Pace {
	x = x.withDefaults()
	n := members
	if x.Ranks > 0 {
		n = x.Ranks
	}
	token, reach := x.TokenBytes(), x.Reach(n)
	blocks := x.Blocks
	if x.LowLatency || c.allBlocks {
		blocks = multiprocessors[g]
		if x.LowLatency && !x.Combine && x.Experts < blocks {
			blocks = x.Experts // a block sends to one expert
		}
	}
	p := collective.Pace{NetStep: c.net}
	p.Start = c.start + sim.Time(n-2)*c.peer + sim.Time(float64(x.Experts)*float64(c.expert)) + sim.Time(float64(x.Hidden)/1024*float64(c.hidden))
	if !x.LowLatency {
		p.Start = c.start + sim.Time(n-2)*c.peer + sim.Time(float64(x.Hidden)/1024*float64(c.hidden))
	}
	// A block spends turn on a token and copies its bytes at its own rate.
	turn := c.turn.Seconds() + token*(reach+x.staged())/float64(c.block)
	remote := token * reach * float64(members-1) / float64(members)
	rank := min(float64(c.rank), float64(blocks)*remote/turn)
	p.Limit = sim.Rate(rank / float64(members-1))
	return p
}
