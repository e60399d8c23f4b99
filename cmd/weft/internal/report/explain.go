package report

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/weft-sim/weft/cmd/weft/internal/term"
	"github.com/weft-sim/weft/sim"
)

// Explain is what NCCL chooses for one message, and why.
type Explain struct {
	Op          string // as nccl-tests calls it: "all_reduce"
	System      string
	Size        sim.Bytes
	GPUs, Nodes int
	NCCL        string // the release
	Constants   string // the release that its constants were read at
	Env         []string
	Graphs      []ExplainGraph
	Rows        []ExplainRow // in NCCL's order
	Channels    int          // of what was chosen
	Crossovers  []ExplainCrossover
	Ceiling     []string // sentences
	Simulated   sim.Time // by weft: a ring with Simple
	Version     string
	Warnings    []string
}

// ExplainRow is an algorithm with a protocol. What is off has no figures.
type ExplainRow struct {
	Algorithm, Protocol string
	Off                 string // why NCCL does not consider it
	Latency             float64
	Bandwidth           float64 // GB/s of the message, without its size
	Time                float64 // us, by NCCL
	BusBW               float64 // GB/s at that time
	Wire                float64 // bytes that the busiest GPU sends
	Chosen              bool
}

// ExplainCrossover is a size from which NCCL runs something else.
type ExplainCrossover struct {
	From                sim.Bytes
	Algorithm, Protocol string
	Time                float64 // us at that size, by NCCL
	Channels            int
}

// ExplainGraph is the channels that NCCL's search finds.
type ExplainGraph struct {
	Name         string // "ring"
	Channels     int
	Intra, Inter float64 // GB/s of a channel
}

// chosen returns the row that NCCL runs, and the next best of those that it
// considers, if there is one.
func (e *Explain) chosen() (best ExplainRow, next *ExplainRow) {
	for i, r := range e.Rows {
		switch {
		case r.Off != "":
		case r.Chosen:
			best = r
		case next == nil || r.Time < next.Time:
			next = &e.Rows[i]
		}
	}
	return best, next
}

// Text writes the answer for people.
func (e *Explain) Text(w io.Writer, t *term.Terminal) error {
	out := bufio.NewWriter(w)
	defer out.Flush()
	paragraphs := func(head string, sentences ...string) {
		var b strings.Builder
		for _, s := range sentences {
			paragraph(&b, t.Width, head, s)
			b.WriteByte('\n')
		}
		out.WriteString(b.String())
	}
	best, next := e.chosen()
	why := "nothing else is considered"
	if next != nil {
		why = fmt.Sprintf("of what it considers, that has the least predicted time; %s with %s comes next, with %s", next.Algorithm, next.Protocol, micros(next.Time))
	}
	paragraphs("", fmt.Sprintf("NCCL %s runs %s of %s on %s (%s, %s) as %s with %s over %s and predicts %s: %s.",
		e.NCCL, e.Op, Size(e.Size), e.System, Plural(e.GPUs, "GPU"), Plural(e.Nodes, "node"), best.Algorithm, best.Protocol, Plural(e.Channels, "channel"), micros(best.Time), why))
	paragraphs("", "Its times are its own prediction, made to choose between algorithms. They are not a measurement, and not weft's simulation.")
	if len(e.Env) > 0 {
		paragraphs("", "With "+strings.Join(e.Env, " ")+".")
	}
	out.WriteString("\n" + e.table(t.Width))
	if e.Simulated > 0 {
		out.WriteByte('\n')
		paragraphs("", fmt.Sprintf("weft simulates a ring with Simple so far, and without NCCL's start-up: %s.", Duration(e.Simulated)))
	}
	paragraphs("\nCeiling of the wires\n  ", e.Ceiling[0])
	paragraphs("  ", e.Ceiling[1:]...)
	out.WriteString("\nFrom which size\n" + e.crossovers(t.Width))
	out.WriteString("\nChannels that NCCL's search finds; rings and trees run two for each\n" + e.graphs(t.Width))
	if len(e.Warnings) > 0 {
		out.WriteString("\nBe careful\n")
		paragraphs("  ! ", e.Warnings...)
	}
	return out.Flush()
}

func (e *Explain) table(width int) string {
	t := NewTable(Left(""), Left("algorithm"), Left("protocol"), Right("NCCL predicts"), Right("busbw"), Right("sent by a GPU").Or(1), Words("why not")).Within(width)
	for _, r := range e.Rows {
		if r.Off != "" {
			continue
		}
		mark := ""
		if r.Chosen {
			mark = ">"
		}
		t.Add(mark, r.Algorithm, r.Protocol, micros(r.Time), Figure(r.BusBW)+" GB/s", Volume(r.Wire))
	}
	// Protocols of an algorithm that are off for one reason are one line; what
	// an algorithm never runs is said only of those that are considered.
	for i := 0; i < len(e.Rows); {
		j := i
		for j < len(e.Rows) && e.Rows[j].Algorithm == e.Rows[i].Algorithm {
			j++
		}
		group := e.Rows[i:j]
		i = j
		var off []ExplainRow
		for _, r := range group {
			if r.Off != "" {
				off = append(off, r)
			}
		}
		if last := group[len(group)-1]; len(off) == len(group) && last.Off != off[0].Off && off[0].Off == off[1].Off {
			off = []ExplainRow{last}
		}
		for len(off) > 0 {
			n := slices.IndexFunc(off, func(r ExplainRow) bool { return r.Off != off[0].Off })
			if n < 0 {
				n = len(off)
			}
			var names []string
			for _, r := range off[:n] {
				names = append(names, r.Protocol)
			}
			name := strings.Join(names, ", ")
			if n == len(group) {
				name = "any"
			}
			t.Add("", off[0].Algorithm, name, "-", "", "", off[0].Off)
			off = off[n:]
		}
	}
	return t.String()
}

func (e *Explain) crossovers(width int) string {
	t := NewTable(Right("from"), Left("algorithm"), Left("protocol"), Right("channels"), Right("NCCL predicts there")).Within(width)
	for _, c := range e.Crossovers {
		t.Add(Size(c.From), c.Algorithm, c.Protocol, strconv.Itoa(c.Channels), micros(c.Time))
	}
	return t.String()
}

func (e *Explain) graphs(width int) string {
	t := NewTable(Left("graph"), Right("channels"), Right("within a node"), Right("between nodes")).Within(width)
	for _, g := range e.Graphs {
		between := ""
		if e.Nodes > 1 {
			between = Figure(g.Inter) + " GB/s each"
		}
		t.Add(g.Name, strconv.Itoa(g.Channels), Figure(g.Intra)+" GB/s each", between)
	}
	return t.String()
}

// micros prints a time that NCCL counts in microseconds.
func micros(us float64) string { return Duration(sim.Time(us * 1e6)) }
