package nccl

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/weft-sim/weft/sim"
)

// Env is what NCCL's environment variables ask for. Pointers that are nil, and
// numbers and sizes that are 0, were not given.
type Env struct {
	// Of the choice of an algorithm.
	NoNVLS, NoPAT bool
	CollNet       bool
	CollNetNodes  int     // the least for in-network reduction
	NetOverhead   float64 // ns, negative is NCCL's own

	// Of channels and their threads.
	MinChannels, MaxChannels      int
	NVLSChannels                  int
	Threads, LL128Threads         int
	Thresholds                    *[2][3]int // bytes a thread, by Tree and Ring and by protocol; negative is NCCL's own
	MinP2P, MaxP2P                int        // channels of sends and receives
	PerNetPeer                    int        // of them to a member on another node
	Buffer, LLBuffer, LL128Buffer sim.Bytes
	NVLSChunk, NVLSTreeChunk      sim.Bytes
	P2PNet, P2PNVLink, P2PPCIe    sim.Bytes // chunks of sends and receives
	P2PLL                         *int      // bytes a channel up to which they use LL
	QPs                           int       // queue pairs of a connection
	SplitQPs                      *int      // whether a message is split over them

	// Of paths.
	NoP2P                    bool      // GPUs may not reach each other
	P2PLevel                 *PathType // how far GPUs reach each other
	NoSHM, NoNetIntra, NoNVB bool
	GDRLevel                 *PathType // how far a NIC reaches GPUs
	GDRRead, GDRC2C, PXNC2C  *int
	NoPXN                    bool
	P2PPXN                   *int // when sends go by another GPU
	CrossNIC                 *int
	NetsPerGPU               int // of the NICs near a GPU, how many it uses; -1 is all
	NoMNNVL                  bool

	algorithms, protocol mask
	given                []string
	notes                []string
}

// Variables lists the names of the variables that [ParseEnv] takes.
func Variables() []string {
	var all []string
	for _, v := range variables {
		if v.refuse == "" {
			all = append(all, v.name)
		}
	}
	return all
}

// ParseEnv reads settings such as "NCCL_ALGO=Ring". A variable is obeyed, or
// taken with a note that says why it changes nothing here ([Env.Notes]), or
// it is an error: none is passed over in silence.
func ParseEnv(v Version, settings []string) (Env, error) {
	e := Env{NetOverhead: -1}
	bad := func(format string, args ...any) (Env, error) {
		return e, fmt.Errorf("read NCCL environment: %w", fmt.Errorf(format, args...))
	}
	for _, s := range settings {
		name, value, ok := strings.Cut(s, "=")
		if !ok || value == "" {
			return bad("read %q, expected NAME=VALUE, such as NCCL_ALGO=Ring", s)
		}
		i := slices.IndexFunc(variables, func(v variable) bool { return v.name == name })
		switch {
		case i < 0:
			return bad("%s does not act on anything here, expected one of %s", name, strings.Join(Variables(), ", "))
		case variables[i].refuse != "":
			return bad("%s: %s", name, variables[i].refuse)
		}
		if err := variables[i].set(&e, v, value); err != nil {
			return bad("%s: %w", name, err)
		}
		e.given = append(e.given, s)
		if note := variables[i].note; note != "" {
			e.notes = append(e.notes, name+": "+note)
		}
	}
	if err := e.check(); err != nil {
		return bad("%w", err)
	}
	return e, nil
}

// check holds variables against each other.
func (e *Env) check() error {
	switch {
	case e.MaxChannels > 0 && e.MinChannels > e.MaxChannels:
		return fmt.Errorf("at least %d channels and at most %d, expected the least first", e.MinChannels, e.MaxChannels)
	case e.MaxP2P > 0 && e.MinP2P > e.MaxP2P:
		return fmt.Errorf("at least %d channels of sends and at most %d, expected the least first", e.MinP2P, e.MaxP2P)
	case e.CollNetNodes > 0 && !e.CollNet:
		return errors.New("NCCL_COLLNET_NODE_THRESHOLD without NCCL_COLLNET_ENABLE=1, expected both")
	}
	return nil
}

// Notes says of variables that were taken and change nothing here why not.
func (e Env) Notes() []string { return slices.Clone(e.notes) }

// String lists what was set.
func (e Env) String() string {
	if len(e.given) == 0 {
		return "no variables set"
	}
	return strings.Join(e.given, " ")
}

// clamp holds a number of channels within what was asked for.
func (e Env) clamp(n, most int) int {
	if e.MaxChannels > 0 {
		n = min(n, e.MaxChannels)
	}
	return min(max(n, e.MinChannels), most)
}
