package chakra

import (
	"fmt"

	"github.com/weft-sim/weft/sim"
)

// Report says what an import made of its files.
type Report struct {
	Files   []FileReport
	Skipped []Skipped
	// World is the number of ranks and WorldFrom what gave it.
	World     int32
	WorldFrom string
	Copies    []Copy // ranks without a file

	// RecordedKernels are the kernels of the files that run as long as
	// recorded, on whatever GPU the machine has; nothing scales them.
	// ModelledKernels are those that a model of the GPU times. Kernels of ranks
	// without a file are not counted again.
	RecordedKernels, ModelledKernels int

	Kept     []Item // nodes that became operations, by kind
	Dropped  []Item // nodes that did not, by reason
	Repaired []Item // dependencies changed, by reason; counts are of dependencies
	// Ignored are the attributes that no import uses, with how often they
	// occur.
	Ignored  []Count
	Warnings []string
}

// FileReport is one file.
type FileReport struct {
	File    string
	Rank    int32
	Summary Summary
}

// Copy is a rank that does the work of another.
type Copy struct {
	Rank, Of int32
}

// Item adds up nodes (or dependencies) with one fate.
type Item struct {
	What  string // "collective all_reduce", "host operator"
	Why   string // of a drop or a repair
	Count int
	Bytes sim.Bytes // in the size convention of the trace
	Time  sim.Time  // recorded
}

// tally adds up items in order of first appearance.
type tally struct {
	items []Item
	at    map[[2]string]int
}

func (t *tally) add(what, why string, count int, bytes int64, d sim.Time) {
	if count == 0 {
		return
	}
	key := [2]string{what, why}
	i, ok := t.at[key]
	if !ok {
		if t.at == nil {
			t.at = map[[2]string]int{}
		}
		i = len(t.items)
		t.at[key] = i
		t.items = append(t.items, Item{What: what, Why: why})
	}
	t.items[i].Count += count
	t.items[i].Bytes += sim.Bytes(max(bytes, 0))
	t.items[i].Time = t.items[i].Time.Add(d)
}

// warnings are kept once each, in order.
type warnings struct {
	list []string
	seen map[string]bool
}

func (w *warnings) add(format string, args ...any) {
	s := fmt.Sprintf(format, args...)
	if w.seen[s] {
		return
	}
	if w.seen == nil {
		w.seen = map[string]bool{}
	}
	w.seen[s] = true
	w.list = append(w.list, s)
}
