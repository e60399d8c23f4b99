package replay

import (
	"fmt"

	"github.com/weft-sim/weft/sim"
	"github.com/weft-sim/weft/workloads"
	"github.com/weft-sim/weft/workloads/collective"
)

// message is one send and the receive that it meets.
type message struct {
	lane    *lane // nil when a rank sends to itself
	bytes   sim.Bytes
	pace    collective.Pace
	began   sim.Time
	send    int32 // operation
	recv    int32 // operation, -1 until it is posted
	posted  sim.Time
	arrived bool
}

// joinMessages makes one message for each send of a representative, and finds
// the message of each receive: its peer stands for a class, whose
// representative's send is the one to wait for.
func (x *exec) joinMessages() error {
	for pass := range 2 {
		for i := range x.reps {
			r := &x.reps[i]
			for _, k := range x.j.contacts.of(r.rank) {
				for _, pr := range x.j.contacts.matches[k.match].pairs {
					op := r.base + pr.op
					send := x.opOf(op).Kind == workloads.Send
					switch {
					case pass == 0 && send:
						x.ops[op].slot = int32(len(x.msgs))
						ch, err := x.j.sender(x.opOf(op), r.rank, k.peer)
						if err != nil {
							return err
						}
						x.msgs = append(x.msgs, message{
							lane: x.l.pairs[pair{r.rank, k.peer}], bytes: ch.Wire(x.opOf(op).Bytes), pace: ch.Pace, send: op, recv: -1,
						})
					case pass == 1 && !send:
						peer := &x.reps[x.c.rank[k.peer]]
						x.ops[op].slot = x.ops[peer.base+pr.partner].slot
					}
				}
			}
		}
	}
	return nil
}

// sender returns how the message of operation o from rank a to rank b runs.
func (j *job) sender(o *workloads.Op, a, b int32) (collective.Choice, error) {
	if j.opt.Send == nil || a == b {
		return collective.Choice{}, nil
	}
	ch, err := j.opt.Send(o.Bytes, a, b)
	if err == nil {
		err = ch.Pace.Validate()
	}
	if err != nil {
		return ch, fmt.Errorf("operation %q: %w", o.Name, err)
	}
	return ch, nil
}

// sendMessage starts to send. It does not wait for the receiver.
func (x *exec) sendMessage(op int32) {
	id := x.ops[op].slot
	m := &x.msgs[id]
	x.reps[x.opRep[op]].account.comm(x.eng.Now(), 1)
	m.began = x.eng.Now()
	switch {
	case m.lane == nil:
		x.eng.Schedule(x.eng.Now(), x.me, evMsgSent, int64(id))
	case m.pace.Start > 0:
		x.eng.Schedule(x.eng.Now().Add(m.pace.Start), x.me, evMsgMove, int64(id))
	default:
		x.moveMessage(id)
	}
	if m.recv >= 0 {
		x.reps[x.opRep[m.recv]].account.comm(x.eng.Now(), 1)
	}
}

// moveMessage puts a message on the wires. Its sender is busy until the last
// byte has left, and all slices are done.
func (x *exec) moveMessage(id int32) {
	m := &x.msgs[id]
	x.send(m.lane, m.bytes, m.pace.Limit, m.pace.Tail(), evMsgSent, int64(id))
}

func (x *exec) messageSent(id int32) {
	m := &x.msgs[id]
	now := x.eng.Now()
	if least := m.began.Add(m.pace.Floor); m.lane != nil && now < least {
		x.eng.Schedule(least, x.me, evMsgSent, int64(id)) // the host is still launching
		return
	}
	var lat sim.Time
	if m.lane != nil {
		lat = m.lane.latency + m.lane.step(&m.pace)
	}
	x.eng.Schedule(now.Add(lat), x.me, evMsgGot, int64(id))
	x.reps[x.opRep[m.send]].account.comm(now, -1)
	x.finish(m.send)
}

func (x *exec) messageGot(id int32) {
	m := &x.msgs[id]
	m.arrived = true
	if m.recv < 0 {
		return
	}
	// The receiver was waiting: what it waited for is the send and its cause.
	st, from := &x.ops[m.recv], &x.ops[m.send]
	st.begin, st.cause = from.begin, from.cause
	x.reps[x.opRep[m.recv]].account.comm(x.eng.Now(), -1)
	x.finish(m.recv)
}

// postReceive waits for a message, or takes one that is there.
func (x *exec) postReceive(op int32) {
	id := x.ops[op].slot
	m := &x.msgs[id]
	m.recv, m.posted = op, x.eng.Now()
	switch {
	case m.arrived:
		x.eng.Schedule(x.eng.Now(), x.me, evOp, int64(op))
	case x.ops[m.send].state != pending:
		x.reps[x.opRep[op]].account.comm(x.eng.Now(), 1)
	}
}
