package report

import (
	"fmt"
	"io"
	"strings"

	"github.com/weft-sim/weft/cmd/weft/internal/term"
	"github.com/weft-sim/weft/sim"
	"github.com/weft-sim/weft/topology/discover"
)

// Channels describes what NCCL's search for channels found: the orders in which
// rings and trees run through a node. It is no machine.
type Channels struct {
	Dump    *discover.Dump
	Version string
}

// patterns are the names of NCCL's patterns, by number.
var patterns = [...]string{"", "balanced tree", "split tree", "tree", "ring", "NVLS", "collnet direct"}

func pattern(n int) string {
	if n > 0 && n < len(patterns) {
		return patterns[n]
	}
	return fmt.Sprintf("pattern %d", n)
}

// Text writes the channels as sentences.
func (c *Channels) Text(w io.Writer, tm *term.Terminal) error {
	var b strings.Builder
	paragraph(&b, tm.Width, "", fmt.Sprintf("%s is an NCCL graph: the channels that NCCL's search found, %s. It holds no wires, so there is no machine in it; NCCL_TOPO_DUMP_FILE writes those.\n",
		tm.Bold(c.Dump.Source), Plural(len(c.Dump.Graphs), "graph")))
	for _, g := range c.Dump.Graphs {
		section(&b, tm, fmt.Sprintf("Graph %d, %s: %s", g.ID, pattern(g.Pattern), Plural(len(g.Channels), "channel")))
		if len(g.Channels) > 0 {
			paragraph(&b, tm.Width, "  ", fmt.Sprintf("each %s within a node (%s) and %s between nodes (%s)\n", Rate(g.Intra), g.TypeIntra, Rate(g.Inter), g.TypeInter))
		}
		for i, same := 0, 1; i < len(g.Channels); i += same {
			order := stops(g.Channels[i])
			for same = 1; i+same < len(g.Channels) && stops(g.Channels[i+same]) == order; same++ {
			}
			head := fmt.Sprintf("  channel %d: ", i)
			if same > 1 {
				head = fmt.Sprintf("  channels %d to %d: ", i, i+same-1)
			}
			paragraph(&b, tm.Width, head, order+"\n")
		}
	}
	var notes []string
	for _, n := range c.Dump.Notes {
		notes = append(notes, n.String())
	}
	cautions(&b, tm, notes)
	_, err := io.WriteString(w, b.String())
	return err
}

// stops prints the order of a channel.
func stops(c discover.Channel) string {
	var parts []string
	for _, s := range c {
		name := fmt.Sprintf("GPU %d", s.Dev)
		if s.NIC {
			name = fmt.Sprintf("NIC %d", s.Dev)
		}
		if s.Host > 0 {
			name += fmt.Sprintf(" of host %d", s.Host)
		}
		parts = append(parts, name)
	}
	return strings.Join(parts, " > ")
}

type channelsDocument struct {
	Source  string          `json:"source"`
	Format  string          `json:"file_format"`
	Graphs  []graphDocument `json:"graphs"`
	Notes   []string        `json:"notes"`
	Version string          `json:"weft_version"`
}

type graphDocument struct {
	ID       int        `json:"id"`
	Pattern  string     `json:"pattern"`
	Intra    sim.Rate   `json:"intra_bytes_per_s"`
	Inter    sim.Rate   `json:"inter_bytes_per_s"`
	TypeIn   string     `json:"type_intra"`
	TypeOut  string     `json:"type_inter"`
	Channels [][]string `json:"channels"`
}

// JSON writes the channels as one document.
func (c *Channels) JSON(w io.Writer) error {
	doc := channelsDocument{Source: c.Dump.Source, Format: string(c.Dump.Format), Notes: []string{}, Version: c.Version}
	for _, n := range c.Dump.Notes {
		doc.Notes = append(doc.Notes, n.String())
	}
	for _, g := range c.Dump.Graphs {
		d := graphDocument{ID: g.ID, Pattern: pattern(g.Pattern), Intra: g.Intra, Inter: g.Inter, TypeIn: g.TypeIntra, TypeOut: g.TypeInter, Channels: [][]string{}}
		for _, ch := range g.Channels {
			d.Channels = append(d.Channels, strings.Split(stops(ch), " > "))
		}
		doc.Graphs = append(doc.Graphs, d)
	}
	return WriteJSON(w, doc)
}
