package draw

import (
	"cmp"
	"slices"

	"github.com/weft-sim/weft/topology"
)

// Sizes of the parts in a unit that is drawn in full.
const (
	gpuHigh                = 44.0
	innerWide, innerHigh   = 100.0, 34.0
	socketWide, memoryWide = 116.0, 74.0
	rowGap                 = 38.0
	fanGap                 = 92.0 // between GPUs and NVSwitches, where lines fan out
)

// detail lays out one unit in full: its PCIe trees with the CPUs on top, the
// GPUs and NICs below them in a row, and below these the NVLink side, switches
// or the arcs of a mesh.
type detail struct {
	*levels
	s      *scene
	unit   int
	up     map[topology.NodeID]topology.NodeID // parent in the PCIe tree
	below  map[topology.NodeID][]topology.NodeID
	roots  []topology.NodeID
	depth  map[topology.NodeID]int
	place  map[topology.NodeID]box // boxes by node, drawn in the end
	order  []topology.NodeID
	inner  int // rows above the GPUs
	gpuRow float64
	rowAt  []float64
	drawn  map[[2]topology.NodeID]bool // pairs whose links are in the picture
	sizes
}

// sizes are those that depend on how many GPUs there are to draw.
type sizes struct{ gpuWide, nicWide, slotGap, branchGap float64 }

func sizesFor(gpus int) sizes {
	if gpus > 8 {
		return sizes{58, 46, 6, 12}
	}
	return sizes{84, 58, 10, 22}
}

// detailed returns the picture of a unit. The title says what it stands for.
func (lv *levels) detailed(unit int, title string) *scene {
	d := &detail{
		levels: lv, s: &scene{title: title}, unit: unit,
		up: map[topology.NodeID]topology.NodeID{}, below: map[topology.NodeID][]topology.NodeID{},
		depth: map[topology.NodeID]int{}, place: map[topology.NodeID]box{}, drawn: map[[2]topology.NodeID]bool{},
	}
	gpus := 0
	for _, n := range lv.units[unit].nodes {
		if lv.g.Nodes[n].Kind == topology.GPU {
			gpus++
		}
	}
	d.sizes = sizesFor(gpus)
	d.grow()
	d.placeTree()
	d.placeSwitches()
	d.joinTree()
	d.joinSockets()
	d.joinFan()
	d.joinMesh()
	d.joinOutside()
	d.joinRest()
	for _, n := range d.order {
		d.s.boxes = append(d.s.boxes, d.place[n])
	}
	d.annotate()
	return d.s
}

func (d *detail) kind(n topology.NodeID) topology.NodeKind { return d.g.Nodes[n].Kind }

func (d *detail) in(n topology.NodeID) bool { return d.levels.unit[n] == int32(d.unit) }

// grow finds the trees: from the CPUs down, or where there are none from the
// host bridges, the switches, the devices.
func (d *detail) grow() {
	nodes := d.units[d.unit].nodes
	for _, top := range []topology.NodeKind{topology.Socket, topology.RootComplex, topology.PCIeSwitch, topology.GPU, topology.NIC, topology.HostMemory} {
		var queue []topology.NodeID
		for _, n := range nodes {
			if _, have := d.depth[n]; !have && d.kind(n) == top {
				d.depth[n] = 0
				d.roots = append(d.roots, n)
				queue = append(queue, n)
				if top == topology.PCIeSwitch { // of switches without a bridge one is the top
					queue = d.descend(queue)
				}
			}
		}
		d.descend(queue)
	}
	for _, n := range nodes {
		kids := d.below[n]
		slices.SortStableFunc(kids, func(a, b topology.NodeID) int {
			return cmp.Or(cmp.Compare(rankOf(d.kind(a)), rankOf(d.kind(b))), cmp.Compare(a, b))
		})
		if k := d.kind(n); k == topology.RootComplex || k == topology.PCIeSwitch || k == topology.Socket {
			d.inner = max(d.inner, d.depth[n]+1)
		}
	}
}

