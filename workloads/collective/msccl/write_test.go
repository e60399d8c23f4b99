package msccl

import (
	"fmt"
	"strings"
)

// stepOf writes a step.
func stepOf(kind string, src, dst string) string {
	return fmt.Sprintf(`type=%q srcbuf=%q srcoff=%q dstbuf=%q dstoff=%q cnt="1" depid="-1" deps="-1" hasdep="0"/>`, kind, src[:1], src[1:], dst[:1], dst[1:])
}

// ringOf writes a ring of n GPUs by hand-me-down: channels rings beside each
// other, each with one chunk of every rank.
func ringOf(coll string, n, channels int, proto, more string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "<algo name=\"ring\" proto=%q nchannels=\"%d\" nchunksperloop=\"%d\" ngpus=\"%d\" coll=%q inplace=\"1\"%s>\n", proto, channels, n*channels, n, coll, more)
	for g := range n {
		in := n * channels
		if coll == "allgather" {
			in = channels
		}
		fmt.Fprintf(&b, " <gpu id=\"%d\" i_chunks=\"%d\" o_chunks=\"%d\" s_chunks=\"0\">\n", g, in, n*channels)
		for c := range channels {
			fmt.Fprintf(&b, "  <tb id=\"%d\" send=\"%d\" recv=\"%d\" chan=\"%d\">\n", c, (g+1)%n, (g+n-1)%n, c)
			at := func(back int) string { return fmt.Sprintf("o%d", ((g-back+n)%n)*channels+c) }
			s := 0
			add := func(kind, place string) {
				fmt.Fprintf(&b, "   <step s=\"%d\" %s\n", s, stepOf(kind, place, place))
				s++
			}
			add("s", at(0))
			if coll == "allreduce" {
				for k := 1; k < n-1; k++ {
					add("rrs", at(k))
				}
				add("rrcs", at(n-1))
				for k := n; k < 2*n-2; k++ {
					add("rcs", at(k%n))
				}
				add("r", at((2*n-2)%n))
			} else {
				for k := 1; k < n-1; k++ {
					add("rcs", at(k))
				}
				add("r", at(n-1))
			}
			b.WriteString("  </tb>\n")
		}
		b.WriteString(" </gpu>\n")
	}
	b.WriteString("</algo>\n")
	return b.String()
}
