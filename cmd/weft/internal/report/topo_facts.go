package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/weft-sim/weft/cmd/weft/internal/term"
	"github.com/weft-sim/weft/configs/catalog"
	"github.com/weft-sim/weft/sim"
	"github.com/weft-sim/weft/topology"
	"github.com/weft-sim/weft/topology/pcie"
)

// sentences say what the machine is, each on a line of its own.
func (t *Topo) sentences(tm *term.Terminal) []string {
	m, hw := t.Machine, t.Hardware
	first := fmt.Sprintf("%s is %s with %s", tm.Bold(m.Name), Plural(int(m.Hosts), "node"), Plural(len(m.Ranks), "GPU"))
	if hw.GPU != nil {
		first += " (" + hw.GPU.Title + ")"
	}
	out := []string{first + ". " + t.made()}
	if hw.Format != "" {
		out[0] += " It is read from a file: " + hw.Format + "."
	}
	if rate, links := m.GPUEgress(0); links > 0 {
		them := "them"
		if links == 1 {
			them = "it"
		}
		out = append(out, fmt.Sprintf("Each GPU has %s and can send %s over %s, and receive as much.", Plural(links, "NVLink"), Rate(rate), them))
		if len(t.Survey.Short) > 0 || len(t.Survey.WithoutNVLink) > 0 {
			out[len(out)-1] = strings.Replace(out[len(out)-1], "Each GPU", "The first GPU", 1)
		}
		if t.unevenPlanes() {
			out[len(out)-1] += " A transfer is dealt over its links in fixed parts, so the slowest of them set its pace."
		}
	} else {
		out = append(out, t.unwired())
	}
	if s := t.domains(); s != "" {
		out = append(out, s)
	}
	if s := t.memory(); s != "" {
		out = append(out, s)
	}
	if len(m.Ranks) > 1 {
		out = append(out, fmt.Sprintf("Over all wires together, one half of the GPUs can send at most %s to the other half.", Rate(m.Bisection())))
	}
	out = append(out, t.reach()...)
	if s := t.power(); s != "" {
		out = append(out, s)
	}
	return out
}

// unevenPlanes reports whether the links of the first GPU to its NVSwitches
// differ in rate, as with a fault of one of these.
func (t *Topo) unevenPlanes() bool {
	g, gpu := t.Machine.Graph, t.Machine.Ranks[0]
	var one sim.Rate
	for _, l := range g.Links {
		if l.From != gpu || l.Down || g.Nodes[l.To].Kind != topology.NVSwitch {
			continue
		}
		if each := l.Rate / sim.Rate(l.Width); one == 0 {
			one = each
		} else if !near(one, each) {
			return true
		}
	}
	return false
}

// unwired says that the first GPU has no NVLink: the kind of GPU may have
// connectors for it, and a file may be silent.
func (t *Topo) unwired() string {
	hw := t.Hardware
	switch capable := hw.GPU != nil && hw.GPU.NVLink != nil; {
	case capable && hw.Format != "":
		return "No NVLink is wired, as far as the file tells."
	case capable:
		return "No NVLink is wired, though GPUs of this kind can have it."
	}
	return "The GPUs have no NVLink."
}

// made counts the nodes of the graph other than GPUs.
func (t *Topo) made() string {
	var parts []string
	for kind, n := range t.Machine.Graph.Count() {
		if n > 0 && topology.NodeKind(kind) != topology.GPU && topology.NodeKind(kind) != topology.HostMemory {
			parts = append(parts, Plural(n, topology.NodeKind(kind).String()))
		}
	}
	switch len(parts) {
	case 0:
		return "There is nothing but wires between them."
	case 1:
		return "It also has " + parts[0] + "."
	}
	return "It also has " + strings.Join(parts[:len(parts)-1], ", ") + " and " + parts[len(parts)-1] + "."
}

