package configs

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/weft-sim/weft/configs/catalog"
	"github.com/weft-sim/weft/sim"
	"github.com/weft-sim/weft/topology"
	"github.com/weft-sim/weft/topology/discover"
	"github.com/weft-sim/weft/topology/nvlink"
	"github.com/weft-sim/weft/topology/pcie"
)

// completer tells a dump's machine what the catalogue knows of its parts.
type completer struct {
	parts
	gpu  *catalog.GPU
	cpu  *catalog.CPU    // of the board
	like *catalog.System // that the board is taken after
	said []string        // what was filled in, for a report to repeat
}

var _ discover.Completer = (*completer)(nil)

// say notes a completion, once.
func (c *completer) say(format string, args ...any) {
	if s := fmt.Sprintf(format, args...); !slices.Contains(c.said, s) {
		c.said = append(c.said, s)
	}
}

// board returns the system of the catalogue whose wiring is most like that of
// so many of the GPUs with so many NVLinks each, among those that fit; nil if
// none does. links 0 asks for all that the system has.
func (c *completer) board(gpus, links int, fits func(*catalog.System) bool) *catalog.System {
	var best *catalog.System
	most := 0
	for _, name := range c.cat.Systems() {
		s, err := c.cat.System(name)
		if err != nil || !fits(s) {
			continue
		}
		score := 1
		if s.GPU == c.gpu.Name {
			score += 8
		} else if g, err := c.cat.GPU(s.GPU); err == nil && g.Arch == c.gpu.Arch && (g.C2C != "") == (c.gpu.C2C != "") {
			score += 4
		}
		if int(s.GPUs.Value()) == gpus {
			score += 2
		}
		if s.NVLink != nil && s.NVLink.Planes.Known() && sum(s.NVLink.Planes.Value()) == links {
			score++
		}
		if score > most {
			best, most = s, score
		}
	}
	return best
}

func sum(all []int) int {
	total := 0
	for _, n := range all {
		total += n
	}
	return total
}

// NVLink implements [discover.Completer].
func (c *completer) NVLink(q discover.NVLinkQuestion) (nvlink.Spec, error) {
	ports := c.gpu.NVLink
	if ports == nil {
		if q.Links == 0 {
			return nvlink.Spec{}, nil
		}
		return nvlink.Spec{}, fmt.Errorf("the file shows %d %s links a GPU, but the catalogue's %s has none; is the kind of GPU right?", q.Links, q.Kind, c.gpu.Name)
	}
	if n := int(ports.Count.Value()); q.Links > n {
		return nvlink.Spec{}, fmt.Errorf("the file shows %d %s links a GPU, but the catalogue's %s has %d; is the kind of GPU right?", q.Links, q.Kind, c.gpu.Name, n)
	}
	l, err := c.cat.Link(ports.Link)
	if err != nil {
		return nvlink.Spec{}, err
	}
	if q.Kind == discover.XGMI != strings.HasPrefix(l.Name, "xgmi") {
		return nvlink.Spec{}, fmt.Errorf("the file shows %s links, but the catalogue's %s has %s; is the kind of GPU right?", q.Kind, c.gpu.Name, l.Name)
	}
	switch {
	case q.Links == 0 && ports.Bridge:
		c.say("cards of kind %s have connectors for NVLink bridges; none is assumed to be fitted", c.gpu.Name)
		return nvlink.Spec{}, nil
	case q.Links == 0:
		return c.wholeBoard(q, l)
	}
	s := nvlink.Spec{Link: c.wire(l, 1)}
	if q.Switched {
		return c.switched(q, s)
	}
	c.say("an NVLink is %s, %s", l.Name, each(s.Link.Rate))
	return s, nil
}

// each prints a rate of one link.
func each(r sim.Rate) string {
	return fmt.Sprintf("%.3g GB/s usable each way", float64(r)/1e9)
}

