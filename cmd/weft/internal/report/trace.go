package report

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/weft-sim/weft/cmd/weft/internal/term"
	"github.com/weft-sim/weft/sim"
	"github.com/weft-sim/weft/workloads"
	"github.com/weft-sim/weft/workloads/trace/chakra"
)

// Trace says what is in a recorded workload and what the import made of it.
type Trace struct {
	Name    string
	Files   []chakra.FileReport
	Skipped []chakra.Skipped
	// Program and Import are nil where the files could be read but not made
	// into a program; Problem then says why.
	Program *workloads.Program
	Import  *chakra.Report
	Problem error
	// Cut says which files end inside a record. An import repeats it in its
	// warnings.
	Cut     []string
	Version string
}

// warnings returns what a reader of the page must know.
func (t *Trace) warnings() []string {
	if t.Import != nil {
		return t.Import.Warnings
	}
	return t.Cut
}

// alike is a run of files with equal contents, as far as a summary tells.
type alike struct {
	first, last int32
	files       int
	file        chakra.FileReport
}

func (t *Trace) alike() []alike {
	var out []alike
	for _, f := range t.Files {
		key := fingerprint(f.Summary)
		if n := len(out); n > 0 && fingerprint(out[n-1].file.Summary) == key && out[n-1].last == f.Rank-1 {
			out[n-1].last = f.Rank
			out[n-1].files++
			continue
		}
		out = append(out, alike{f.Rank, f.Rank, 1, f})
	}
	return out
}

// fingerprint is what must agree for two files to share a row.
func fingerprint(s chakra.Summary) string {
	sends, sendBytes := sent(s, chakra.CommSend)
	receives, receiveBytes := sent(s, chakra.CommRecv)
	return fmt.Sprint(s.Schema, s.Nodes, s.Types, s.Collectives, s.DurationMicros, s.NumOps, sends, sendBytes, receives, receiveBytes)
}

// sent adds up the sends, or the receives, of a file.
func sent(s chakra.Summary, kind chakra.NodeType) (count int, bytes int64) {
	for _, p := range s.P2P {
		if p.Type == kind {
			count += p.Count
			bytes += p.Bytes * int64(p.Count)
		}
	}
	return count, bytes
}

// Text writes the page for people.
func (t *Trace) Text(w io.Writer, tm *term.Terminal) error {
	var b strings.Builder
	of := ""
	if t.Import != nil {
		of = fmt.Sprintf(", %s (from %s)", Plural(int(t.Import.World), "rank"), t.Import.WorldFrom)
	}
	paragraph(&b, tm.Width, "", fmt.Sprintf("%s: Chakra trace, %s%s\n", tm.Bold(t.Name), Plural(len(t.Files), "file"), of))
	t.files(&b, tm)
	if t.Program != nil {
		t.program(&b, tm)
	}
	if t.Import != nil {
		fates(&b, tm, "Kept", "as", t.Import.Kept)
		fates(&b, tm, "Dropped", "because", t.Import.Dropped)
		fates(&b, tm, "Repaired dependencies", "because", t.Import.Repaired)
		if copies := t.Import.Copies; len(copies) > 0 {
			paragraph(&b, tm.Width, "\n", copied(copies)+".\n")
		}
		if len(t.Import.Ignored) > 0 {
			section(&b, tm, "Attributes that no import uses")
			tb := NewTable(Left("attribute"), Right("times")).Within(tm.Width)
			for _, c := range t.Import.Ignored {
				tb.Add(c.Name, Count(int64(c.N)))
			}
			b.WriteString(tb.String())
		}
	}
	if len(t.Skipped) > 0 {
		section(&b, tm, "Files not read")
		tb := NewTable(Left("file"), Words("why")).Within(tm.Width)
		for _, s := range t.Skipped {
			tb.Add(s.File, s.Why)
		}
		b.WriteString(tb.String())
	}
	cautions(&b, tm, t.warnings())
	_, err := io.WriteString(w, b.String())
	return err
}

// copied says which ranks do the work of which.
func copied(copies []chakra.Copy) string {
	first, last := copies[0], copies[len(copies)-1]
	if len(copies) == 1 {
		return fmt.Sprintf("1 rank without a file does what another does: rank %d copies rank %d", first.Rank, first.Of)
	}
	return fmt.Sprintf("%s without a file do what another does: rank %d copies rank %d, and so on to rank %d, which copies rank %d",
		Plural(len(copies), "rank"), first.Rank, first.Of, last.Rank, last.Of)
}

// files prints a row for each kind of file.
func (t *Trace) files(b *strings.Builder, tm *term.Terminal) {
	section(b, tm, "Files, as stored")
	tb := NewTable(Left("ranks"), Left("schema").Or(1), Right("nodes"), Right("compute"), Right("recorded time"), Right("collectives"),
		Right("their bytes"), Right("sends").Or(2), Right("receives").Or(3), Right("dangling deps"), Right("behind cycles")).Within(tm.Width)
	for _, a := range t.alike() {
		s := a.file.Summary
		ranks := strconv.Itoa(int(a.first))
		if a.last > a.first {
			ranks += " to " + strconv.Itoa(int(a.last))
		}
		colls, bytes := 0, int64(0)
		for _, c := range s.Collectives {
			colls += c.Count
			bytes += c.Bytes
		}
		sends, _ := sent(s, chakra.CommSend)
		receives, _ := sent(s, chakra.CommRecv)
		tb.Add(ranks, s.Schema.String(), Count(int64(s.Nodes)), some(typeCount(s, chakra.Comp)), duration(s.DurationMicros),
			some(colls), someVolume(bytes), some(sends), some(receives), some(s.CtrlDangling+s.DataDangling), some(s.Blocked))
	}
	b.WriteString(tb.String())
}

