package replay

import (
	"fmt"

	"github.com/weft-sim/weft/sim"
	"github.com/weft-sim/weft/workloads"
)

// waits says who waits for whom when no event is left and work is.
func (x *exec) waits() []sim.Wait {
	if x.left == 0 {
		return nil
	}
	var ws []sim.Wait
	for op := range x.ops {
		st := &x.ops[op]
		if st.state != issued {
			continue
		}
		o := x.opOf(int32(op))
		r := &x.reps[x.opRep[op]]
		add := func(on int32, why string) {
			ws = append(ws, sim.Wait{
				Who: fmt.Sprintf("rank %d", r.rank), WhoID: r.rank,
				On: fmt.Sprintf("rank %d", on), OnID: on, Why: why,
			})
		}
		switch o.Kind {
		case workloads.Collective:
			in := &x.insts[st.slot]
			what := fmt.Sprintf("%v number %d of %s", o.Coll, in.seq+1, x.j.prog.Comms[in.comm].Name)
			for m := in.first; m >= 0; m = x.ops[m].next {
				if id, ok := x.picking(m); ok && in.need == 0 {
					if running := x.stream(id).running; running >= 0 {
						add(x.reps[id.rep].rank, fmt.Sprintf("%s (%q): its stream is held by %q", what, o.Name, x.opOf(running).Name))
					}
					continue
				}
				if x.ops[m].state == pending {
					add(x.reps[x.opRep[m]].rank, fmt.Sprintf("%s (%q): not reached there", what, o.Name))
				}
			}
		case workloads.Recv:
			m := &x.msgs[st.slot]
			if x.ops[m.send].state == pending {
				add(x.reps[x.opRep[m.send]].rank, fmt.Sprintf("a message with tag %d (%q): not sent yet", o.Tag, o.Name))
			}
		}
	}
	if len(ws) == 0 {
		x.eng.Fail(errUnwaited)
	}
	return ws
}