// rankOf orders the children of a node: its branches, then GPUs, then NICs.
func rankOf(k topology.NodeKind) int {
	switch k {
	case topology.GPU:
		return 1
	case topology.NIC:
		return 2
	}
	return 0
}

func (d *detail) descend(queue []topology.NodeID) []topology.NodeID {
	for len(queue) > 0 {
		n := queue[0]
		queue = queue[1:]
		if k := d.kind(n); k == topology.GPU || k == topology.NIC || k == topology.HostMemory {
			continue
		}
		for _, l := range d.out[n] {
			to := d.g.Links[l].To
			if _, have := d.depth[to]; have || !d.in(to) || d.kind(to) == topology.NVSwitch || d.kind(to) == topology.Socket {
				continue
			}
			d.depth[to] = d.depth[n] + 1
			d.up[to] = n
			d.below[n] = append(d.below[n], to)
			queue = append(queue, to)
		}
	}
	return nil
}

// placeTree gives slots to the devices from left to right and sets what is
// above them over their middle.
func (d *detail) placeTree() {
	d.rowAt = make([]float64, d.inner+1)
	y := 0.0
	if d.inner > 0 {
		y = 22 // for arcs between CPUs
	}
	for i := range d.inner {
		d.rowAt[i] = y
		y += innerHigh + rowGap
	}
	d.gpuRow = y
	d.rowAt[d.inner] = y
	x := 0.0
	for _, r := range d.roots {
		x = d.branch(r, x) + d.branchGap
	}
	d.s.w = x - d.branchGap
	d.s.h = y + gpuHigh
}

// branch places a node and all below it from x on, and returns where it ends.
func (d *detail) branch(n topology.NodeID, x float64) float64 {
	kind := d.kind(n)
	switch kind {
	case topology.GPU:
		return d.put(n, x, d.gpuRow, d.gpuWide, gpuHigh)
	case topology.NIC:
		return d.put(n, x, d.gpuRow, d.nicWide, gpuHigh)
	case topology.HostMemory:
		if _, hangs := d.up[n]; !hangs {
			return d.put(n, x, d.gpuRow, memoryWide, gpuHigh)
		}
	}
	start, end := x, x
	var memories []topology.NodeID
	first := true
	for i, kid := range d.below[n] {
		if d.kind(kid) == topology.HostMemory {
			memories = append(memories, kid)
			continue
		}
		if !first {
			end += d.slotGap
			if len(d.below[kid]) > 0 || len(d.below[d.below[n][i-1]]) > 0 {
				end += d.branchGap - d.slotGap
			}
		}
		first = false
		end = d.branch(kid, end)
	}
	wide := innerWide
	if kind == topology.Socket {
		wide = socketWide + float64(len(memories))*(memoryWide+16)
	}
	if end-start < wide {
		d.shift(n, (wide-(end-start))/2)
		end = start + wide
	}
	mid := (start + end) / 2
	y := d.rowAt[d.depth[n]]
	left := mid - wide/2
	if kind != topology.Socket {
		d.put(n, left, y, innerWide, innerHigh)
		return end
	}
	if beside := wide - socketWide; end-start >= wide+beside { // room to stand in the middle
		left = mid - socketWide/2
		if d.side(n) < 0 {
			left -= beside
		}
	}
	if d.side(n) < 0 {
		for _, m := range memories {
			left = d.put(m, left, y, memoryWide, innerHigh) + 16
		}
	}
	left = d.put(n, left, y, socketWide, innerHigh)
	if d.side(n) > 0 {
		for _, m := range memories {
			left = d.put(m, left+16, y, memoryWide, innerHigh)
		}
	}
	return end
}

// side says where the memory of a CPU stands: on the left (-1) or the right of
// it. It is the outer side, so that neighbours can be joined straight.
func (d *detail) side(socket topology.NodeID) int {
	at, n := 0, 0
	for _, r := range d.roots {
		if d.kind(r) == topology.Socket {
			if r == socket {
				at = n
			}
			n++
		}
	}
	if 2*at < n {
		return -1
	}
	return 1
}

