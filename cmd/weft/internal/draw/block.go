package draw

import (
	"fmt"
	"strings"

	"github.com/weft-sim/weft/topology"
)

// Sizes of a part that is drawn as a block with its GPUs as chips.
const (
	chipWide, chipHigh = 25.0, 19.0
	chipGap            = 3.0
	blockHead          = 24.0
	blockFoot          = 17.0
	mostChips          = 16 // a block of more GPUs says their number
)

// block is a part to be drawn small, alone or for several equal ones.
type block struct {
	part
	title   string
	columns int // of chips; 0 for a single GPU, which is a chip itself
	gpus    []topology.NodeID
	foot    string
	stack   bool
	odd     bool
	narrow  bool // a chip with its number alone
}

// block prepares a part. of is how many it stands for.
func (lv *levels) block(p part, of int, odd bool) block {
	b := block{part: p, stack: of > 1, odd: odd}
	var n [topology.NodeKinds]int
	for _, node := range p.nodes {
		k := lv.g.Nodes[node].Kind
		n[k]++
		if k == topology.GPU {
			b.gpus = append(b.gpus, node)
		}
	}
	if len(p.nodes) == 1 && of == 1 {
		b.title = label(lv.g.Nodes[p.nodes[0]])
		return b
	}
	b.columns = min(4, max(1, len(b.gpus)))
	if len(b.gpus) > mostChips {
		b.columns = 4
	}
	b.title = lv.name(p)
	if i := strings.LastIndex(b.title, ", "); i >= 0 {
		b.title = b.title[i+2:] // the panel says of which host
	}
	if of > 1 {
		b.title = plural(of, lv.noun(p))
	}
	var feet []string
	for _, k := range []topology.NodeKind{topology.NVSwitch, topology.Socket, topology.NIC} {
		if n[k] > 0 {
			feet = append(feet, plural(n[k], k.String()))
		}
	}
	b.foot = strings.Join(feet, ", ")
	if f := lv.faults(p); odd && f != "" {
		b.foot = f
	}
	return b
}

// harm is what of a part is out of service, or slower than its like. A link
// that is so both ways counts once.
type harm struct{ nodes, down, slow int }

func (x *index) harm(p part) (h harm) {
	down, slow := map[[2]topology.NodeID]int{}, map[[2]topology.NodeID]int{}
	add := func(l topology.Link, of map[[2]topology.NodeID]int, total *int) {
		of[[2]topology.NodeID{l.From, l.To}]++
		if of[[2]topology.NodeID{l.From, l.To}] > of[[2]topology.NodeID{l.To, l.From}] {
			*total++
		}
	}
	for _, n := range p.nodes {
		if x.g.Nodes[n].Down {
			h.nodes++
		}
		for _, l := range x.out[n] {
			switch {
			case x.g.Links[l].Down:
				add(x.g.Links[l], down, &h.down)
			case x.slow[l]:
				add(x.g.Links[l], slow, &h.slow)
			}
		}
	}
	return h
}

func (h harm) total() int { return h.nodes + h.down + h.slow }

// faults says what is wrong with a part.
func (x *index) faults(p part) string {
	switch h := x.harm(p); {
	case h.nodes > 0:
		return plural(h.nodes, "part") + " down"
	case h.down > 0 && h.slow > 0:
		return plural(h.down, "link") + fmt.Sprintf(" down, %s slow", count(h.slow))
	case h.down > 0:
		return plural(h.down, "link") + " down"
	case h.slow > 0:
		return plural(h.slow, "slow link")
	}
	return ""
}

// size is how much room a block takes.
func (b block) size() (w, h float64) {
	if b.columns == 0 {
		if b.narrow {
			return 30, 30
		}
		return max(30, min(90, textWidth(b.title, 11)+8)), 30
	}
	w = float64(b.columns)*(chipWide+chipGap) - chipGap + 16
	if b.stack {
		w = max(w, textWidth(b.title, letterSize)+24)
	}
	if b.columns >= 4 || b.odd {
		w = max(w, textWidth(b.foot, 9.5)+14)
	}
	w = max(w, min(150, textWidth(b.title, letterSize)+22))
	return w, blockHead + float64(b.chipRows())*(chipHigh+chipGap) + blockFoot
}