func typeCount(s chakra.Summary, kind chakra.NodeType) int {
	for _, c := range s.Types {
		if c.Name == kind.String() {
			return c.N
		}
	}
	return 0
}

// some prints a count, or nothing for none.
func some(n int) string {
	if n == 0 {
		return ""
	}
	return Count(int64(n))
}

func someVolume(bytes int64) string {
	if bytes == 0 {
		return ""
	}
	return Volume(float64(bytes))
}

func duration(micros int64) string {
	if micros == 0 {
		return ""
	}
	return Duration(sim.Time(micros) * sim.Microsecond)
}

// program prints the groups and the communication of the job.
func (t *Trace) program(b *strings.Builder, tm *term.Terminal) {
	if len(t.Program.Comms) > 0 {
		section(b, tm, "Groups")
		tb := NewTable(Left("group"), Left("dim"), Right("groups"), Right("ranks each"), Words("for example")).Within(tm.Width)
		for _, c := range t.Program.Comms {
			tb.Add(c.Name, c.Dim.String(), Count(int64(len(c.Groups))), groupSizes(c), members(c.Groups[0]))
		}
		b.WriteString(tb.String())
	}
	if uses := Communication(t.Program); len(uses) > 0 {
		section(b, tm, "Communication of the whole job")
		tb := NewTable(Left("operation"), Left("group"), Right("ranks"), Right("times"), Right("size")).Within(tm.Width)
		for i, u := range uses {
			if i == mostUses {
				fmt.Fprintf(b, "%s  and %s; --format json has all\n", tb.String(), Plural(len(uses)-i, "more kind"))
				return
			}
			tb.Add(u.Op, u.Group, some(u.Ranks), Count(int64(u.Count)), Size(u.Bytes))
		}
		b.WriteString(tb.String())
	}
}

const mostUses = 24

// members prints the ranks of a group, the first of many.
func members(ranks []int32) string {
	const most = 8
	var parts []string
	for i, r := range ranks {
		if i == most {
			return strings.Join(parts, " ") + " ..."
		}
		parts = append(parts, strconv.Itoa(int(r)))
	}
	return strings.Join(parts, " ")
}

func groupSizes(c workloads.Comm) string {
	low, high := len(c.Groups[0]), len(c.Groups[0])
	for _, g := range c.Groups {
		low, high = min(low, len(g)), max(high, len(g))
	}
	if low == high {
		return strconv.Itoa(low)
	}
	return fmt.Sprintf("%d to %d", low, high)
}

// CommUse adds up equal communication of a program.
type CommUse struct {
	Op    string
	Group string // "" for sends
	Ranks int    // of a group, 0 for sends
	Bytes sim.Bytes
	Count int // over all groups
}

// Communication adds up the collectives and sends of a program, in order of
// first appearance.
func Communication(p *workloads.Program) []CommUse {
	type key struct {
		op    string
		comm  int32
		size  int
		bytes sim.Bytes
	}
	at := map[key]int{}
	var out []CommUse
	calls := []int{}
	sizes := make([][]int, len(p.Comms)) // of the group of each rank
	for i, c := range p.Comms {
		sizes[i] = make([]int, p.World)
		for _, g := range c.Groups {
			for _, r := range g {
				sizes[i][r] = len(g)
			}
		}
	}
	add := func(k key, use CommUse, n int) {
		i, ok := at[k]
		if !ok {
			i = len(out)
			at[k] = i
			out = append(out, use)
			calls = append(calls, 0)
		}
		calls[i] += n
	}
	for i := range p.Classes {
		c := &p.Classes[i]
		for j := range c.Ops {
			switch o := &c.Ops[j]; o.Kind {
			case workloads.Collective:
				for _, r := range c.Ranks {
					n := sizes[o.Comm][r]
					add(key{o.Coll.String(), o.Comm, n, o.Bytes},
						CommUse{Op: o.Coll.String(), Group: p.Comms[o.Comm].Name, Ranks: n, Bytes: o.Bytes}, 1)
				}
			case workloads.Send:
				add(key{op: "send", bytes: o.Bytes}, CommUse{Op: "send", Bytes: o.Bytes}, len(c.Ranks))
			}
		}
	}
	for i := range out {
		out[i].Count = calls[i] / max(out[i].Ranks, 1)
	}
	return out
}

func fates(b *strings.Builder, tm *term.Terminal, title, why string, items []chakra.Item) {
	if len(items) == 0 {
		return
	}
	section(b, tm, title)
	tb := NewTable(Left("what"), Right("count"), Right("bytes"), Right("recorded time"), Words(why)).Within(tm.Width)
	for _, i := range items {
		recorded := ""
		if i.Time > 0 {
			recorded = Duration(i.Time)
		}
		tb.Add(i.What, Count(int64(i.Count)), someVolume(int64(i.Bytes)), recorded, i.Why)
	}
	b.WriteString(tb.String())
}
