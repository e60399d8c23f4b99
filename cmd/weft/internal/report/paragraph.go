package report

import (
	"strings"

	"github.com/jedib0t/go-pretty/v6/text"
)

// paragraph writes a sentence after a head, broken between words so that its
// lines fit into width, 0 for any. The lines after the first are indented as
// far as the head is wide.
func paragraph(b *strings.Builder, width int, head, sentence string) {
	b.WriteString(head)
	indent := text.StringWidthWithoutEscSequences(strings.TrimLeft(head, "\n"))
	at := indent
	for i, word := range strings.Split(sentence, " ") {
		n := text.StringWidthWithoutEscSequences(strings.TrimRight(word, "\n"))
		switch {
		case i == 0:
		case width > 0 && at+1+n > width:
			b.WriteString("\n" + strings.Repeat(" ", indent))
			at = indent
		default:
			b.WriteByte(' ')
			at++
		}
		b.WriteString(word)
		at += n
	}
}
