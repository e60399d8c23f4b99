package report

import (
	"fmt"
	"io"
	"strings"

	"github.com/weft-sim/weft/cmd/weft/internal/term"
	"github.com/weft-sim/weft/configs"
	"github.com/weft-sim/weft/workloads"
)

// Check says what a scenario resolves to, and where each value comes from.
type Check struct {
	Name     string
	System   string
	Settings []configs.Setting
	Job      *configs.Job
	Version  string
}

// operations counts the operations that the ranks run, by kind.
func (c *Check) operations() (computes, collectives, messages int) {
	for i := range c.Job.Program.Classes {
		class := &c.Job.Program.Classes[i]
		for j := range class.Ops {
			switch class.Ops[j].Kind {
			case workloads.Compute, workloads.Copy, workloads.Delay:
				computes += len(class.Ranks)
			case workloads.Collective:
				collectives += len(class.Ranks)
			default:
				messages += len(class.Ranks)
			}
		}
	}
	return computes, collectives, messages
}

// Text writes the page for people.
func (c *Check) Text(w io.Writer, t *term.Terminal) error {
	var b strings.Builder
	m, p := c.Job.Machine, c.Job.Program
	computes, collectives, messages := c.operations()
	fmt.Fprintf(&b, "%s is right.\n", t.Bold(c.Name))
	fmt.Fprintf(&b, "Machine: %s, %s on %s, %s network.\n", c.System, Plural(len(m.Ranks), "GPU"), Plural(int(m.Hosts), "node"), c.Job.Options.Model)
	fmt.Fprintf(&b, "Program: %s in %s of equal work; together they compute %s times, join %s and send or receive %s.\n",
		Plural(int(p.World), "rank"), Plural(len(p.Classes), "class"), Count(int64(computes)),
		Plural(collectives, "collective"), Plural(messages, "message"))
	if p.PlaceNote != "" {
		fmt.Fprintf(&b, "Placement: %s\n", p.PlaceNote)
	}

	section(&b, t, "Settings, and what set them")
	tb := NewTable(Left("setting"), Left("value"), Left("from"))
	for _, s := range c.Settings {
		tb.Add(s.Path, clip(s.Value, 60), s.Origin)
	}
	b.WriteString(tb.String())

	if len(c.Job.Provenance) > 0 {
		section(&b, t, "Figures of the catalogue, and where each comes from")
		tb := NewTable(Left("figure"), Right("value"), Left("status"), Left("source"), Left("note"))
		for _, f := range c.Job.Provenance {
			tb.Add(f.Path, f.Value, f.Status.String(), f.Source, f.Note)
		}
		b.WriteString(tb.String())
		b.WriteString("\n  `weft list sources` says what each source is.\n")
	}
	cautions(&b, t, c.Job.Warnings)
	_, err := io.WriteString(w, b.String())
	return err
}

// clip shortens a long value for a table.
func clip(s string, most int) string {
	r := []rune(s)
	if len(r) <= most {
		return s
	}
	return string(r[:most-3]) + "..."
}

type checkDocument struct {
	Scenario   string               `json:"scenario"`
	System     string               `json:"system"`
	Nodes      int                  `json:"nodes"`
	GPUs       int                  `json:"gpus"`
	Ranks      int32                `json:"ranks"`
	Classes    int                  `json:"rank_classes"`
	Settings   []configs.Setting    `json:"settings"`
	Provenance []provenanceDocument `json:"provenance"`
	Warnings   []string             `json:"warnings"`
	Version    string               `json:"weft_version"`
}

// JSON writes the same as one document.
func (c *Check) JSON(w io.Writer) error {
	m, p := c.Job.Machine, c.Job.Program
	return WriteJSON(w, checkDocument{
		Scenario: c.Name, System: c.System, Nodes: int(m.Hosts), GPUs: len(m.Ranks), Ranks: p.World, Classes: len(p.Classes),
		Settings: append([]configs.Setting{}, c.Settings...), Provenance: provenanceOf(c.Job.Provenance),
		Warnings: append([]string{}, c.Job.Warnings...), Version: c.Version,
	})
}
