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
	Launch      string   // how the host starts kernels
	Wires       []ExplainWire
	Parts       []ExplainPart // of the time that weft finds for what is chosen
	// Bottleneck is the link that what was chosen keeps busiest, and how much of
	// its time it carries bytes.
	Bottleneck    string
	BottleneckUse float64
	Version       string
	Warnings      []string
}

// ExplainRow is an algorithm with a protocol. What is off has no figures.
type ExplainRow struct {
	Algorithm, Protocol string
	Off                 string // why NCCL does not consider it
	Latency             float64
	Bandwidth           float64 // GB/s of the message, without its size
	Time                float64 // us, by NCCL
	BusBW               float64 // GB/s at that time
	Wire                float64 // bytes that a GPU sends, in the mean
	Simulated           sim.Time
	Bare                sim.Time // by the wires alone
	Chosen              bool
}

// ExplainPart is a part of a time, and what it is for.
type ExplainPart struct {
	What string
	Time sim.Time
}

// ExplainWire is what a class of links carries of the message.
type ExplainWire struct {
	Class       string
	Links       int
	Bytes       float64 // of all links, both directions
	Utilisation float64 // of rate x time: mean, and of the busiest
	Peak        float64
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
	paragraphs("", fmt.Sprintf("weft simulates it and finds %s, %s GB/s of bus bandwidth (launch: %s). %s", Duration(best.Simulated), Figure(e.bus(best)), e.Launch, e.quicker(best)))
	if len(e.Env) > 0 {
		paragraphs("", "With "+strings.Join(e.Env, " ")+".")
	}
	out.WriteString("\n" + e.table(t.Width))
	paragraphs("", "NCCL's times are its own prediction, made to choose between ways; weft's are simulated.")
	if len(e.Parts) > 0 {
		out.WriteString("\nWhat takes the time of what is chosen\n" + e.parts(best, t.Width))
		paragraphs("", e.unavoidable())
	}
	if len(e.Wires) > 0 {
		out.WriteString("\nWhat is chosen puts on the wires\n" + e.wires(t.Width))
		if e.Bottleneck != "" {
			paragraphs("", fmt.Sprintf("The busiest link is %s, which carries bytes %s of the time.", e.Bottleneck, Percent(e.BottleneckUse)))
		}
	}
	out.WriteString("\nCeiling of the wires\n")
	paragraphs("  ", e.Ceiling...)
	out.WriteString("\nFrom which size\n" + e.crossovers(t.Width))
	out.WriteString("\nChannels that NCCL's search finds; rings and trees run two for each\n" + e.graphs(t.Width))
	if len(e.Warnings) > 0 {
		out.WriteString("\nBe careful\n")
		paragraphs("  ! ", e.Warnings...)
	}
	return out.Flush()
}

func (e *Explain) table(width int) string {
	t := NewTable(Left(""), Left("algorithm"), Left("protocol"), Right("NCCL predicts"), Right("weft finds"), Right("busbw"), Right("sent by a GPU").Or(1), Words("why not")).Within(width)
	for _, r := range e.Rows {
		if r.Off != "" {
			continue
		}
		mark := ""
		if r.Chosen {
			mark = ">"
		}
		t.Add(mark, r.Algorithm, r.Protocol, micros(r.Time), Duration(r.Simulated), Figure(e.bus(r))+" GB/s", Volume(r.Wire))
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
			t.Add("", off[0].Algorithm, name, "-", "-", "", "", off[0].Off)
			off = off[n:]
		}
	}
	return t.String()
}

// bus is the bus bandwidth of a row in weft's simulation, GB/s: NCCL's own
// bandwidth says how its time turns into that of the bus.
func (e *Explain) bus(r ExplainRow) float64 {
	if r.Simulated <= 0 {
		return 0
	}
	return r.BusBW * r.Time / r.Simulated.Microseconds()
}

// quicker says whether weft finds another way faster than the chosen one.
func (e *Explain) quicker(best ExplainRow) string {
	least := best
	for _, r := range e.Rows {
		if r.Off == "" && r.Simulated > 0 && r.Simulated < least.Simulated {
			least = r
		}
	}
	switch gain := 1 - float64(least.Simulated)/float64(best.Simulated); {
	case least == best:
		return "It finds nothing faster."
	case gain < 0.05:
		return fmt.Sprintf("%s with %s is as good: within %s.", least.Algorithm, least.Protocol, Percent(gain))
	default:
		return fmt.Sprintf("%s with %s would be faster by %s: NCCL's formula does not see that.", least.Algorithm, least.Protocol, Percent(gain))
	}
}

func (e *Explain) parts(best ExplainRow, width int) string {
	t := NewTable(Right("time"), Right("share"), Words("what")).Within(width)
	for _, p := range e.Parts {
		t.Add(Duration(p.Time), Percent(float64(p.Time)/float64(best.Simulated)), p.What)
	}
	return t.String()
}

// unavoidable says what no setting of NCCL's avoids.
func (e *Explain) unavoidable() string {
	var least ExplainRow
	for _, r := range e.Rows {
		if r.Off == "" && r.Bare > 0 && (least.Bare == 0 || r.Bare < least.Bare) {
			least = r
		}
	}
	return fmt.Sprintf("No setting avoids %s: of all ways that NCCL considers, %s with %s needs the wires least long.", Duration(least.Bare), least.Algorithm, least.Protocol)
}

func (e *Explain) wires(width int) string {
	t := NewTable(Left("links"), Right("how many"), Right("bytes, both ways"), Right("busy, mean"), Right("busy, most")).Within(width)
	for _, w := range e.Wires {
		t.Add(w.Class, Count(int64(w.Links)), Volume(w.Bytes), Percent(w.Utilisation), Percent(w.Peak))
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
