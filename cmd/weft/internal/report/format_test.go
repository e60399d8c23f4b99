package report

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"pgregory.net/rapid"

	"github.com/weft-sim/weft/cmd/weft/internal/term"
	"github.com/weft-sim/weft/sim"
)

func TestFigure(t *testing.T) {
	for v, want := range map[float64]string{
		0: "0", 1: "1.00", 9.994: "9.99", 9.996: "10.0", 99.96: "100", 123.4: "123", 12345: "12345",
		0.01234: "0.0123", 0.09996: "0.100", -2.5: "-2.50", math.Inf(1): "-",
	} {
		assert.Equal(t, want, Figure(v), "Figure(%v)", v)
	}
}

func TestUnits(t *testing.T) {
	assert.Equal(t, "936 ns", Duration(936250*sim.Picosecond))
	assert.Equal(t, "1.50 us", Duration(1500*sim.Nanosecond))
	assert.Equal(t, "0 s", Duration(0))
	assert.Equal(t, "450 GB/s", Rate(450*sim.GBps))
	assert.Equal(t, "1800 GB/s", Rate(1800*sim.GBps))
	assert.Equal(t, "20 MiB", Size(20*sim.MiB))
	assert.Equal(t, "1 GiB", Size(sim.GiB))
	assert.Equal(t, "1.43 MiB", Size(1500*sim.KB))
	assert.Equal(t, "0 B", Size(0))
	assert.Equal(t, "512 B", Size(512))
	assert.Equal(t, "50.0 %", Percent(0.5))
	assert.Equal(t, "< 0.1 %", Percent(1e-6))
	assert.Equal(t, "0.0 %", Percent(0))
	assert.Equal(t, "1,048,576", Count(1<<20))
	assert.Equal(t, "-999", Count(-999))
	assert.Equal(t, "1 GPU", Plural(1, "GPU"))
	assert.Equal(t, "2 switches", Plural(2, "switch"))
	assert.Equal(t, "2 copies", Plural(2, "copy"))
}

func TestBarHasTheWidthOfItsShare(t *testing.T) {
	assert.Equal(t, "████▌", Bar(0.45, 10))
	assert.Equal(t, "▏", Bar(1e-9, 10))
	rapid.Check(t, func(t *rapid.T) {
		share := rapid.Float64Range(0, 2).Draw(t, "share")
		width := rapid.IntRange(1, 60).Draw(t, "width")
		n := utf8.RuneCountInString(Bar(share, width))
		assert.LessOrEqual(t, n, width)
		assert.GreaterOrEqual(t, float64(n)+1, min(share, 1)*float64(width))
	})
}

func TestBarInASCII(t *testing.T) {
	assert.Equal(t, "#####", bar(&term.Terminal{ASCII: true}, 0.45, 10))
	assert.Equal(t, "#", bar(&term.Terminal{ASCII: true}, 1e-9, 10))
	assert.Equal(t, "████▌", bar(&term.Terminal{}, 0.45, 10))
}

func TestTableWithinAWidth(t *testing.T) {
	rows := func(width int) string {
		tb := NewTable(Left("link"), Left("class").Or(2), Left("protocol").Or(1), Right("each way"), Words("why")).Within(width)
		tb.Add("n0.gpu0 > n0.nvswitch0", "nvlink4", "simple", "110 GB/s", "a figure that somebody published")
		return tb.String()
	}
	assert.Equal(t, rows(0), rows(200), "what fits stays whole")
	assert.Equal(t, `  link                    protocol  each way  why
  n0.gpu0 > n0.nvswitch0  simple    110 GB/s  a figure that somebody published
`, rows(80), "the first spare column goes")
	assert.Equal(t, `  link              each way  why
  n0.gpu0...witch0  110 GB/s  a figure...
`, rows(42), "then names lose their middle, and sentences their end")
	assert.Contains(t, rows(10), "110 GB/s", "numbers stay whole")
	rapid.Check(t, func(t *rapid.T) {
		width := rapid.IntRange(40, 120).Draw(t, "width")
		for line := range strings.Lines(rows(width)) {
			assert.LessOrEqual(t, utf8.RuneCountInString(strings.TrimSuffix(line, "\n")), width)
		}
	})
}

func TestTableLeavesEmptyColumnsOut(t *testing.T) {
	tb := NewTable(Left("op"), Left("protocol"), Right("time (us)"))
	assert.Empty(t, tb.String())
	tb.Add("all_reduce", "", "12.3")
	tb.Add("alltoall", "", "123")
	assert.Equal(t, "  op          time (us)\n  all_reduce       12.3\n  alltoall          123\n", tb.String())
	for line := range strings.Lines(tb.String()) {
		assert.NotRegexp(t, ` \n$`, line, "no blanks at the end of a line")
	}
}

func Example() {
	t := NewTable(Left("link"), Right("each way"))
	t.Add("nvlink4", Rate(450*sim.GBps))
	t.Add("ndr", Rate(50*sim.GBps))
	fmt.Print(t)
	// Output:
	//   link      each way
	//   nvlink4   450 GB/s
	//   ndr      50.0 GB/s
}
