package sim

import (
	"fmt"
	"slices"
	"strings"
)

// Wait says that one participant cannot go on before another does something.
type Wait struct {
	Who, On string // as people call them: "rank 3"
	Why     string // what is missing: "recv of 4MiB, tag 7"
	// WhoID and OnID name the participants in the search for a circle. A
	// negative one is outside the search.
	WhoID, OnID int32
}

func (w Wait) String() string {
	s := w.Who + " waits for " + w.On
	if w.Why != "" {
		s += ": " + w.Why
	}
	return s
}

// DeadlockError reports that nothing is left to happen while somebody waits.
type DeadlockError struct {
	At    Time
	Waits []Wait
}

// reportLines is how many waits an error prints before it only counts.
const reportLines = 10

// Error prints the waits that form a circle, if some do, and else the first
// ones.
func (d *DeadlockError) Error() string {
	lines := d.Cycle()
	var b strings.Builder
	fmt.Fprintf(&b, "simulate: deadlock at %v: nothing is left to happen, and %s", d.At, count(len(d.Waits), "wait is", "waits are"))
	if lines != nil {
		b.WriteString(" unmet, in a circle:")
	} else {
		lines = d.Waits
		b.WriteString(" unmet:")
	}
	for i, w := range lines {
		if i == reportLines {
			fmt.Fprintf(&b, "\n  and %d more", len(lines)-i)
			break
		}
		b.WriteString("\n  " + w.String())
	}
	return b.String()
}

// Cycle returns waits of which each is on the next one's participant and the
// last on the first one's, or nil if there is no such circle. Of several it is
// the first that a depth-first walk in the order of Waits meets.
func (d *DeadlockError) Cycle() []Wait {
	// edges are the waits sorted by who waits, in their order.
	edges := make([]int32, 0, len(d.Waits))
	for i, w := range d.Waits {
		if w.WhoID >= 0 && w.OnID >= 0 {
			edges = append(edges, int32(i))
		}
	}
	slices.SortStableFunc(edges, func(a, b int32) int {
		return int(d.Waits[a].WhoID) - int(d.Waits[b].WhoID)
	})
	from := func(id int32) int {
		i, _ := slices.BinarySearchFunc(edges, id, func(e, id int32) int {
			return int(d.Waits[e].WhoID) - int(id)
		})
		return i
	}

	// The walk keeps, for each participant on the path, its next edge to try.
	const onPath, done = 1, 2
	state := make(map[int32]uint8, len(edges))
	type step struct {
		id   int32
		edge int
	}
	for _, w := range d.Waits {
		if w.WhoID < 0 || w.OnID < 0 || state[w.WhoID] != 0 {
			continue
		}
		path := []step{{w.WhoID, from(w.WhoID)}}
		state[w.WhoID] = onPath
		for len(path) > 0 {
			top := &path[len(path)-1]
			if top.edge == len(edges) || d.Waits[edges[top.edge]].WhoID != top.id {
				state[top.id] = done
				path = path[:len(path)-1]
				continue
			}
			on := d.Waits[edges[top.edge]].OnID
			top.edge++
			switch state[on] {
			case 0:
				state[on] = onPath
				path = append(path, step{on, from(on)})
			case onPath:
				start := slices.IndexFunc(path, func(s step) bool { return s.id == on })
				var cycle []Wait
				for _, s := range path[start:] {
					cycle = append(cycle, d.Waits[edges[s.edge-1]])
				}
				return cycle
			}
		}
	}
	return nil
}

// LivelockError reports an instant that went round too often: its
// participants keep scheduling for the same instant.
type LivelockError struct {
	At     Time
	Rounds int
	Active []string // who received events in the last rounds, in order of target number
	More   int      // how many others did
}

func (l *LivelockError) Error() string {
	s := fmt.Sprintf("simulate: livelock at %v: the instant went round more than %d times without time moving on; still active: %s",
		l.At, l.Rounds, strings.Join(l.Active, ", "))
	if l.More > 0 {
		s += fmt.Sprintf(" and %d more", l.More)
	}
	return s
}

// watchedRounds is how many rounds before the limit the activity is noted.
const watchedRounds = 64

// activity is the set of targets active in the watched rounds.
type activity struct{ targets []int32 }

func (a *activity) note(round []Event) {
	for _, ev := range round {
		if i, found := slices.BinarySearch(a.targets, ev.Target); !found {
			a.targets = slices.Insert(a.targets, i, ev.Target)
		}
	}
}

func (e *Engine) livelock(rounds int, a activity) error {
	l := &LivelockError{At: e.q.last, Rounds: rounds}
	for i, t := range a.targets {
		if i == reportLines {
			l.More = len(a.targets) - i
			break
		}
		l.Active = append(l.Active, e.name(t))
	}
	return l
}

func count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}
