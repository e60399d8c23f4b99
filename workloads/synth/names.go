package synth

import (
	"fmt"
	"slices"
	"strings"
)

// Names returns an error for each group, stream and label that the program
// names and nobody declares. It needs no number of ranks, and numbers that could
// not be read do not disturb it. [Program.Build] reports the same.
func (p *Program) Names() Errors {
	n := &names{}
	for _, g := range p.Groups {
		n.groups = append(n.groups, g.Name)
	}
	for _, s := range p.Streams {
		n.streams = append(n.streams, s.Name)
	}
	for _, s := range standard {
		if !slices.Contains(n.streams, s.Name) {
			n.streams = append(n.streams, s.Name)
		}
	}
	for i := range p.Blocks {
		bl := &p.Blocks[i]
		n.places(bl.At, "blocks."+bl.Name+".at")
		n.ops(bl.Ops, "blocks."+bl.Name)
	}
	return n.errs
}

// names is what has been declared so far.
type names struct {
	groups, streams, labels []string
	errs                    Errors
}

// ops checks operations in the order in which they first run.
func (n *names) ops(ops []Op, path string) {
	for i := range ops {
		o := &ops[i]
		at := fmt.Sprintf("%s.ops[%d]", path, i)
		n.places(o.At, at+".at")
		for _, v := range o.variants() {
			if v.set && v.coll != nil {
				n.group(v.coll.Group, at+"."+v.key+".group")
			}
		}
		if o.Send != nil {
			n.group(o.Send.Group, at+".send.group")
		}
		if o.Recv != nil {
			n.group(o.Recv.Group, at+".recv.group")
		}
		if o.Stream != "" && !slices.Contains(n.streams, o.Stream) {
			n.errs.add(&Error{Path: at + ".stream", Msg: fmt.Sprintf("stream %q does not exist", o.Stream), Near: o.Stream, Valid: n.streams})
		}
		if o.After != nil {
			for k, name := range *o.After {
				n.label(name, fmt.Sprintf("%s.after[%d]", at, k))
			}
		}
		if o.Label != "" && !slices.Contains(n.labels, o.Label) {
			n.labels = append(n.labels, o.Label)
		}
		n.ops(o.Ops, at)
	}
}

func (n *names) places(at map[string][]int32, path string) {
	for _, name := range sorted(at) {
		n.group(name, path+"."+name)
	}
}

func (n *names) group(name, path string) {
	if name != "" && name != everyone && !slices.Contains(n.groups, name) {
		n.errs.add(&Error{Path: path, Msg: fmt.Sprintf("group %q does not exist", name), Near: name, Valid: n.groups})
	}
}

func (n *names) label(name, path string) {
	if slices.Contains(n.labels, name) {
		return
	}
	valid := slices.Sorted(slices.Values(n.labels))
	known := "none"
	if len(valid) > 0 {
		known = strings.Join(valid, ", ")
	}
	n.errs.add(&Error{Path: path, Msg: fmt.Sprintf("label %q is on no operation before this one (labels so far: %s)", name, known), Near: name, Valid: valid})
}

// sorted returns the keys of a map in order.
func sorted(at map[string][]int32) []string {
	out := make([]string, 0, len(at))
	for name := range at {
		out = append(out, name)
	}
	slices.Sort(out)
	return out
}
