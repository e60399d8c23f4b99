package pcie

import (
	"errors"
	"fmt"

	"github.com/weft-sim/weft/sim"
	"github.com/weft-sim/weft/topology"
)

// Validate returns all that is wrong with the spec, or nil.
func (s *Spec) Validate() error {
	c := checker{spec: s}
	if s.Sockets < 1 {
		c.add("%d sockets, must be at least 1", s.Sockets)
	}
	if s.Sockets > 1 {
		c.wire("socket link", s.SocketLink)
	}
	if !s.Memory.IsZero() {
		c.wire("memory", s.Memory)
	} else if s.P2P != Everywhere || s.GDR != Everywhere || s.Copies != Everywhere {
		c.add("no host memory, but direct access is restricted, so that bytes must be staged there; give memory a rate")
	}
	for i, b := range s.Bridges {
		what := fmt.Sprintf("host bridge %d", i)
		c.wire(what, b.Link)
		c.index(what, "socket", b.Socket, s.Sockets)
	}
	for i, slot := range s.Switches {
		what := fmt.Sprintf("switch %d", i)
		c.slot(what, slot)
		if slot.Under.Kind == OnSwitch && slot.Under.Index >= i {
			c.add("%s hangs from switch %d; list a switch after the one above it", what, slot.Under.Index)
		}
		if slot.Under.Kind == OnSocket {
			c.add("%s hangs from a socket; it needs a host bridge above it", what)
		}
	}
	for i, slot := range s.GPUs {
		c.slot(fmt.Sprintf("GPU %d", i), slot)
	}
	for i, slot := range s.NICs {
		c.slot(fmt.Sprintf("NIC %d", i), slot)
		if slot.Under.Kind == OnSocket {
			c.add("NIC %d hangs from a socket; it needs a host bridge above it", i)
		}
	}
	for _, l := range []struct {
		what string
		t    sim.Time
	}{{"switch", s.SwitchLatency}, {"host bridge", s.BridgeLatency}, {"socket", s.SocketLatency}} {
		if l.t < 0 {
			c.add("traversal of a %s takes %v, must not be negative", l.what, l.t)
		}
	}
	if st := s.Staging; !(st.Own >= 0 && st.Own <= 1 && st.Uplink >= 0 && st.Uplink <= 1) || st.Handover < 0 {
		c.add("staging holds %g of a GPU's link and %g of an uplink the other way and hands over in %v; want parts from 0 to 1 and no negative time", st.Own, st.Uplink, st.Handover)
	}
	if s.PeerRate < 0 {
		c.add("a transfer between sockets reaches %v, must not be negative", s.PeerRate)
	}
	if s.P2P > Nowhere || s.GDR > Nowhere || s.Copies > Nowhere {
		c.add("reach of P2P is %d, of GDR %d, of copies %d; the reaches are 0 (everywhere) to %d (nowhere)", s.P2P, s.GDR, s.Copies, Nowhere)
	}
	return errors.Join(c.errs...)
}

type checker struct {
	spec *Spec
	errs []error
}

func (c *checker) add(format string, args ...any) {
	c.errs = append(c.errs, fmt.Errorf("pcie: "+format, args...))
}

func (c *checker) wire(what string, w topology.Wire) {
	if !(w.Rate > 0) {
		c.add("%s: rate is %v B/s, must be positive", what, float64(w.Rate))
	}
	if w.Latency < 0 {
		c.add("%s: latency is %v, must not be negative", what, w.Latency)
	}
}

func (c *checker) index(what, above string, i, n int) {
	if i < 0 || i >= n {
		c.add("%s hangs from %s %d, which does not exist; there are %d, counted from 0", what, above, i, n)
	}
}

func (c *checker) slot(what string, s Slot) {
	c.wire(what, s.Link)
	switch s.Under.Kind {
	case OnBridge:
		c.index(what, "host bridge", s.Under.Index, len(c.spec.Bridges))
	case OnSwitch:
		c.index(what, "switch", s.Under.Index, len(c.spec.Switches))
	case OnSocket:
		c.index(what, "socket", s.Under.Index, c.spec.Sockets)
	default:
		c.add("%s hangs from a parent of kind %d, which is none", what, s.Under.Kind)
	}
}
