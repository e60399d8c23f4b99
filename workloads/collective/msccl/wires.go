package msccl

// wire is a connection: what one GPU sends to another on a channel arrives
// there in the order in which it was sent.
type wire struct{ from, to, channel int }

// end is the thread block at one end of a wire.
type end struct{ gpu, block int }

// ends finds the thread blocks at the sending and the receiving end of each
// wire, and tells of a second one on the same end.
func (a *Algorithm) ends(twice func(w wire, first, second end, sends bool)) (send, recv map[wire]end) {
	send, recv = map[wire]end{}, map[wire]end{}
	put := func(m map[wire]end, w wire, e end, sends bool) {
		if first, ok := m[w]; ok {
			twice(w, first, e, sends)
			return
		}
		m[w] = e
	}
	for g := range a.GPUs {
		for id, b := range a.GPUs[g].Blocks {
			if b.Send >= 0 {
				put(send, wire{g, b.Send, b.Channel}, end{g, id}, true)
			}
			if b.Recv >= 0 {
				put(recv, wire{b.Recv, g, b.Channel}, end{g, id}, false)
			}
		}
	}
	return send, recv
}

// wires checks that the k-th send of each wire has its k-th receive, of as many
// chunks.
func (r *reader) wires() {
	a := r.a
	send, recv := a.ends(func(w wire, first, second end, sends bool) {
		verb := "receive from"
		peer := w.from
		if sends {
			verb, peer = "send to", w.to
		}
		r.problem(position{line: a.GPUs[second.gpu].Blocks[second.block].Line},
			"thread blocks %d and %d of GPU %d both %s GPU %d on channel %d, expected another chan for one of them", first.block, second.block, second.gpu, verb, peer, w.channel)
	})
	if len(r.list) > 0 {
		return
	}
	for g := range a.GPUs {
		for id := range a.GPUs[g].Blocks {
			b := &a.GPUs[g].Blocks[id]
			if b.Send >= 0 {
				w := wire{g, b.Send, b.Channel}
				e, ok := recv[w]
				r.matched(w, b, a.at(e, ok))
			}
			if b.Recv >= 0 {
				w := wire{b.Recv, g, b.Channel}
				if _, ok := send[w]; !ok { // otherwise seen from the sender
					r.matched(w, nil, b)
				}
			}
		}
	}
}

// at returns a thread block, nil where there is none.
func (a *Algorithm) at(e end, ok bool) *Block {
	if !ok {
		return nil
	}
	return &a.GPUs[e.gpu].Blocks[e.block]
}

func (r *reader) matched(w wire, from, to *Block) {
	sends, recvs := from.filter(Kind.Sends), to.filter(Kind.Receives)
	for k := range max(len(sends), len(recvs)) {
		switch {
		case k >= len(recvs):
			r.problem(position{line: sends[k].Line}, "send %d from GPU %d to GPU %d on channel %d has no receive: GPU %d receives %d times there; expected a thread block there with recv=%d, chan=%d and as many steps that receive",
				k, w.from, w.to, w.channel, w.to, len(recvs), w.from, w.channel)
			return
		case k >= len(sends):
			r.problem(position{line: recvs[k].Line}, "receive %d of GPU %d from GPU %d on channel %d has no send: GPU %d sends %d times there; expected a thread block there with send=%d, chan=%d and as many steps that send",
				k, w.to, w.from, w.channel, w.from, len(sends), w.to, w.channel)
			return
		case sends[k].Count != recvs[k].Count:
			r.problem(position{line: recvs[k].Line}, "cnt: receive %d of GPU %d from GPU %d on channel %d takes %d chunks, but line %d sends %d; expected as many",
				k, w.to, w.from, w.channel, recvs[k].Count, sends[k].Line, sends[k].Count)
			return
		}
	}
}

func (b *Block) filter(keep func(Kind) bool) []*Step {
	var all []*Step
	if b == nil {
		return nil
	}
	for i := range b.Steps {
		if keep(b.Steps[i].Kind) {
			all = append(all, &b.Steps[i])
		}
	}
	return all
}
