package machine

import (
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/weft-sim/weft/topology"
	"github.com/weft-sim/weft/topology/fabric"
	"github.com/weft-sim/weft/topology/nvlink"
	"github.com/weft-sim/weft/topology/pcie"
)

// Validate returns all that is wrong with the spec, or nil.
func (s *Spec) Validate() error {
	var errs []error
	add := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	h := &s.Host
	trays := max(1, h.Trays)
	if s.Hosts < 0 {
		add("%d hosts, must be at least 1", s.Hosts)
	}
	if h.GPUs < 1 {
		add("%d GPUs in a host, must be at least 1", h.GPUs)
	}
	if h.Trays < 0 || h.GPUs%trays != 0 {
		add("%d GPUs in %d trays, must be as many in each", h.GPUs, h.Trays)
	}
	if h.NVLink != nil {
		errs = append(errs, h.NVLink.Validate(h.GPUs))
	}
	if h.PCIe != nil {
		errs = append(errs, h.PCIe.Validate())
		if n := len(h.PCIe.GPUs); n != h.GPUs/trays {
			add("pcie: slots for %d GPUs, but a tray has %d", n, h.GPUs/trays)
		}
	}
	if trays > 1 && h.NVLink == nil {
		add("%d trays without NVLink: nothing joins them; make each tray a host", trays)
	}
	if s.Relay > RelayNever {
		add("relay %d; the relays are 0 to %d", s.Relay, RelayNever)
	}
	if s.Fabric != nil {
		switch n := h.ports(); {
		case n == 0:
			add("a fabric, but the hosts have no NIC to plug into it; add NICs to the PCIe slots")
		case s.Fabric.Staged && (h.PCIe == nil || h.PCIe.Memory.IsZero()):
			add("a fabric that stages bytes in host memory, but the hosts have none; describe PCIe with a memory")
		default:
			errs = append(errs, s.Fabric.Validate(max(1, s.Hosts)*trays, n))
		}
	} else if s.Hosts > 1 {
		add("%d hosts and no fabric to join them", s.Hosts)
	}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("machine %s: %w", s.Name, err)
	}
	return nil
}

// ports returns how many ports a tray has to the fabric.
func (h *Host) ports() int {
	if h.PCIe != nil {
		return len(h.PCIe.NICs)
	}
	return h.GPUs / max(1, h.Trays)
}

// Build lays out the machine: all nodes and links, and the routes between
// GPUs. It returns an error for a spec that is wrong or whose GPUs cannot all
// reach each other.
//
// The first host is built part by part and then copied, so that equal things
// are exactly equal, and a link of host h has the ID of its twin on host 0
// plus h times the links of a host.
func Build(s Spec) (*topology.Machine, error) {
	if err := s.Validate(); err != nil {
		return nil, err
	}
	if s.Fabric != nil && s.Fabric.Staged {
		staged := *s.Host.PCIe
		staged.GDR = pcie.Nowhere
		s.Host.PCIe = &staged
	}
	b := &builder{spec: &s, g: &topology.Graph{}, hosts: max(1, s.Hosts), trays: max(1, s.Host.Trays)}
	if err := b.build(); err != nil {
		return nil, fmt.Errorf("machine %s: %w", s.Name, err)
	}
	r, err := b.router()
	if err != nil {
		return nil, fmt.Errorf("machine %s: %w", s.Name, err)
	}
	if err := b.g.Validate(); err != nil {
		return nil, fmt.Errorf("machine %s: %w", s.Name, err)
	}
	notes := s.Notes
	if b.fabric != nil && b.hosts > 1 && s.Relay == RelayAlways && s.Host.NVLink != nil && b.fabric.RailsJoined() && b.manyRelays() {
		notes = append(slices.Clone(notes), fmt.Sprintf("no GPU relays for others between rails (PXN): %d GPUs of a host on %d rails are too many to choose for", s.Host.GPUs, b.fabric.Rails()))
	}
	return &topology.Machine{Name: s.Name, Graph: b.g, Ranks: b.gpus, Hosts: int32(b.hosts), Router: r, Notes: notes}, nil
}

// mostRelays bounds the ways from GPUs of a host to rails, which are held one
// by one.
const mostRelays = 1 << 18

