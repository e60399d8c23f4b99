package fluid

import (
	"math/bits"
	"slices"
)

// hop is one link of a flow's path.
type hop struct {
	link   int32
	weight int32
	pos    int32 // of its use in the useStore
}

// hopStore keeps the hops of all flows in one array. A flow has a contiguous
// block of a power of two; free blocks of a size are chained through the link
// of their first hop.
type hopStore struct {
	at   []hop
	free [32]int32
}

func (s *hopStore) init() {
	for i := range s.free {
		s.free[i] = none
	}
}

// class is the size class of a block for n hops: it has 1<<class of them.
func class(n int) int {
	if n <= 1 {
		return 0
	}
	return bits.Len(uint(n - 1))
}

func (s *hopStore) alloc(n int) int32 {
	if n == 0 {
		return 0
	}
	c := class(n)
	if b := s.free[c]; b != none {
		s.free[c] = s.at[b].link
		return b
	}
	b := len(s.at)
	s.at = extend(s.at, 1<<c)
	return int32(b)
}

func (s *hopStore) release(b int32, n int) {
	if n == 0 {
		return
	}
	c := class(n)
	s.at[b].link = s.free[c]
	s.free[c] = b
}

// shrink moves the first n hops of a block made for more to a smaller one.
func (s *hopStore) shrink(b int32, had, n int) int32 {
	small := s.alloc(n)
	copy(s.at[small:], s.at[b:int(b)+n])
	s.release(b, had)
	return small
}

func (s *hopStore) reserve(n int) { s.at = reserve(s.at, n) }

// use is one flow of a link.
type use struct {
	flow int32
	hop  int32 // index in the hopStore
}

// blockLen uses share a block.
const (
	blockBits = 4
	blockLen  = 1 << blockBits
)

// useStore keeps the uses of all links in blocks of one size, chained per link,
// in which all but the last are full. Compared with a slice per link nothing is
// copied and no garbage left as a link gains flows.
type useStore struct {
	at         []use
	next, prev []int32 // of a block
	free       int32
}

func (s *useStore) init() { s.free = none }

func (s *useStore) reserve(n int) {
	blocks := (n + blockLen - 1) / blockLen
	s.at = reserve(s.at, blocks*blockLen)
	s.next = reserve(s.next, blocks)
	s.prev = reserve(s.prev, blocks)
}

// last returns the newest use of a link.
func (s *useStore) last(lk *link) (use, bool) {
	if lk.n == 0 {
		return use{}, false
	}
	return s.at[lk.tail<<blockBits|(lk.n-1)&(blockLen-1)], true
}

// push appends a use to a link and returns its position.
func (s *useStore) push(lk *link, u use) int32 {
	off := lk.n & (blockLen - 1)
	if off == 0 {
		b := s.free
		if b != none {
			s.free = s.next[b]
		} else {
			b = int32(len(s.next))
			s.next = append(s.next, none)
			s.prev = append(s.prev, none)
			s.at = extend(s.at, blockLen)
		}
		s.next[b], s.prev[b] = none, lk.tail
		if lk.n == 0 {
			lk.head, s.prev[b] = b, none
		} else {
			s.next[lk.tail] = b
		}
		lk.tail = b
	}
	lk.n++
	pos := lk.tail<<blockBits | off
	s.at[pos] = u
	return pos
}

// remove takes a use away by moving the link's last one to its place. If one
// moved, its hop is returned: its position is now pos.
func (s *useStore) remove(lk *link, pos int32) (moved int32, ok bool) {
	lk.n--
	off := lk.n & (blockLen - 1)
	last := lk.tail<<blockBits | off
	if pos != last {
		u := s.at[last]
		s.at[pos] = u
		moved, ok = u.hop, true
	}
	if off == 0 {
		b := lk.tail
		lk.tail = s.prev[b]
		s.next[b] = s.free
		s.free = b
	}
	return moved, ok
}

// extend lengthens s by n elements, which may hold old values.
func extend[T any](s []T, n int) []T {
	return slices.Grow(s, n)[:len(s)+n]
}

// reserve makes room for n elements in all.
func reserve[T any](s []T, n int) []T {
	if n > cap(s) {
		s = append(make([]T, 0, n), s...)
	}
	return s
}