// shift moves all below a node to the right.
func (d *detail) shift(n topology.NodeID, by float64) {
	for _, kid := range d.below[n] {
		if b, ok := d.place[kid]; ok {
			b.x += by
			d.place[kid] = b
		}
		d.shift(kid, by)
	}
}

func (d *detail) put(n topology.NodeID, x, y, w, h float64) float64 {
	node := d.g.Nodes[n]
	d.place[n] = box{x: x, y: y, w: w, h: h, paint: paintOf(node.Kind), label: label(node), tip: node.Name, down: node.Down}
	d.order = append(d.order, n)
	return x + w
}

// placeSwitches sets the NVSwitches in rows below the GPUs, each tier by the
// middle of what it joins above.
func (d *detail) placeSwitches() {
	tier := map[topology.NodeID]int{}
	var rows [][]topology.NodeID
	above := []topology.NodeID{}
	for _, n := range d.units[d.unit].nodes {
		if d.kind(n) == topology.GPU {
			above = append(above, n)
		}
	}
	for len(above) > 0 {
		var row []topology.NodeID
		for _, n := range above {
			for _, l := range d.out[n] {
				to := d.g.Links[l].To
				if d.in(to) && d.kind(to) == topology.NVSwitch && tier[to] == 0 {
					tier[to] = len(rows) + 1
					row = append(row, to)
				}
			}
		}
		if len(row) > 0 {
			rows = append(rows, row)
		}
		above = row
	}
	y := d.gpuRow + gpuHigh + fanGap
	for _, row := range rows {
		d.switchRow(row, y)
		y += innerHigh + fanGap
	}
	if len(rows) > 0 {
		d.s.h = y - fanGap
	}
}

func (d *detail) switchRow(row []topology.NodeID, y float64) {
	slices.SortFunc(row, func(a, b topology.NodeID) int {
		return cmp.Or(cmp.Compare(round(d.middle(a)), round(d.middle(b))), cmp.Compare(a, b))
	})
	left, right := d.extent(topology.GPU)
	wide := min(128, (d.s.w+14)/float64(len(row))-14)
	if wide < 60 {
		wide = 60
	}
	step := wide + 14
	if len(row) > 1 {
		step = max(step, min(190, (right-left-wide)/float64(len(row)-1)))
	}
	total := step*float64(len(row)-1) + wide
	x := (left + right - total) / 2
	if x < 0 {
		x = 0
	}
	for _, n := range row {
		d.put(n, x, y, wide, innerHigh)
		b := d.place[n]
		b.sub = d.perGPU(n)
		d.place[n] = b
		x += step
	}
	d.s.w = max(d.s.w, x-step+wide)
}

// perGPU says how many links an NVSwitch has to each GPU, if to all the same.
func (d *detail) perGPU(n topology.NodeID) string {
	width := int32(0)
	for _, id := range d.out[n] {
		l := d.g.Links[id]
		if d.kind(l.To) != topology.GPU || l.Down {
			continue
		}
		if width != 0 && width != l.Width {
			return ""
		}
		width = l.Width
	}
	if width == 0 {
		return ""
	}
	return plural(int(width), "link") + " a GPU"
}

// extent returns where the boxes of a kind begin and end.
func (d *detail) extent(k topology.NodeKind) (left, right float64) {
	left, right = d.s.w, 0
	for _, n := range d.order {
		if d.kind(n) == k {
			b := d.place[n]
			left, right = min(left, b.x), max(right, b.x+b.w)
		}
	}
	return min(left, right), max(left, right)
}

// middle is the mean place of what is drawn and joined to a node by NVLink.
func (d *detail) middle(n topology.NodeID) float64 {
	sum, k := 0.0, 0
	for _, l := range d.out[n] {
		if b, ok := d.place[d.g.Links[l].To]; ok {
			sum += b.x + b.w/2
			k++
		}
	}
	return sum / float64(max(1, k))
}