// domains says what NVLink joins.
func (t *Topo) domains() string {
	d := t.Survey.Domains
	switch {
	case len(d) == 0:
		return ""
	case len(d) == 1 && len(d[0]) == len(t.Machine.Ranks):
		return "NVLink joins all of them in one domain."
	case len(d) == 1:
		return fmt.Sprintf("NVLink joins %d of the GPUs in one domain.", len(d[0]))
	case len(d[0]) == len(d[len(d)-1]):
		return fmt.Sprintf("NVLink joins them in %d domains of %s.", len(d), Plural(len(d[0]), "GPU"))
	}
	return fmt.Sprintf("NVLink joins them in %d domains, of which the largest has %s.", len(d), Plural(len(d[0]), "GPU"))
}

// pooled returns the memory of so many of the GPUs together, 0 if it is not
// known.
func (t *Topo) pooled(gpus int) sim.Bytes {
	if t.Hardware.GPU == nil {
		return 0
	}
	return t.Hardware.GPU.Memory.Value() * sim.Bytes(gpus)
}

// capacity prints an amount of memory as data sheets do, in decimal units.
func capacity(b sim.Bytes) string {
	if b >= 1e13 {
		return Figure(float64(b)/1e12) + " TB"
	}
	return Count(int64(b/1e9)) + " GB"
}

func (t *Topo) memory() string {
	all := t.pooled(len(t.Machine.Ranks))
	if all == 0 {
		return ""
	}
	s := fmt.Sprintf("The GPUs hold %s of memory together", capacity(all))
	if largest := t.Survey.LargestDomain(); largest > 0 && largest < len(t.Machine.Ranks) {
		s += fmt.Sprintf(", those of the largest NVLink domain %s", capacity(t.pooled(largest)))
	}
	return s + "."
}

// reach says how far devices reach each other without host memory.
func (t *Topo) reach() []string {
	s := t.Hardware.Spec
	if s == nil || s.Host.PCIe == nil {
		return nil
	}
	p := s.Host.PCIe
	var out []string
	switch nics := len(p.NICs) > 0; {
	case nics && p.GDR == p.P2P && p.P2P == pcie.Nowhere:
		out = append(out, "Over PCIe, neither GPUs nor NICs reach GPUs directly: bytes pass through host memory.")
	case nics && p.GDR == p.P2P:
		out = append(out, "Over PCIe, GPUs and NICs reach GPUs "+within(p.P2P)+beyond(p.P2P)+".")
	default:
		if p.P2P == pcie.Nowhere {
			out = append(out, "Over PCIe, GPUs do not reach each other directly: bytes pass through host memory.")
		} else {
			out = append(out, "Over PCIe, GPUs reach each other "+within(p.P2P)+beyond(p.P2P)+".")
		}
		if nics && p.GDR == pcie.Nowhere {
			out = append(out, "NICs do not reach GPUs directly (no GPUDirect RDMA).")
		} else if nics {
			out = append(out, "NICs reach GPUs (GPUDirect RDMA) "+within(p.GDR)+".")
		}
	}
	if p.ACS {
		out = append(out, "Access control (ACS) sends traffic between neighbours below a switch up to the host bridge first.")
	}
	return out
}

// beyond says what happens to bytes that go further than a reach, if there is
// such a way on a node.
func beyond(r pcie.Reach) string {
	if r == pcie.Everywhere {
		return ""
	}
	return "; beyond, bytes pass through host memory"
}

// within says a reach that is not nowhere.
func within(r pcie.Reach) string {
	switch r {
	case pcie.WithinSocket:
		return "on their socket (up to NODE)"
	case pcie.WithinBridge:
		return "below their host bridge (up to PHB)"
	case pcie.WithinSwitches:
		return "through switches alone (up to PXB)"
	case pcie.WithinSwitch:
		return "through one switch (PIX)"
	}
	return "everywhere on a node"
}

// watts prints power with its unit.
func watts(w catalog.Watts) string {
	if w >= 1000 {
		return Figure(float64(w)/1000) + " kW"
	}
	return Figure(float64(w)) + " W"
}

