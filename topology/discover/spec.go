package discover

import (
	"errors"
	"fmt"
	"reflect"
	"slices"

	"github.com/weft-sim/weft/topology/machine"
	"github.com/weft-sim/weft/topology/nvlink"
	"github.com/weft-sim/weft/topology/pcie"
)

// Spec makes a machine of the dump, with rates and planes from c. Several
// hosts become trays of one NVLink domain. The machine has no network between
// hosts, which no dump of a host tells; set Hosts and Fabric for that. Its
// Notes repeat those of the dump and add what was filled in.
//
// The error holds all that c could not answer.
func (d *Dump) Spec(c Completer) (machine.Spec, error) {
	b := specBuilder{dump: d, c: c}
	s, err := b.spec()
	if err != nil {
		return machine.Spec{}, fmt.Errorf("make a machine of %s (%s): %w", d.Source, d.Format, err)
	}
	return s, nil
}

type specBuilder struct {
	dump  *Dump
	c     Completer
	notes []Note
	where [][]string // of each note
	errs  []error
}

// note adds a sentence, once for all places that it holds for.
func (b *specBuilder) note(kind NoteKind, where, format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	for i := range b.notes {
		if n := &b.notes[i]; n.Kind == kind && n.Text == text {
			if !slices.Contains(b.where[i], where) {
				b.where[i] = append(b.where[i], where)
				n.Where = list(b.where[i], 8)
			}
			return
		}
	}
	b.notes = append(b.notes, Note{Kind: kind, Where: where, Text: text})
	b.where = append(b.where, []string{where})
}

func (b *specBuilder) fail(err error) {
	if err != nil && len(b.errs) < maxFaults {
		b.errs = append(b.errs, err)
	}
}

func (b *specBuilder) spec() (machine.Spec, error) {
	d := b.dump
	if len(d.Graphs) > 0 || len(d.Hosts) == 0 {
		return machine.Spec{}, fmt.Errorf("%w: it describes no host", ErrNoMachine)
	}
	for i := range d.Hosts {
		if len(d.Hosts[i].GPUs) == 0 {
			return machine.Spec{}, fmt.Errorf("%w: host %d has no GPU", ErrNoMachine, i)
		}
	}
	s := machine.Spec{Name: d.Source, Hosts: 1}
	s.Host.PCIe = b.pcie(&d.Hosts[0])
	if err := b.trays(&s); err != nil {
		return s, err
	}
	s.Host.NVLink = b.nvlink()
	if err := errors.Join(b.errs...); err != nil {
		return s, err
	}
	for _, n := range append(append([]Note(nil), d.Notes...), b.notes...) {
		s.Notes = append(s.Notes, n.String())
	}
	return s, nil
}

// trays checks that the hosts are equal parts of one domain.
func (b *specBuilder) trays(s *machine.Spec) error {
	hosts := b.dump.Hosts
	for i := range hosts {
		h := &hosts[i]
		if s.Host.GPUs += len(h.GPUs); i == 0 {
			continue
		}
		if !h.switched() || !hosts[0].switched() {
			return fmt.Errorf("%w: %d hosts that no NVLink switch joins; give each a file of its own", ErrNoMachine, len(hosts))
		}
		if len(h.GPUs) != len(hosts[0].GPUs) {
			return fmt.Errorf("%w: %d GPUs on host %s and %d on host %s; trays must be equal", ErrNoMachine, len(hosts[0].GPUs), hosts[0].Name, len(h.GPUs), h.Name)
		}
		if !reflect.DeepEqual(b.pcie(h), s.Host.PCIe) {
			b.note(Assumed, "host "+h.Name, "its PCIe tree differs from that of host %s, whose tree is taken for all", hosts[0].Name)
		}
	}
	if len(hosts) > 1 {
		s.Host.Trays = len(hosts)
	}
	return nil
}

// pcie returns the tree of a host with its rates, or nil if the dump does not
// tell the way through PCIe at all.
func (b *specBuilder) pcie(h *Host) *pcie.Spec {
	var t *tree
	switch {
	case len(h.PCI) > 0:
		t = b.fromPCI(h)
	case h.Matrix != nil:
		s, notes, err := Infer(h.Matrix)
		if err != nil {
			b.fail(err)
			return nil
		}
		for _, n := range notes {
			b.note(n.Kind, n.Where, "%s", n.Text)
		}
		if !h.Hidden {
			b.note(Assumed, "", "the PCIe tree is the smallest that has the words of the matrix, which do not tell how wide its links are")
		}
		t = &tree{Spec: s, uplinks: make([]PCIeLink, len(s.Switches)), c2c: make([]*Link, len(s.GPUs))}
		for i := range h.NICs {
			t.nics = append(t.nics, &h.NICs[i])
		}
	default:
		b.note(Unknown, "", "without a PCIe tree the machine has no CPUs and no NICs, and NVLink must join its GPUs")
		return nil
	}
	return b.rates(h, t)
}

// tree is a PCIe tree without rates, with what the dump tells of its links.
type tree struct {
	*pcie.Spec
	uplinks []PCIeLink // of switches
	c2c     []*Link    // of GPUs that hang from their CPU
	nics    []*NIC     // of the NIC slots
}