// switched adds the planes of a switched domain.
func (c *completer) switched(q discover.NVLinkQuestion, s nvlink.Spec) (nvlink.Spec, error) {
	b := c.board(q.GPUs, q.Links, func(b *catalog.System) bool {
		return b.NVLink != nil && b.NVLink.Link == s.Link.Class.Name && sum(b.NVLink.Planes.Value()) >= q.Links
	})
	if b == nil {
		return s, fmt.Errorf("no system of the catalogue has NVSwitches for %d %s links a GPU, so how they are divided over switches is not known; describe the system in a catalogue file",
			q.Links, s.Link.Class.Name)
	}
	s.Planes = slices.Clone([]int(take(&c.parts, b.NVLink.Planes)))
	if err := c.tiers(&s, b, q.GPUs); err != nil {
		return s, err
	}
	c.say("an NVLink is %s, %s; %d links a GPU over %d NVSwitches (%s) as in %s", s.Link.Class.Name, each(s.Link.Rate),
		sum(s.Planes), len(s.Planes), b.NVLink.Planes, b.Name)
	return s, nil
}

// tiers adds the switches of a system: their latency and, for a domain of its
// size, the second tier.
func (c *completer) tiers(s *nvlink.Spec, b *catalog.System, gpus int) error {
	sw, err := c.cat.Switch(b.NVLink.Switch)
	if err != nil {
		return err
	}
	s.SwitchLatency = take(&c.parts, sw.Latency)
	t := b.NVLink.Tier
	if t == nil || int(b.GPUs.Value()) != gpus {
		return nil
	}
	s.Tier = &nvlink.Tier{Groups: int(take(&c.parts, t.Groups)), Uplinks: slices.Clone([]int(take(&c.parts, t.Uplinks)))}
	if t.Switch == "" {
		return nil
	}
	if sw, err = c.cat.Switch(t.Switch); err != nil {
		return err
	}
	s.Tier.Switches = slices.Clone([]int(take(&c.parts, t.Switches)))
	s.Tier.SwitchLatency = take(&c.parts, sw.Latency)
	return nil
}

// wholeBoard returns the NVLinks that a board of such GPUs has.
func (c *completer) wholeBoard(q discover.NVLinkQuestion, l *catalog.Link) (nvlink.Spec, error) {
	b := c.board(q.GPUs, 0, func(b *catalog.System) bool {
		return b.NVLink != nil && b.NVLink.Link == l.Name && int(b.GPUs.Value()) == q.GPUs
	})
	if b == nil {
		return nvlink.Spec{}, fmt.Errorf("the file leaves out the NVLinks, and the catalogue has no board of %d %s to take them from; describe the system in a catalogue file", q.GPUs, c.gpu.Name)
	}
	s := nvlink.Spec{Link: c.wire(l, 1)}
	if !b.NVLink.Planes.Known() {
		s.Edges = slices.Clone([][3]int(take(&c.parts, b.NVLink.Edges)))
		c.say("NVLinks are those between the GPUs of %s: %s, %s", b.Name, l.Name, each(s.Link.Rate))
		return s, nil
	}
	s.Planes = slices.Clone([]int(take(&c.parts, b.NVLink.Planes)))
	c.say("NVLinks are those of %s: %s, %s, %d a GPU over %d NVSwitches (%s)", b.Name, l.Name, each(s.Link.Rate),
		sum(s.Planes), len(s.Planes), b.NVLink.Planes)
	return s, c.tiers(&s, b, q.GPUs)
}

// Slot implements [discover.Completer].
func (c *completer) Slot(q discover.SlotQuestion) (topology.Wire, error) {
	if q.C2C != nil {
		return c.chip(q.C2C)
	}
	if q.GPU != nil && c.gpu.C2C != "" && c.gpu.PCIe == nil {
		return c.chip(&discover.Link{}) // nvidia-smi shows it as PCIe
	}
	gen, width := q.PCIe.Gen, q.PCIe.Width
	if gen == 0 && q.PCIe.Rate > 0 {
		gen, width = split(q.PCIe.Rate)
	}
	if gen > 0 && width > 0 {
		return c.lanes(gen, width)
	}
	usual, lanes, who, err := c.usual(&q)
	if err != nil {
		return topology.Wire{}, err
	}
	if gen == 0 {
		gen = usual
	}
	if width == 0 {
		width = lanes
	}
	c.say("%s: PCIe %d x%d", who, gen, width)
	return c.lanes(gen, width)
}