func (b block) chipRows() int {
	if len(b.gpus) > mostChips {
		return 1
	}
	return (len(b.gpus) + b.columns - 1) / b.columns
}

// write puts a block into a scene.
func (lv *levels) write(s *scene, b block, x, y float64) {
	w, h := b.size()
	if b.columns == 0 {
		node := lv.g.Nodes[b.nodes[0]]
		text := b.title
		if b.narrow {
			text = short(node)
		}
		s.boxes = append(s.boxes, box{x: x, y: y, w: w, h: h, paint: paintOf(node.Kind), label: text, size: 11, tip: node.Name, down: node.Down})
		return
	}
	s.frames = append(s.frames, frame{x: x, y: y, w: w, h: h, title: b.title, stack: b.stack, odd: b.odd})
	color := faint
	if b.odd {
		color = alarm
	}
	if textWidth(b.foot, 9.5) <= w-4 {
		s.words = append(s.words, word{x + w/2, y + h - 6, b.foot, font{size: 9.5, color: color, anchor: "middle"}})
	}
	if len(b.gpus) > mostChips {
		s.boxes = append(s.boxes, box{x: x + 8, y: y + blockHead, w: w - 16, h: chipHigh, paint: paintOf(topology.GPU), label: plural(len(b.gpus), "GPU"), size: 11})
		return
	}
	left := x + (w-(float64(b.columns)*(chipWide+chipGap)-chipGap))/2
	for i, g := range b.gpus {
		node := lv.g.Nodes[g]
		text := short(node)
		switch {
		case len(b.nodes) == 1:
			text = "" // any of many: its number says nothing
		case b.stack:
			text = fmt.Sprint(node.Unit)
		}
		s.boxes = append(s.boxes, box{
			x: left + float64(i%b.columns)*(chipWide+chipGap), y: y + blockHead + float64(i/b.columns)*(chipHigh+chipGap),
			w: chipWide, h: chipHigh, paint: paintOf(topology.GPU), label: text, size: 10, tip: node.Name, down: node.Down,
		})
	}
}

// minority reports for each part whether more of it is faulty than of the
// commonest of them: of those without a fault, if there are any.
func (lv *levels) minority(parts []part) []bool {
	cs := classes(len(parts), func(i int) uint64 { return parts[i].like })
	harms := make([]int, len(cs))
	most := 0
	for i, c := range cs {
		harms[i] = lv.harm(parts[c.members[0]]).total()
		sound, was := harms[i] == 0, harms[most] == 0
		n, best := len(c.members), len(cs[most].members)
		if sound && !was || sound == was && (n > best || n == best && harms[i] < harms[most]) {
			most = i
		}
	}
	odd := make([]bool, len(parts))
	for i, c := range cs {
		for _, k := range c.members {
			odd[k] = i != most && harms[i] > 0
		}
	}
	return odd
}

// pack makes blocks of parts so that they fit a width: each by itself with
// fewer and fewer columns of chips, else one of each kind.
func (lv *levels) pack(parts []part, width float64) []block {
	odd := lv.minority(parts)
	var blocks []block
	for i, p := range parts {
		blocks = append(blocks, lv.block(p, 1, odd[i]))
	}
	for _, columns := range []int{4, 2} {
		for i := range blocks {
			blocks[i].columns = min(blocks[i].columns, columns)
			blocks[i].narrow = columns == 2
		}
		if rowWidth(blocks) <= width {
			return blocks
		}
	}
	blocks = nil
	for _, c := range classes(len(parts), func(i int) uint64 { return parts[i].like }) {
		first := c.members[0]
		blocks = append(blocks, lv.block(parts[first], len(c.members), odd[first]))
	}
	return blocks
}
