package nccl

import (
	"fmt"

	"github.com/weft-sim/weft/sim"
	"github.com/weft-sim/weft/workloads"
	"github.com/weft-sim/weft/workloads/collective"
)

// Launch is how the host starts kernels, which decides the time of small
// messages.
type Launch uint8

// The ways to launch.
const (
	PerGPU     Launch = iota // a process for each GPU, as MPI starts nccl-tests
	OneProcess               // one process and thread for all GPUs of a node: nccl-tests -g N
	Threads                  // one process, a thread for each GPU: nccl-tests -t N
	CUDAGraph                // captured in a CUDA graph and replayed
	PyTorch                  // torch.distributed, a process for each GPU
)

var launches = [...]string{"process-per-gpu", "one-process", "threads", "graph", "pytorch"}

func (l Launch) String() string { return launches[l] }

// Launches lists the names that ParseLaunch takes.
func Launches() []string { return launches[:] }

// ParseLaunch reads the name of a way to launch.
func ParseLaunch(s string) (Launch, error) {
	for i, name := range launches {
		if s == name {
			return Launch(i), nil
		}
	}
	return 0, fmt.Errorf("read launch %q, expected %s, %s, %s, %s or %s", s, launches[0], launches[1], launches[2], launches[3], launches[4])
}

// Setting is what the time of NCCL's kernels depends on beside its choice and
// the wires.
type Setting struct {
	Launch Launch
	// Plugin is what the network and its plugin add; the zero value is
	// InfiniBand by NCCL's own transport.
	Plugin Plugin
	// RoundTrip is the latency of the longest way across the network, there and
	// back, by its wires alone: what a connection has in flight bounds its rate.
	// 0 is too short to matter; a [Library] then asks the machine.
	RoundTrip sim.Time
}

// Plugin is what a network costs beyond its wires: proxies, completions,
// copies in host memory. It belongs to a fabric and the plugin that drives it.
type Plugin struct {
	Base sim.Time // once for each collective, beyond NCCL's own transport on InfiniBand
	Step sim.Time // each crossing of the network, beyond the same
	Post sim.Time // each chunk that a connection sends, beyond the same
	Rate float64  // part of the wires' rate that it reaches; 0 is all
	// Eager is the largest chunk, in bytes on the wire, that leaves without
	// Post: longer ones wait for the receiver's request. 0 is none.
	Eager sim.Bytes
}

// Pace returns what the kernels of a choice cost beyond the wires.
func (m *Model) Pace(op workloads.Coll, c Choice, size sim.Bytes, s Setting) collective.Pace {
	switch {
	case m.Nodes > 1:
		return m.netPace(op, c, size, s)
	case m.Ring.TypeIntra <= C2C:
		return m.nodePace(op, c, size, s)
	}
	return m.hostPace(op, c, size, s)
}
