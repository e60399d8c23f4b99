package machine

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"github.com/weft-sim/weft/topology"
	"github.com/weft-sim/weft/topology/fault"
)

// Reroute finds the routes of the machine on a graph where links are slower,
// later, narrower or out of service, and where GPUs and NICs may be: see
// [fault.Rerouter]. Hosts that lack nothing keep the routes that they share;
// hosts that lack the same share new ones.
func (r *router) Reroute(g *topology.Graph) (fault.Rerouter, []topology.NodeID, error) {
	exact := rerouter{builder: r.built, to: g}
	err := exact.run()
	if err != nil || exact.den <= maxDenominator {
		return exact.r, exact.ranks, err
	}
	coarse := rerouter{builder: r.built, to: g, coarse: true}
	err = coarse.run()
	coarse.r.notes = append(coarse.r.notes,
		fmt.Sprintf("links are missing in many different places: the parts of a path are rounded to 1/%d of it", topology.CoarseParts))
	return coarse.r, coarse.ranks, err
}

// Remarks says which GPUs take another way than as built.
func (r *router) Remarks() []string { return slices.Clone(r.notes) }

// maxDenominator bounds the common denominator of exact shares: beyond it, with
// many different things missing, shares are rounded. Models of the network
// count in integers, and these must stay small.
const maxDenominator = 1 << 13

// run finds all routes.
func (rr *rerouter) run() error {
	b := rr.builder
	// Trunks of earlier faults are found anew.
	rr.to.Trunks = slices.Clip(rr.to.Trunks[:len(b.g.Trunks)])
	rr.r, rr.known, rr.den = b.emptyRouter(), map[string]*variant{}, 1
	if b.fabric != nil {
		rr.r.fabric = b.fabric.Reroute(rr.to, rr.coarse)
		rr.den = rr.r.fabric.Denominator(maxDenominator)
	}
	for h := range int32(b.hosts) {
		sign := rr.signature(h)
		if len(sign) == 0 {
			rr.r.places[h] = place{template: b.nominal, links: h * b.hostLinks, trunks: h * b.hostTrunks}
			continue
		}
		if err := rr.host(h, string(sign)); err != nil {
			return err
		}
	}
	for _, v := range rr.variants() {
		for _, note := range v.notes {
			if v.alike > 0 {
				note += fmt.Sprintf(" (and so on %d more hosts)", v.alike)
			}
			rr.r.notes = append(rr.r.notes, note)
		}
	}
	rr.number()
	if len(rr.ranks) == 0 {
		return errors.New("no GPU is left in service")
	}
	return rr.check()
}

type rerouter struct {
	*builder
	to     *topology.Graph
	coarse bool
	den    int64               // least common denominator of all paths, up to a limit
	known  map[string]*variant // by signature

	r     *router
	ranks []topology.NodeID
}

// variant is a template that is not that of the machine as built.
type variant struct {
	template *template
	host     int32 // where it was found
	alike    int   // how many more hosts lack the same
	trunks   int   // where its own trunks begin in the graph
	added    int   // how many it has
	notes    []string
}

// signature says how host h differs from a host as it was built: nothing, or
// a text that is the same for hosts that lack the same. Rates do not count.
func (rr *rerouter) signature(h int32) []byte {
	var sign []byte
	note := func(kind byte, i int, x ...int64) {
		sign = append(sign, kind)
		sign = binary.AppendVarint(sign, int64(i))
		for _, v := range x {
			sign = binary.AppendVarint(sign, v)
		}
	}
	first := h * rr.hostLinks
	for i := range rr.hostLinks {
		was, is := &rr.g.Links[i], &rr.to.Links[first+i]
		switch {
		case is.Down:
			note('d', int(i))
		case is.Width != was.Width || is.Latency != was.Latency:
			note('l', int(i), int64(is.Width), int64(is.Latency))
		}
	}
	for i := range rr.spec.Host.GPUs {
		if rr.to.Nodes[h*rr.hostNodes+int32(i)].Down {
			note('g', i)
		}
	}
	if rr.fabric != nil {
		for p := range rr.r.ports {
			if rr.portDown(h, p) {
				note('p', int(p))
			}
		}
	}
	return sign
}

func (rr *rerouter) portDown(h, p int32) bool {
	up, down := rr.fabric.Port(h*rr.r.ports + p)
	return rr.to.Links[up].Down || rr.to.Links[down].Down
}

