package kernels

import (
	"fmt"
	"strings"

	"github.com/weft-sim/weft/sim"
	"github.com/weft-sim/weft/workloads"
	"github.com/weft-sim/weft/workloads/collective"
)

// Machine is what the libraries ask of a machine before they choose.
type Machine struct {
	SM        int  // compute capability times ten, the least of all GPUs: 80, 90, 103
	NVLink    bool // each GPU of a host reaches every other over NVLink, by switches or all to all
	Multicast bool // its NVSwitches multicast and reduce (NVLS)
	NoPeer    bool // without NVLink: GPUs of a host cannot read each other's memory
	// Host and Domain tell the host of a rank and its NVLink domain, which in
	// a rack holds several hosts. Without Host all ranks share one host;
	// without Domain a host is a domain.
	Host, Domain func(rank int32) int32
}

// Launch is how an engine starts the kernels.
type Launch uint8

// The ways to launch.
const (
	Graph Launch = iota // captured in a CUDA graph: as engines decode
	Eager               // by the host, call by call, with a copy into the registered buffer
)

func (l Launch) String() string { return [...]string{"graph", "eager"}[l] }

// Setting is what a user of a library sets. The zero value is a bfloat16
// message in a CUDA graph, with the newest version that weft knows.
type Setting struct {
	Version string // of the library: "0.14", "1.2.0rc5"; "" is the newest known
	Launch  Launch
	// HostLaunch is what the host takes for one launch; 0 is 10 us. A call is a
	// launch of the kernel and one of each copy.
	// Source: eager rows of vLLM and SGLang on HGX H100, H200 and B300 in
	// ai-dynamo/aiconfigurator 095f58a5, measured: 19 to 22 us for two launches,
	// 29 to 31 for three (SGLang from 0.5.14), 36 to 38 for four (symmetric memory).
	HostLaunch sim.Time
	Element    int // bytes of an element; 0 is 2
	Hidden     int // elements of a token, for libraries that choose by tokens; 0 is 4096
	// NoSymmetric keeps a library from symmetric memory: vLLM without
	// PyTorch's, MSCCL++ and NCCL with buffers that are not in a window.
	NoSymmetric bool
	ZeroCTA     bool     // NCCL's CTA policy ZERO: copy engines where they can
	Exchange    Exchange // of deepep and nvlink-a2a: what is exchanged
	Kernel      string   // the name of one kernel to take wherever it runs; "" lets the library choose
}

// defaultHost is HostLaunch's default; see there.
const defaultHost = 10 * sim.Microsecond

// eagerCopy is what a copy that the host launches before or after a kernel
// takes beside its bytes. Source: the same rows less those in a graph, where the
// kernels are longer than the launches: 4 to 8 us.
const eagerCopy = 5 * sim.Microsecond

// fallbackLaunches are those of a call that an engine leaves to NCCL: NCCL's
// own, its copy and an allocation. Source: the same rows over PCIe, 27 to 31 us.
const fallbackLaunches = 3

// host returns what the host takes for so many launches.
func (s Setting) host(launches int) sim.Time {
	one := s.HostLaunch
	if one == 0 {
		one = defaultHost
	}
	return sim.Time(launches) * one
}

func (s Setting) element() int {
	if s.Element == 0 {
		return 2
	}
	return s.Element
}

// Library chooses as one library does.
type Library struct {
	Name     string
	Machine  Machine
	Setting  Setting
	version  version
	fallback collective.Chooser
	pick     picker
}

// picker names the kernel that a library takes among n ranks, nil to leave the
// collective to the fallback, and says why; across says that they lie on
// several hosts.
type picker func(l *Library, op workloads.Coll, size sim.Bytes, n int, across bool) (*kernel, string)

// libraries are the names that New takes, in the order that they are listed.
var libraries = []struct {
	name   string
	latest string
	across bool // runs across the hosts of an NVLink domain
	pcie   bool // may run without NVLink
	pick   picker
}{
	{"vllm", "0.24", true, true, pickVLLM},
	{"sglang", "0.5.14", false, true, pickSGLang},
	{"trtllm", "1.3", true, false, pickTRTLLM},
	{"pytorch-symm", "2.9", true, false, pickTorch},
	{"mscclpp", "0.8", false, false, pickMSCCLPP},
	{"nccl-symm", "2.30", true, false, pickNCCL},
	{"deepep", "1.2", true, false, nil},
	{"nvlink-a2a", "1.2", true, false, nil},
}

// Names lists the libraries of engines that New knows, whose kernels run
// collectives.
func Names() []string { return namesOf(func(exchanges bool) bool { return !exchanges }) }

// ExchangeNames lists the libraries that New knows of exchanges of tokens.
func ExchangeNames() []string { return namesOf(func(exchanges bool) bool { return exchanges }) }

func namesOf(want func(exchanges bool) bool) []string {
	var all []string
	for _, l := range libraries {
		if want(l.pick == nil) {
			all = append(all, l.name)
		}
	}
	return all
}