// chip returns the link of a superchip.
func (c *completer) chip(link *discover.Link) (topology.Wire, error) {
	if c.gpu.C2C == "" {
		return topology.Wire{}, fmt.Errorf("the file shows a chip-to-chip link (%d x %.4g GB/s), but the catalogue's %s has none; is the kind of GPU right?",
			link.Count, float64(link.Rate)/1e9, c.gpu.Name)
	}
	l, err := c.cat.Link(c.gpu.C2C)
	if err != nil {
		return topology.Wire{}, err
	}
	w := c.wire(l, 1)
	c.say("the link from a GPU to its CPU is %s, %s", l.Name, each(w.Rate))
	return w, nil
}

// split finds the PCIe link of a rate. Half the lanes of the next generation
// have the same, so it is the one nearest to 16 lanes.
func split(r sim.Rate) (gen, width int) {
	perLane := [...]float64{0.25e9, 0.5e9, 8e9 * 128 / 130 / 8, 16e9 * 128 / 130 / 8, 32e9 * 128 / 130 / 8, 64e9 / 8}
	near := math.Inf(1)
	for w := 16; w > 0; w /= 2 {
		for g, lane := range perLane {
			if off := math.Abs(float64(r)/(lane*float64(w)) - 1); off < near-0.02 {
				gen, width, near = g+1, w, off
			}
		}
	}
	if near > 0.1 {
		return 0, 0
	}
	return gen, width
}

// usual returns the slot that a part usually has, and says of what.
func (c *completer) usual(q *discover.SlotQuestion) (gen, lanes int, who string, err error) {
	switch {
	case q.GPU != nil && c.gpu.PCIe != nil:
		return generation(c.gpu.PCIe.Link), int(take(&c.parts, c.gpu.PCIe.Lanes)), "the slot of the " + c.gpu.Name, nil
	case q.NIC != nil && q.NIC.Speed > 0:
		for _, name := range c.cat.NICs() {
			n, err := c.cat.NIC(name)
			if err != nil {
				return 0, 0, "", err
			}
			if l, err := c.cat.Link(n.Link); err == nil && math.Abs(float64(l.Nominal()/q.NIC.Speed)-1) < 0.01 {
				return generation(n.PCIe.Link), int(take(&c.parts, n.PCIe.Lanes)), "the slot of a NIC of " + gbits(q.NIC.Speed) + ", such as " + name, nil
			}
		}
	case q.NIC != nil:
		if b := c.board(0, 0, func(b *catalog.System) bool { return b.NIC != "" }); b != nil {
			n, err := c.cat.NIC(b.NIC)
			if err != nil {
				return 0, 0, "", err
			}
			return generation(n.PCIe.Link), int(take(&c.parts, n.PCIe.Lanes)), "the slot of a NIC, whose speed the file does not tell, taken as that of " + b.Name + " (" + b.NIC + ")", nil
		}
	}
	what := "the slot of a NIC of unusual speed"
	if q.Switch {
		what = "the uplink of a PCIe switch"
	}
	if c.gpu.PCIe == nil {
		return 5, 16, what, nil
	}
	return min(5, generation(c.gpu.PCIe.Link)), 16, what + ", as fast as a CPU for such GPUs", nil
}

func gbits(r sim.Rate) string { return fmt.Sprintf("%.4g Gbit/s", float64(r)*8/1e9) }

