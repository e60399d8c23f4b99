package fluid

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/weft-sim/weft/sim"
)

// problem is a set of flows that both we and SimGrid can run.
type problem struct {
	capacity []sim.Rate
	hosts    int
	routes   []route
	flows    []oracleFlow
}

type route struct {
	from, to int
	links    []LinkID
}

type oracleFlow struct {
	start sim.Time
	bytes sim.Bytes
	route int
}

func (p problem) ours(t *testing.T) []float64 {
	r := newRig(t, 1, p.capacity...)
	r.ends = make([]sim.Time, len(p.flows))
	for i, f := range p.flows {
		r.at(f.start, func() {
			r.p.Start(hops(p.routes[f.route].links...), f.bytes, Options{Target: r.self, Kind: kindEnd, Arg: int64(i)})
		})
	}
	r.run()
	ends := make([]float64, len(r.ends))
	for i, e := range r.ends {
		ends[i] = e.Seconds()
	}
	return ends
}

func (p problem) simgrid(t *testing.T, oracle string) []float64 {
	var in bytes.Buffer
	fmt.Fprintln(&in, len(p.capacity))
	for _, c := range p.capacity {
		fmt.Fprintln(&in, float64(c))
	}
	fmt.Fprintln(&in, p.hosts, len(p.routes))
	for _, r := range p.routes {
		fmt.Fprint(&in, r.from, " ", r.to, " ", len(r.links))
		for _, l := range r.links {
			fmt.Fprint(&in, " ", l)
		}
		fmt.Fprintln(&in)
	}
	fmt.Fprintln(&in, len(p.flows))
	for _, f := range p.flows {
		r := p.routes[f.route]
		fmt.Fprintln(&in, f.start.Seconds(), int64(f.bytes), r.from, r.to)
	}
	// No latency, no window, no head-of-line factors: plain max-min.
	cmd := exec.Command(oracle, "--log=root.thres:error",
		"--cfg=network/model:CM02", "--cfg=network/TCP-gamma:0", "--cfg=network/weight-S:0",
		"--cfg=network/bandwidth-factor:1", "--cfg=network/latency-factor:1",
		"--cfg=network/crosstraffic:0", "--cfg=surf/precision:1e-12", "--cfg=contexts/stack-size:64")
	cmd.Stdin = &in
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	require.NoError(t, err, "simgrid: %s", stderr.String())
	var ends []float64
	for _, s := range strings.Fields(string(out)) {
		f, err := strconv.ParseFloat(s, 64)
		require.NoError(t, err)
		ends = append(ends, f)
	}
	return ends
}

func allToAllProblem(g int) problem {
	p := problem{capacity: equalLinks(2*g, 900e9), hosts: g}
	size := unequal()
	for i := range g {
		for j := range g {
			b := size(i, j)
			if i != j {
				p.flows = append(p.flows, oracleFlow{0, b, len(p.routes)})
				p.routes = append(p.routes, route{i, j, []LinkID{LinkID(i), LinkID(g + j)}})
			}
		}
	}
	return p
}

// randomProblem has flows that start within 10 ms on paths of 1 to 4 links.
func randomProblem(seed uint64) problem {
	rng := rand.New(rand.NewPCG(seed, 1))
	p := problem{}
	for range 12 {
		p.capacity = append(p.capacity, sim.Rate(1+rng.IntN(400))*sim.GBps)
	}
	for i := range 60 {
		p.routes = append(p.routes, route{2 * i, 2*i + 1, nil})
		for _, l := range rng.Perm(len(p.capacity))[:1+rng.IntN(4)] {
			p.routes[i].links = append(p.routes[i].links, LinkID(l))
		}
		p.flows = append(p.flows, oracleFlow{
			sim.Time(rng.Int64N(10_000)) * sim.Microsecond, sim.Bytes(1e6 + rng.Int64N(2e8)), i,
		})
	}
	p.hosts = 120
	return p
}

// Every flow ends when SimGrid says, to a nanosecond in 10 ms. The flags are
// those for SimGrid 3.32.
func TestSimGridAgrees(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles and runs another simulator")
	}
	cxx := ""
	for _, name := range []string{"c++", "g++", "clang++"} {
		if _, err := exec.LookPath(name); err == nil {
			cxx = name
			break
		}
	}
	if cxx == "" {
		t.Skip("no C++ compiler")
	}
	source := filepath.Join("testdata", "simgrid.cpp")
	probe := exec.Command(cxx, "-std=c++17", "-E", "-x", "c++", "-o", "/dev/null", "-")
	probe.Stdin = strings.NewReader("#include <simgrid/s4u.hpp>\n")
	if probe.Run() != nil {
		t.Skip("no SimGrid: install libsimgrid-dev to run this test")
	}
	oracle := filepath.Join(t.TempDir(), "oracle")
	out, err := exec.Command(cxx, "-std=c++17", "-O1", "-o", oracle, source, "-lsimgrid").CombinedOutput()
	require.NoError(t, err, "compile %s: %s", source, out)

	for _, tc := range []struct {
		name string
		p    problem
	}{
		{"staggered", staggered()},
		{"16 ranks, unequal", allToAllProblem(16)},
		{"72 ranks, unequal", allToAllProblem(72)},
		{"random 1", randomProblem(1)},
		{"random 2", randomProblem(2)},
		{"random 3", randomProblem(3)},
	} {
		t.Run(tc.name, func(t *testing.T) {
			p := tc.p
			want, got := p.simgrid(t, oracle), p.ours(t)
			require.Len(t, want, len(got))
			worst := 0.0
			for i := range got {
				worst = max(worst, got[i]-want[i], want[i]-got[i])
				require.InDelta(t, want[i], got[i], 1e-9, "flow %d", i)
			}
			t.Logf("%d flows, largest difference %.2g s", len(got), worst)
		})
	}
}
