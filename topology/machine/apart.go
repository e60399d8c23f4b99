package machine

import (
	"fmt"

	"github.com/weft-sim/weft/topology"
)

// user is a GPU whose traffic passes a leaf; the zero value is none.
type user struct {
	host, gpu int32
	ok        bool
}

func (u user) String() string { return fmt.Sprintf("n%d.gpu%d", u.host, u.gpu) }

// users are the first GPU whose traffic passes a leaf, and the first of another
// host.
type users [2]user

func (us *users) add(host, gpu int32) {
	switch {
	case !us[0].ok:
		us[0] = user{host, gpu, true}
	case !us[1].ok && us[0].host != host:
		us[1] = user{host, gpu, true}
	}
}

// apart returns a GPU of each list, on different hosts.
func apart(from, to *users) (a, b user, ok bool) {
	for _, a := range from {
		for _, b := range to {
			if a.ok && b.ok && a.host != b.host {
				return a, b, true
			}
		}
	}
	return a, b, false
}

// checkLeaves returns an error if the network has no way left for two GPUs that
// need one: between leaves on which traffic of the same rail leaves and
// arrives, and on hosts where nothing nearer joins two GPUs.
func (rr *rerouter) checkLeaves(present func(h, g int32) bool) error {
	rails := int32(rr.fabric.Rails())
	out, in := make([]users, int32(rr.fabric.Leaves())*rails), make([]users, int32(rr.fabric.Leaves())*rails)
	for h := range int32(rr.hosts) {
		t := rr.r.places[h].template
		at := func(port, rail int32) int32 { return rr.fabric.Leaf(h*rr.r.ports+port)*rails + rail }
		for g := range rr.r.gpus {
			if !present(h, g) {
				continue
			}
			for _, way := range t.in[g] {
				in[at(way.port, way.rail)].add(h, g)
			}
			for rail := range rails {
				if t.relays != nil {
					if way := t.relays[g][rail]; way.ok {
						out[at(way.port, rail)].add(h, g)
					}
					continue
				}
				for _, way := range t.out[g] {
					out[at(way.port, rail)].add(h, g)
				}
			}
		}
	}
	var a, b user
	passes := func(x, y int32) bool {
		for rail := range rails {
			var ok bool
			if a, b, ok = apart(&out[x*rails+rail], &in[y*rails+rail]); ok {
				return true
			}
		}
		return false
	}
	if _, _, lost := rr.r.fabric.Apart(func(x, y int32) bool { return passes(x, y) || passes(y, x) }); lost {
		return fmt.Errorf("%s cannot reach %s: no way through the network is left between their switches", a, b)
	}
	if !rr.r.fabric.Missing() {
		return nil
	}
	var buf []topology.Hop
	for h := range int32(rr.hosts) {
		for i, l := range rr.r.places[h].pairs {
			x, y := int32(i)/rr.r.gpus, int32(i)%rr.r.gpus
			if l.ok || !present(h, x) || !present(h, y) {
				continue
			}
			if _, err := rr.r.within(h, x, y, buf); err != nil {
				return fmt.Errorf("%s cannot reach %s: nothing nearer joins them, and no way through the network is left", user{h, x, true}, user{h, y, true})
			}
		}
	}
	return nil
}
