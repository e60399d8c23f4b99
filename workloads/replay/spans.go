package replay

import (
	"fmt"

	"github.com/weft-sim/weft/workloads"
)

// record keeps the span of a finished operation, if anyone asked for it.
func (x *exec) record(rep int, op int32) {
	rec := x.j.opt.Recorder
	if rec == nil {
		return
	}
	r := &x.reps[rep]
	st := &x.ops[op]
	o := x.opOf(op)
	name := o.Name
	category := "compute"
	switch o.Kind {
	case workloads.Collective:
		category = "collective"
		if name == "" {
			name = o.Coll.String()
		}
	case workloads.Send, workloads.Recv:
		category = "p2p"
	case workloads.Copy:
		category = "copy"
	case workloads.Delay:
		category = "delay"
	}
	stream := "stream"
	if cl := &x.j.prog.Classes[r.class]; int(o.Stream) < len(cl.Streams) && cl.Streams[o.Stream].Name != "" {
		stream = cl.Streams[o.Stream].Name
	}
	begin := st.begin
	if o.Kind == workloads.Recv {
		begin = x.msgs[st.slot].posted // st.begin is where its critical path begins, at the sender
	}
	t := rec.Track(fmt.Sprintf("rank %d", r.rank), stream)
	rec.Span(t, rec.Intern(name), rec.Intern(category), begin, st.end)
}