// host finds the routes of a host that lacks something, or those of the first
// that lacks the same.
func (rr *rerouter) host(h int32, sign string) error {
	if v := rr.known[sign]; v != nil {
		v.alike++
		trunks := (h - v.host) * rr.hostTrunks
		if v.added > 0 {
			trunks = int32(len(rr.to.Trunks) - v.trunks)
			for _, t := range rr.to.Trunks[v.trunks : v.trunks+v.added] {
				links := make([]topology.LinkID, len(t.Links))
				for i, l := range t.Links {
					links[i] = l + topology.LinkID((h-v.host)*rr.hostLinks)
				}
				rr.to.AddTrunk(topology.Trunk{Links: links, Shares: t.Shares})
			}
		}
		rr.r.places[h] = place{template: v.template, links: (h - v.host) * rr.hostLinks, trunks: trunks}
		return nil
	}
	shift := topology.LinkID(h * rr.hostLinks)
	before := len(rr.to.Trunks)
	v := &view{builder: rr.builder, host: h, gone: make([]bool, rr.spec.Host.GPUs), cut: make([]bool, rr.r.ports)}
	if rr.nvlink != nil {
		v.nvlink = rr.nvlink.Reroute(rr.to, shift, func(id topology.ResourceID) topology.ResourceID {
			if id < rr.r.firstTrunk {
				return id + topology.ResourceID(shift)
			}
			return id + topology.ResourceID(h*rr.hostTrunks)
		}, rr.coarse)
		if d := v.nvlink.Denominator(maxDenominator); rr.den <= maxDenominator {
			rr.den *= d / int64(gcd(int32(rr.den%d), int32(d)))
		}
	}
	for _, t := range rr.trees {
		v.trees = append(v.trees, t.Reroute(rr.to, shift))
	}
	for i := range v.gone {
		v.gone[i] = rr.to.Nodes[h*rr.hostNodes+int32(i)].Down
	}
	for p := range v.cut {
		v.cut[p] = rr.fabric != nil && rr.portDown(h, int32(p))
	}
	t, err := v.template()
	if err != nil {
		return err
	}
	rr.known[sign] = &variant{template: t, host: h, trunks: before, added: len(rr.to.Trunks) - before, notes: rr.remarks(v, t)}
	rr.r.places[h] = place{template: t}
	return nil
}

// remarks says which GPUs of a host take another way.
func (rr *rerouter) remarks(v *view, t *template) (notes []string) {
	note := func(format string, args ...any) { notes = append(notes, fmt.Sprintf(format, args...)) }
	for i := range v.gone {
		if v.gone[i] {
			continue
		}
		if v.nvlink != nil && v.nvlink.Wired(i) == 0 && rr.nvlink.Wired(i) > 0 {
			way := "PCIe"
			if v.trees == nil {
				way = "the network"
			}
			note("n%d.gpu%d has no NVLink left: its traffic takes %s", v.host, i, way)
		}
		if t.out == nil || len(t.out[i]) == 0 {
			continue
		}
		was := rr.nominal.out[i]
		if !slices.EqualFunc(t.out[i], was, func(x, y exit) bool { return x.port == y.port }) {
			note("n%d.gpu%d leaves by %s instead of %s", v.host, i, portNames(t.out[i]), portNames(was))
		}
	}
	return notes
}

func portNames(ways exits) string {
	s := "NIC "
	if len(ways) > 1 {
		s = "NICs "
	}
	for i, w := range ways {
		if i > 0 {
			s += ", "
		}
		s += fmt.Sprint(w.port)
	}
	return s
}

// number lists the GPUs in service, which are the ranks.
func (rr *rerouter) number() {
	var slots []int32
	for i, id := range rr.gpus {
		if !rr.to.Nodes[id].Down {
			rr.ranks, slots = append(rr.ranks, id), append(slots, int32(i))
		}
	}
	if len(slots) < len(rr.gpus) {
		rr.r.slots = slots
	}
}

// check returns an error if two GPUs in service cannot reach each other. Pairs
// within a host are looked at host by host, those between hosts by the ports
// that they use.
func (rr *rerouter) check() error {
	if rr.fabric == nil {
		return nil // a template without a path is an error of its own
	}
	present := func(h, g int32) bool { return !rr.to.Nodes[h*rr.hostNodes+g].Down }
	var buf []topology.Hop
	for _, v := range rr.variants() {
		if v.template.pairs == nil {
			continue
		}
		for i, l := range v.template.pairs {
			x, y := int32(i)/rr.r.gpus, int32(i)%rr.r.gpus
			if l.ok || x == y || !present(v.host, x) || !present(v.host, y) {
				continue
			}
			if _, err := rr.r.within(v.host, x, y, buf); err != nil {
				return fmt.Errorf("n%d.gpu%d cannot reach n%d.gpu%d: no NVLink, no PCIe and no NIC joins them", v.host, x, v.host, y)
			}
		}
	}
	if rr.hosts == 1 {
		return nil
	}
	return rr.checkNetwork(present)
}

// variants lists the new templates by their first host.
func (rr *rerouter) variants() []*variant {
	var vs []*variant
	for _, v := range rr.known {
		vs = append(vs, v)
	}
	slices.SortFunc(vs, func(a, b *variant) int { return int(a.host - b.host) })
	return vs
}

func (rr *rerouter) checkNetwork(present func(h, g int32) bool) error {
	rails := make([]string, rr.fabric.Rails())
	for h := range int32(rr.hosts) {
		t := rr.r.places[h].template
		for g := range rr.r.gpus {
			if !present(h, g) {
				continue
			}
			name := fmt.Sprintf("n%d.gpu%d", h, g)
			if len(t.out[g]) == 0 {
				return fmt.Errorf("%s cannot reach other hosts: no NIC in service is in its reach", name)
			}
			for _, way := range t.in[g] {
				if rails[way.rail] == "" {
					rails[way.rail] = name
				}
			}
		}
	}
	if !rr.fabric.RailsJoined() {
		for _, v := range rr.variants() {
			for g, ways := range v.template.relays {
				for rail, way := range ways {
					if !way.ok && rails[rail] != "" && present(v.host, int32(g)) {
						return fmt.Errorf("n%d.gpu%d cannot reach %s: it has no way to rail %d, and no switch joins the rails", v.host, g, rails[rail], rail)
					}
				}
			}
		}
		return nil
	}
	return rr.checkLeaves(present)
}
