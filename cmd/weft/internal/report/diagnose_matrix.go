package report

import (
	"fmt"
	"strings"

	"github.com/weft-sim/weft/cmd/weft/internal/term"
)

// MatrixCheck is what differs between a matrix of nvidia-smi and that of a
// sound machine.
type MatrixCheck struct {
	System     string
	GPUs, NICs int
	Findings   []Finding
	Verdict    Verdict
	Notes      []string
}

// Add puts a difference to the others.
func (c *MatrixCheck) Add(kind, format string, args ...any) {
	c.Findings = append(c.Findings, Finding{kind, fmt.Sprintf(format, args...)})
}

// Judge decides on the whole.
func (c *MatrixCheck) Judge() {
	c.Verdict = Normal
	if len(c.Findings) > 0 {
		c.Verdict = Mixed
	}
}

// text writes the answer for people.
func (c *MatrixCheck) text(b *strings.Builder, t *term.Terminal) {
	say := func(head, format string, args ...any) {
		paragraph(b, t.Width, head, fmt.Sprintf(format, args...))
		b.WriteByte('\n')
	}
	if c.Verdict == Normal {
		say("", "NORMAL: the words between %s and %s are those of %s.", Plural(c.GPUs, "GPU"), Plural(c.NICs, "NIC"), c.System)
	} else {
		say("", "NOT NORMAL: %s from %s.", Plural(len(c.Findings), "difference"), c.System)
		for _, f := range c.Findings {
			say("  ! ", "%s", f.Text)
		}
	}
	for _, n := range c.Notes {
		say("  ", "%s", n)
	}
}