// rates asks for all links.
func (b *specBuilder) rates(h *Host, t *tree) *pcie.Spec {
	board, err := b.c.Board(h)
	b.fail(err)
	s := t.Spec
	s.SocketLink, s.Memory = board.SocketLink, board.Memory
	s.SwitchLatency, s.BridgeLatency, s.SocketLatency = board.SwitchLatency, board.BridgeLatency, board.SocketLatency
	s.P2P, s.GDR, s.ACS = board.P2P, board.GDR, board.ACS
	for i := range s.Bridges {
		s.Bridges[i].Link = board.Bridge
	}
	below := make([]int, len(s.Switches))
	count := func(p pcie.Parent) {
		for p.Kind == pcie.OnSwitch {
			below[p.Index]++
			p = s.Switches[p.Index].Under
		}
	}
	for i := range s.GPUs {
		count(s.GPUs[i].Under)
		s.GPUs[i].Link, err = b.c.Slot(SlotQuestion{Host: h, GPU: &h.GPUs[i], PCIe: h.GPUs[i].PCIe, C2C: t.c2c[i]})
		b.fail(err)
	}
	for i, nic := range t.nics {
		count(s.NICs[i].Under)
		s.NICs[i].Link, err = b.c.Slot(SlotQuestion{Host: h, NIC: nic, PCIe: nic.PCIe})
		b.fail(err)
	}
	for i := range s.Switches {
		s.Switches[i].Link, err = b.c.Slot(SlotQuestion{Host: h, Switch: true, PCIe: t.uplinks[i], Below: below[i]})
		b.fail(err)
	}
	return s
}

// nvlink returns the NVLinks among the GPUs of all hosts, nil if there are
// none.
func (b *specBuilder) nvlink() *nvlink.Spec {
	hosts := b.dump.Hosts
	w := wiring{hosts: hosts, kind: NVLink}
	w.survey()
	if w.gpus < 2 {
		return nil
	}
	if w.most == 0 && !hosts[0].Partial {
		return nil
	}
	s, err := b.c.NVLink(NVLinkQuestion{
		Host: &hosts[0], GPU: w.sample, Kind: w.kind, Switched: w.switched, Links: w.most, GPUs: w.gpus,
	})
	if err != nil {
		b.fail(err)
		return nil
	}
	if w.most == 0 {
		if len(s.Planes) == 0 && len(s.Edges) == 0 {
			return nil
		}
		b.note(Assumed, "", "NVLinks are not in the file; they are those that a board of such GPUs has")
		b.offFabric(&s)
		return &s
	}
	s.Down, s.Edges = nil, nil
	if !w.switched {
		s.Planes, s.Tier, s.Edges = nil, nil, w.edges()
		if len(s.Edges) == 0 {
			return nil
		}
		return &s
	}
	b.planes(&w, &s)
	return &s
}

// planes fills in the planes that the dump shows, and the links that single
// GPUs lack.
func (b *specBuilder) planes(w *wiring, s *nvlink.Spec) {
	if names := w.planes(); names != nil {
		s.Tier = nil // the dump names every switch that a GPU sees
		s.Planes = w.widths(names)
		s.Down = w.missing(names, s.Planes)
		return
	}
	sum := 0
	for _, n := range s.Planes {
		sum += n
	}
	if sum > w.most {
		b.note(Assumed, "", "each GPU has %d NVLinks where its kind has %d; the rest is taken off the last planes", w.most, sum)
		trim(s, sum-w.most)
		sum = w.most
	}
	if sum < w.most {
		b.fail(fmt.Errorf("the GPUs have %d NVLinks each, but the planes of their kind hold %d (%v): is the kind of GPU right?", w.most, sum, s.Planes))
		return
	}
	i := -1
	for h := range w.hosts {
		for k := range w.hosts[h].GPUs {
			i++
			lack := w.most - w.hosts[h].GPUs[k].meshLinks()
			if lack > 0 && lack < w.most {
				b.note(Assumed, fmt.Sprintf("GPU%d", w.hosts[h].GPUs[k].Index), "the %d links that it lacks are taken from the last planes", lack)
			}
			for p := len(s.Planes) - 1; p >= 0 && lack > 0; p-- {
				n := min(lack, s.Planes[p])
				s.Down = append(s.Down, nvlink.Down{GPU: i, Plane: p, Links: n})
				lack -= n
			}
		}
	}
}

// trim takes links off the last planes, and planes without links away. What
// c returned is its own, so nothing is changed in place.
func trim(s *nvlink.Spec, links int) {
	s.Planes = slices.Clone(s.Planes)
	for p := len(s.Planes) - 1; links > 0; p-- {
		n := min(links, s.Planes[p])
		links -= n
		if s.Planes[p] -= n; s.Planes[p] == 0 {
			s.Planes = s.Planes[:p]
		}
	}
	if s.Tier == nil {
		return
	}
	t := *s.Tier
	t.Uplinks = t.Uplinks[:min(len(t.Uplinks), len(s.Planes))]
	t.Switches = t.Switches[:min(len(t.Switches), len(s.Planes))]
	s.Tier = &t
}

// offFabric takes the GPUs whose fabric is down off all planes.
func (b *specBuilder) offFabric(s *nvlink.Spec) {
	i := -1
	for h := range b.dump.Hosts {
		for k := range b.dump.Hosts[h].GPUs {
			i++
			if !b.dump.Hosts[h].GPUs[k].OffFabric {
				continue
			}
			for p, n := range s.Planes {
				s.Down = append(s.Down, nvlink.Down{GPU: i, Plane: p, Links: n})
			}
		}
	}
}