func (b *builder) manyRelays() bool { return b.spec.Host.GPUs*b.fabric.Rails() > mostRelays }

type builder struct {
	spec         *Spec
	g            *topology.Graph
	hosts, trays int

	gpus   []topology.NodeID // in rank order
	ports  []topology.NodeID // into the fabric, host by host
	nvlink *nvlink.Wiring    // of host 0
	trees  []*pcie.Tree      // of host 0, by tray
	fabric *fabric.Fabric

	hostNodes, hostLinks, hostTrunks int32

	nominal *template // the routes of a host as it was built
	engine  bool      // they are those of copy engines
}

func (b *builder) build() error {
	if err := b.firstHost(); err != nil {
		return err
	}
	nodes, links := len(b.g.Nodes), len(b.g.Links)
	b.hostNodes, b.hostLinks = int32(nodes), int32(links)
	for h := 1; h < b.hosts; h++ {
		b.copyHost(h, nodes, links)
	}
	b.collect(nodes)
	if f := b.spec.Fabric; f != nil {
		var err error
		if b.fabric, err = fabric.Build(b.g, f, b.ports, b.spec.Host.ports()); err != nil {
			return err
		}
	}
	b.addTrunks()
	return nil
}

// firstHost adds host 0: GPUs first, so that they are nodes 0 to GPUs-1.
func (b *builder) firstHost() error {
	h := &b.spec.Host
	gpus := make([]topology.NodeID, h.GPUs)
	for i := range gpus {
		gpus[i] = b.g.AddNode(topology.Node{Kind: topology.GPU, Name: "n0.gpu" + strconv.Itoa(i), Unit: int32(i)})
	}
	if h.NVLink != nil {
		w, err := nvlink.Build(b.g, h.NVLink, gpus, 0, "n0.")
		if err != nil {
			return err
		}
		b.nvlink = w
	}
	if h.PCIe == nil {
		return nil
	}
	perTray := h.GPUs / b.trays
	for t := range b.trays {
		tree, err := pcie.Build(b.g, h.PCIe, gpus[t*perTray:(t+1)*perTray], 0, "n0.", t)
		if err != nil {
			return err
		}
		b.trees = append(b.trees, tree)
	}
	return nil
}

// copyHost appends host h as a copy of host 0.
func (b *builder) copyHost(h, nodes, links int) {
	prefix := "n" + strconv.Itoa(h)
	for _, n := range b.g.Nodes[:nodes] {
		n.Name = prefix + n.Name[len("n0"):]
		n.Host = int32(h)
		b.g.AddNode(n)
	}
	shift := topology.NodeID(h * nodes)
	for _, l := range b.g.Links[:links] {
		l.From += shift
		l.To += shift
		b.g.AddLink(l)
	}
}

// collect lists the GPUs and the ports of all hosts.
func (b *builder) collect(nodes int) {
	host := &b.spec.Host
	var ports []topology.NodeID
	for _, tree := range b.trees {
		for i := range host.PCIe.NICs {
			ports = append(ports, tree.Node(tree.NIC(i)))
		}
	}
	if host.PCIe == nil {
		for i := range host.GPUs {
			ports = append(ports, topology.NodeID(i))
		}
	}
	for h := range b.hosts {
		shift := topology.NodeID(h * nodes)
		for i := range host.GPUs {
			b.gpus = append(b.gpus, shift+topology.NodeID(i))
		}
		for _, p := range ports {
			b.ports = append(b.ports, shift+p)
		}
	}
}

// addTrunks adds the trunks of host 0, their copies, and those of the fabric.
func (b *builder) addTrunks() {
	if b.nvlink != nil {
		b.nvlink.AddTrunks(b.g)
	}
	trunks := b.g.Trunks[:len(b.g.Trunks):len(b.g.Trunks)]
	b.hostTrunks = int32(len(trunks))
	for h := 1; h < b.hosts; h++ {
		shift := topology.LinkID(h) * topology.LinkID(b.hostLinks)
		for _, t := range trunks {
			links := make([]topology.LinkID, len(t.Links))
			for i, l := range t.Links {
				links[i] = l + shift
			}
			b.g.AddTrunk(topology.Trunk{Links: links, Shares: t.Shares})
		}
	}
	if b.fabric != nil {
		b.fabric.AddTrunks(b.g)
	}
}