// New returns the library of a name on a machine. What its kernels do not run
// goes to fallback, which is usually NCCL.
func New(name string, m Machine, s Setting, fallback collective.Chooser) (*Library, error) {
	for _, known := range libraries {
		if known.name != name {
			continue
		}
		switch {
		case fallback == nil:
			return nil, fmt.Errorf("set up %s: no fallback: want a chooser for what its kernels do not run", name)
		case m.SM < 60 || m.SM > 129:
			return nil, fmt.Errorf("set up %s: compute capability %d: want it times ten, 60 to 129, such as 90 for Hopper", name, m.SM)
		case m.Multicast && (m.SM < 90 || !m.NVLink):
			return nil, fmt.Errorf("set up %s: multicast on compute capability %d with NVLink %v: want 90 or more and NVLink", name, m.SM, m.NVLink)
		case s.Element < 0 || s.Element > 8 || s.Hidden < 0 || s.HostLaunch < 0:
			return nil, fmt.Errorf("set up %s: %d bytes an element, %d elements a token, host launch %v: want 1 to 8 bytes and nothing negative", name, s.Element, s.Hidden, s.HostLaunch)
		}
		if err := s.Exchange.validate(); err != nil {
			return nil, fmt.Errorf("set up %s: %w", name, err)
		}
		if s.Version == "" {
			s.Version = known.latest
		}
		v, err := parseVersion(s.Version)
		if err != nil {
			return nil, fmt.Errorf("set up %s: %w", name, err)
		}
		l := &Library{Name: name, Machine: m, Setting: s, version: v, fallback: fallback, pick: known.pick}
		if known.pick == nil {
			err := l.Setting.Exchange.sided(name, s.Kernel)
			if err != nil {
				return nil, fmt.Errorf("set up %s: %w", name, err)
			}
		} else if s.Kernel != "" {
			k, err := kernelNamed(name, s.Kernel)
			if err != nil {
				return nil, fmt.Errorf("set up %s: %w", name, err)
			}
			l.pick = func(l *Library, op workloads.Coll, _ sim.Bytes, _ int, _ bool) (*kernel, string) {
				if !k.runs(op) || k.multicast() && !l.Machine.Multicast {
					return nil, fmt.Sprintf("%s cannot run here", k.name)
				}
				return k, "as set"
			}
		}
		return l, nil
	}
	return nil, fmt.Errorf("set up a library of kernels: read %q, expected %s", name, strings.Join(append(Names(), ExchangeNames()...), ", "))
}

// Choose is the library's [collective.Chooser].
func (l *Library) Choose(op workloads.Coll, size sim.Bytes, ranks []int32) (collective.Choice, error) {
	if l.pick == nil {
		return l.exchange(op, size, ranks)
	}
	k, why := l.choose(op, size, ranks)
	if k == nil {
		return l.leave(op, size, ranks, why)
	}
	pace, err := k.pace(l.Machine, l.Setting, op, size, len(ranks))
	if err != nil {
		return collective.Choice{}, fmt.Errorf("%s runs %v of %d bytes as %s: %w", l.Name, op, size, k.name, err)
	}
	return collective.Choice{
		Algorithm: k.algorithm(op), Name: k.label, Protocol: k.protocol, Channels: k.blocks(size, len(ranks)),
		Overhead: k.overhead, Pace: pace, Why: l.Name + ": " + why,
	}, nil
}

// leave asks the fallback.
func (l *Library) leave(op workloads.Coll, size sim.Bytes, ranks []int32, why string) (collective.Choice, error) {
	c, err := l.fallback(op, size, ranks)
	if err != nil {
		return c, fmt.Errorf("%s leaves %v of %d bytes to its fallback: %w", l.Name, op, size, err)
	}
	if l.Setting.Launch == Eager {
		c.Pace.Floor = max(c.Pace.Floor, l.Setting.host(fallbackLaunches))
	}
	c.Why = join(l.Name+": "+why, c.Why)
	return c, nil
}

func join(a, b string) string {
	if b == "" {
		return a
	}
	return a + "; " + b
}

// choose asks what every library asks, then the library.
func (l *Library) choose(op workloads.Coll, size sim.Bytes, ranks []int32) (*kernel, string) {
	known := libraries[0]
	for _, k := range libraries {
		if k.name == l.Name {
			known = k
		}
	}
	switch {
	case len(ranks) < 2 || size <= 0:
		return nil, "nothing to send"
	case !l.Machine.NVLink && !known.pcie:
		return nil, "needs NVLink"
	case !l.Machine.NVLink && l.Machine.NoPeer:
		return nil, "the GPUs cannot read each other's memory"
	case !l.oneHost(ranks) && !known.across:
		return nil, "the ranks lie on several hosts"
	case !l.oneDomain(ranks):
		return nil, "the ranks lie in several NVLink domains"
	}
	return l.pick(l, op, size, len(ranks), !l.oneHost(ranks))
}

func (l *Library) oneHost(ranks []int32) bool { return same(l.Machine.Host, ranks) }

func (l *Library) oneDomain(ranks []int32) bool {
	if l.Machine.Domain == nil {
		return l.oneHost(ranks)
	}
	return same(l.Machine.Domain, ranks)
}

func same(of func(int32) int32, ranks []int32) bool {
	if of == nil {
		return true
	}
	for _, r := range ranks[1:] {
		if of(r) != of(ranks[0]) {
			return false
		}
	}
	return true
}
