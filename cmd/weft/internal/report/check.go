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
	// Simulated says that the program was run, and ended.
	Simulated bool
	Version   string
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
	if c.Simulated {
		fmt.Fprintf(&b, "%s reads and resolves without errors, and runs to its end.\n", t.Bold(c.Name))
	} else {
		paragraph(&b, t.Width, "", t.Bold(c.Name)+" reads and resolves without errors. It was not run, because it is large: `weft run` tells whether it ends.\n")
	}
	paragraph(&b, t.Width, "", fmt.Sprintf("Machine: %s, %s on %s, %s network.\n", c.System, Plural(len(m.Ranks), "GPU"), Plural(int(m.Hosts), "node"), c.Job.Options.Model))
	paragraph(&b, t.Width, "", fmt.Sprintf("Program: %s in %s of equal work; together they compute %s times, join %s and send or receive %s.\n",
		Plural(int(p.World), "rank"), Plural(len(p.Classes), "class"), Count(int64(computes)),
		Plural(collectives, "collective"), Plural(messages, "message")))
	if p.PlaceNote != "" {
		paragraph(&b, t.Width, "", "Placement: "+p.PlaceNote+"\n")
	}

	section(&b, t, "Settings, and what set them")
	tb := NewTable(Left("setting"), Left("value"), Left("from")).Within(t.Width)
	for _, s := range c.Settings {
		tb.Add(s.Path, clip(s.Value, 60), s.Origin)
	}
	b.WriteString(tb.String())

	if len(c.Job.Provenance) > 0 {
		section(&b, t, "Figures of the catalogue, and where each comes from")
		tb := NewTable(Left("figure"), Right("value"), Left("status").Or(1), Left("source").Or(2), Words("note").Or(3)).Within(t.Width)
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
	Simulated  bool                 `json:"simulated"`
	Settings   []configs.Setting    `json:"settings"`
	Provenance []provenanceDocument `json:"provenance"`
	Warnings   []string             `json:"warnings"`
	Version    string               `json:"weft_version"`
}

// JSON writes the same as one document.
func (c *Check) JSON(w io.Writer) error {
	m, p := c.Job.Machine, c.Job.Program
	return WriteJSON(w, checkDocument{
		Scenario: c.Name, System: c.System, Nodes: int(m.Hosts), GPUs: len(m.Ranks), Ranks: p.World, Classes: len(p.Classes), Simulated: c.Simulated,
		Settings: append([]configs.Setting{}, c.Settings...), Provenance: provenanceOf(c.Job.Provenance),
		Warnings: append([]string{}, Grave(c.Job.Warnings)...), Version: c.Version,
	})
}