// draw returns what the GPUs in service of a node draw at most, of the node with
// the most of them; 0 if that is not known.
func (t *Topo) draw() catalog.Watts {
	hw := t.Hardware
	if hw.GPU == nil || t.Machine.Hosts < 1 {
		return 0
	}
	per, most := make([]int, t.Machine.Hosts), 0
	for _, r := range t.Machine.Ranks {
		if h := t.Machine.Graph.Nodes[r].Host; h >= 0 && h < t.Machine.Hosts {
			per[h]++
			most = max(most, per[h])
		}
	}
	return hw.GPU.TDP.Value() * catalog.Watts(most)
}

// nodePower returns the figures of a node, nil if there are none.
func (t *Topo) nodePower() *catalog.Power {
	if s := t.Hardware.System; s != nil {
		return s.Power
	}
	return nil
}

func (t *Topo) power() string {
	gpus, p := t.draw(), t.nodePower()
	hosts := catalog.Watts(t.Machine.Hosts)
	if p == nil || !p.Max.Known() && !p.Typical.Known() {
		if gpus == 0 {
			return ""
		}
		s := fmt.Sprintf("The GPUs of a node draw at most %s; the rest of the node is not known.", watts(gpus))
		if p != nil && p.Supplies.Known() {
			s = fmt.Sprintf("The GPUs of a node draw at most %s, the rest of the node is not known; its supplies sustain %s (%s).", watts(gpus), watts(p.Supplies.Value().Sustained()), p.Supplies)
		}
		return s
	}
	var parts []string
	say := func(f catalog.Figure[catalog.Watts], what string) {
		if !f.Known() {
			return
		}
		s := watts(f.Value()) + " " + what
		if hosts > 1 {
			s += fmt.Sprintf(" (all nodes %s)", watts(f.Value()*hosts))
		}
		if f.Status == catalog.Assumed {
			s += ", assumed"
		}
		parts = append(parts, s)
	}
	say(p.Max, "at most")
	say(p.Typical, "under load")
	s := "A node draws " + strings.Join(parts, " and ")
	if gpus > 0 {
		s += fmt.Sprintf(", its GPUs %s of it", watts(gpus))
	}
	if p.Supplies.Known() {
		s += fmt.Sprintf("; its supplies sustain %s (%s)", watts(p.Supplies.Value().Sustained()), p.Supplies)
	}
	return s + "."
}

// cautions are what an architect must know, the gravest first.
func (t *Topo) cautions() []string {
	hw := t.Hardware
	out := t.Machine.Cautions(t.Survey, hw.GPU != nil && hw.GPU.NVLink != nil)
	if p := t.nodePower(); p != nil && p.Supplies.Known() {
		have := p.Supplies.Value().Sustained()
		switch gpus := t.draw(); {
		case gpus > have:
			out = append(out, fmt.Sprintf("the GPUs of a node alone draw up to %s, its power supplies sustain %s (%s)", watts(gpus), watts(have), p.Supplies))
		case p.Max.Value() > have:
			out = append(out, fmt.Sprintf("a node draws up to %s, its power supplies sustain %s (%s)", watts(p.Max.Value()), watts(have), p.Supplies))
		}
	}
	return out
}

// notes are the machine's own sentences that are said nowhere else on a page.
func (t *Topo) notes() []string {
	return slices.DeleteFunc(slices.Clone(t.Machine.Notes), func(n string) bool { return slices.Contains(t.Hardware.FileNotes, n) })
}

// figures counts what the catalogue gave.
func (t *Topo) figures() string {
	n := len(t.Hardware.Provenance)
	if n == 0 {
		return ""
	}
	assumed := 0
	for _, p := range t.Hardware.Provenance {
		if p.Status == catalog.Assumed {
			assumed++
		}
	}
	return fmt.Sprintf("%s from the catalogue, %d of them assumed; --format json says which.", Plural(n, "figure"), assumed)
}
