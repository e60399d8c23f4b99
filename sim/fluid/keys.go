package fluid

// key is the level at which a link, or the limit of flow ^id, is full.
type key struct {
	level int64
	id    int32
}

// keyHeap is a binary heap by level. Ties need no order: all keys of a level
// are taken together.
type keyHeap []key

func (h keyHeap) init() {
	for i := len(h)/2 - 1; i >= 0; i-- {
		h.down(i)
	}
}

// pop removes the least key.
func (h *keyHeap) pop() {
	k := *h
	n := len(k) - 1
	k[0] = k[n]
	*h = k[:n]
	if n > 1 {
		k[:n].down(0)
	}
}

// raise sets the level of the least key.
func (h keyHeap) raise(level int64) {
	h[0].level = level
	h.down(0)
}

func (h keyHeap) down(i int) {
	x := h[i]
	for {
		c := 2*i + 1
		if c >= len(h) {
			break
		}
		if c+1 < len(h) && h[c+1].level < h[c].level {
			c++
		}
		if h[c].level >= x.level {
			break
		}
		h[i] = h[c]
		i = c
	}
	h[i] = x
}