// Board implements [discover.Completer].
func (c *completer) Board(h *discover.Host) (discover.Board, error) {
	like := c.board(len(h.GPUs), 0, func(b *catalog.System) bool { return b.CPU != "" && b.PCIe != nil })
	if like == nil {
		return discover.Board{}, fmt.Errorf("the catalogue has no system with CPUs to take a %s's from", c.gpu.Name)
	}
	name, why := "", ""
	if len(h.CPUs) > 0 {
		name, why = cpuOf(&h.CPUs[0], c.gpu), "by the family and model in the file"
	}
	if name == "" {
		name, why = like.CPU, "which the file does not tell, as in "+like.Name
	}
	cpu, err := c.cat.CPU(name)
	if err != nil {
		return discover.Board{}, err
	}
	socket, err := c.cat.Link(cpu.SocketLink)
	if err != nil {
		return discover.Board{}, err
	}
	c.cpu, c.like = cpu, like
	c.say("the CPUs are %s, %s", name, why)
	b := discover.Board{
		SocketLink: c.wire(socket, int(take(&c.parts, cpu.SocketLinks))),
		Memory: topology.Wire{
			Rate:    take(&c.parts, cpu.MemoryRate) * sim.Rate(take(&c.parts, cpu.MemoryEfficiency)) / 2,
			Latency: take(&c.parts, cpu.MemoryLatency),
			Class:   topology.Class{Name: "memory-" + name, Raw: cpu.MemoryRate.Value(), Note: "half of the bus for each direction"},
		},
		Bridge: topology.Wire{
			Rate:  take(&c.parts, cpu.RootRate),
			Class: topology.Class{Name: "root-" + name, Raw: cpu.RootRate.Value(), Note: cpu.RootRate.Note},
		},
		BridgeLatency: take(&c.parts, cpu.BridgeLatency),
		SocketLatency: take(&c.parts, cpu.SocketLatency),
		P2P:           pcie.WithinSwitches,
		GDR:           pcie.WithinSwitches,
	}
	sw, err := c.pcieSwitch()
	if err != nil {
		return b, err
	}
	b.SwitchLatency = take(&c.parts, sw.Latency)
	c.reach(&b, like)
	return b, nil
}

// reach says how far devices reach each other: as NCCL has it by default,
// unless the kind of GPU allows less.
func (c *completer) reach(b *discover.Board, like *catalog.System) {
	switch {
	case c.gpu.PeerAccess.Known() && !bool(take(&c.parts, c.gpu.PeerAccess)):
		b.P2P, b.GDR = pcie.Nowhere, pcie.Nowhere
		c.say("the driver gives GPUs of kind %s no direct access to each other over PCIe, and NICs none to them (GPUDirect): bytes pass through host memory", c.gpu.Name)
	case c.gpu.C2C != "" && like.GDR.Known():
		b.P2P, b.GDR = pcie.Reach(take(&c.parts, like.P2P)), pcie.Reach(take(&c.parts, like.GDR))
		c.say("GPUs and NICs reach each other within a socket, as in %s", like.Name)
	default:
		c.say("GPUs and NICs reach each other through PCIe switches alone, NCCL's default; beyond, bytes pass through host memory")
	}
}

// staging adds to a PCIe tree what its links and switches cost bytes that are
// staged in host memory, and what copies between sockets reach.
func (c *completer) staging(p *pcie.Spec) error {
	if p == nil {
		return nil
	}
	p.PeerRate = take(&c.parts, c.cpu.PeerRate)
	switch {
	case p.P2P == pcie.Nowhere:
		p.Copies = pcie.Nowhere
	case c.like.GPU == c.gpu.Name && c.like.Copies.Known():
		p.Copies = pcie.Reach(take(&c.parts, c.like.Copies))
	}
	if c.gpu.PCIe == nil {
		return nil
	}
	l, err := c.cat.Link(c.gpu.PCIe.Link)
	if err != nil {
		return err
	}
	p.Staging = pcie.Staging{
		Own: float64(take(&c.parts, l.Opposing)), Handover: take(&c.parts, l.Handover), Serial: bool(take(&c.parts, c.gpu.SerialStaging)),
	}
	if len(p.Switches) > 0 {
		sw, err := c.pcieSwitch()
		if err != nil {
			return err
		}
		p.Staging.Uplink = float64(take(&c.parts, sw.Opposing))
	}
	return nil
}

// pcieSwitch returns the PCIe switch of the generation of the GPUs' slots.
func (c *completer) pcieSwitch() (*catalog.Switch, error) {
	gen := 5
	if c.gpu.PCIe != nil {
		gen = min(max(3, generation(c.gpu.PCIe.Link)), 6)
	}
	return c.cat.Switch(fmt.Sprintf("pcie%d-switch", gen))
}
