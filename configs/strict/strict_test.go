package strict_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-sim/weft/configs/strict"
	"github.com/weft-sim/weft/sim"
)

// span is a quantity that wants its unit, as those of package sim do.
type span int64

func (s *span) UnmarshalText(b []byte) error {
	var n int64
	var unit string
	if _, err := fmt.Sscanf(string(b), "%d%s", &n, &unit); err != nil || unit != "us" {
		return fmt.Errorf("read time %q, expected a number with us", b)
	}
	*s = span(n)
	return nil
}

type work struct {
	Time  span `yaml:"-"`
	FLOPs int  `yaml:"flops" weft:"min=1"`
}

func (w *work) Short() any { return &w.Time }

type group struct {
	Name string `yaml:",key"`
	Size int32  `yaml:"size" weft:"required,min=1,max=8"`
}

type shape struct {
	circle struct {
		Radius float64 `yaml:"radius" weft:"required,positive"`
	}
	square struct {
		Side float64 `yaml:"side"`
	}
	picked string
}

func (s *shape) Forms() (string, []string, func(string) any) {
	return "kind", []string{"circle", "square"}, func(n string) any {
		s.picked = n
		switch n {
		case "circle":
			return &s.circle
		case "square":
			return &s.square
		}
		return nil
	}
}

type pair struct {
	Low  int `yaml:"low"`
	High int `yaml:"high"`
}

func (p *pair) Check(report func(key, msg string)) {
	if p.Low > p.High {
		report("low", fmt.Sprintf("read %d, expected at most high, %d", p.Low, p.High))
	}
}

type doc struct {
	Name   string            `yaml:"name" weft:"required"`
	Mode   string            `yaml:"mode" weft:"enum=ring|direct"`
	Wait   span              `yaml:"wait" weft:"positive"`
	On     bool              `yaml:"on"`
	Ratio  float64           `yaml:"ratio" weft:"min=0,max=1"`
	Work   work              `yaml:"work"`
	Groups []group           `yaml:"groups"`
	Dims   []string          `yaml:"dims" weft:"enum=tp|dp"`
	Env    map[string]string `yaml:"env"`
	Shape  *shape            `yaml:"shape"`
	Pair   *pair             `yaml:"pair"`
	Raw    *strict.Node      `yaml:"raw"`
}

func TestDecodeFillsEveryKind(t *testing.T) {
	d := doc{Mode: "ring", Ratio: 0.5}
	_, err := strict.Unmarshal("a.yaml", []byte(`
name: &n Llama
wait: 3us
on: true
work: 5us
groups: {Tp: {size: 8}, dp: {size: 2}}
dims: [tp, dp]
env: {NCCL_X: "0", nccl_x: *n}
shape: {kind: circle, radius: 2}
pair: {low: 1, high: 2}
raw: [1, {a: b}]
`), &d)
	require.NoError(t, err)
	assert.Equal(t, "ring", d.Mode, "an absent key keeps its default")
	assert.Equal(t, 0.5, d.Ratio)
	assert.Equal(t, span(3), d.Wait)
	assert.Equal(t, span(5), d.Work.Time)
	assert.Equal(t, []group{{"Tp", 8}, {"dp", 2}}, d.Groups, "in the order of the file")
	assert.Equal(t, map[string]string{"NCCL_X": "0", "nccl_x": "Llama"}, d.Env, "user data keeps its case")
	assert.Equal(t, 2.0, d.Shape.circle.Radius)
	assert.Equal(t, strict.Sequence, d.Raw.Kind)
}

func TestErrorsAllAtOnceSortedByLine(t *testing.T) {
	var d doc
	_, err := strict.Unmarshal("a.yaml", []byte(`mode: rnig
wait: 3
on: yes
ratio: 1.5
work: {flosp: 3}
groups:
  tp: {size: 9}
  tp: {size: 1}
  dp: {}
dims: [tp, pd]
env: {A: 0}
shape: {kind: circel}
pair: {low: 3, high: 2}
wiat: 3us
raw:
`), &d)
	var es strict.Errors
	require.True(t, errors.As(err, &es))
	assert.Equal(t, strings.TrimLeft(`
a.yaml:1:1: key "name" is missing, expected a text
  1 | mode: rnig
    | ^
a.yaml:1:7: mode: read "rnig", expected one of ring, direct; did you mean "ring"?
  1 | mode: rnig
    |       ^
a.yaml:2:7: wait: read time "3", expected a number with us
  2 | wait: 3
    |       ^
a.yaml:3:5: on: read "yes", expected true or false
  3 | on: yes
    |     ^
a.yaml:4:8: ratio: read 1.5, expected a number, 0 to 1
  4 | ratio: 1.5
    |        ^
a.yaml:5:8: work: unknown key "flosp", expected "flops"; did you mean "flops"?
  5 | work: {flosp: 3}
    |        ^
a.yaml:7:14: groups.tp.size: read 9, expected a whole number, 1 to 8
  7 |   tp: {size: 9}
    |              ^
a.yaml:8:3: key "tp" is repeated, first written in line 7
  8 |   tp: {size: 1}
    |   ^
a.yaml:9:7: groups.dp: key "size" is missing, expected a whole number, 1 to 8
  9 |   dp: {}
    |       ^
a.yaml:10:12: dims[1]: read "pd", expected one of tp, dp; did you mean "dp"?
  10 | dims: [tp, pd]
     |            ^
a.yaml:11:10: env.A: read 0, expected a text; in quotes it is a text: "0"
  11 | env: {A: 0}
     |          ^
a.yaml:12:15: shape.kind: read "circel", expected one of circle, square; did you mean "circle"?
  12 | shape: {kind: circel}
     |               ^
a.yaml:13:13: pair.low: read 3, expected at most high, 2
  13 | pair: {low: 3, high: 2}
     |             ^
a.yaml:14:1: unknown key "wiat", expected one of name, mode, wait, on, ratio, work, groups, dims, env, shape, pair, raw; did you mean "wait"?
  14 | wiat: 3us
     | ^
`, "\n"), err.Error()+"\n")
}

func TestSyntaxErrorsHaveAPlace(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"unclosed":        {"a: [1, 2", "a.yaml:1:4: YAML syntax"},
		"indent":          {"a: 1\n  b: 2\n", "a.yaml:1:4: YAML syntax"},
		"two documents":   {"a: 1\n---\nb: 2\n", "second YAML document"},
		"tag":             {"name: !secret x", `tag "!secret" is not read`},
		"merge":           {"<<: {a: 1}", "merge keys"},
		"unknown alias":   {"name: *here", "alias *here has no anchor"},
		"zero byte":       {"name: a\x00b", "a.yaml:1:8: read a zero byte"},
		"deep":            {"a: " + strings.Repeat("[", 30000), "nested deeper"},
		"deep in a line":  {strings.Repeat("- ", 30000) + "a", "nested deeper"},
		"deep but closed": {"raw: " + strings.Repeat("[", 300) + strings.Repeat("]", 300), "200 levels of nesting"},
		"a list":          {"- 1\n- 2\n", "read a list, expected a mapping with keys name"},
		"a word":          {"hello", `read "hello", expected a mapping with keys name`},
		"expanding alias": {bomb(), "aliases expand"},
	} {
		t.Run(name, func(t *testing.T) {
			var d doc
			_, err := strict.Unmarshal("a.yaml", []byte(c.text), &d)
			require.Error(t, err)
			assert.Contains(t, err.Error(), c.want)
		})
	}
}

// bomb is the "billion laughs" of YAML: 10^8 values out of 300 bytes.
func bomb() string {
	var b strings.Builder
	b.WriteString("a0: &a0 [1,1,1,1,1,1,1,1,1,1]\n")
	for i := range 8 {
		fmt.Fprintf(&b, "a%d: &a%d [%s]\n", i+1, i+1, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*a%d,", i), 10), ","))
	}
	return b.String()
}

// Bounds of quantities and of what a list holds, and texts that must say
// something.
func TestBoundsOfWhatIsInside(t *testing.T) {
	var d struct {
		Name   string    `yaml:"name" weft:"required"`
		Size   sim.Bytes `yaml:"size" weft:"positive,max=1125899906842624"`
		Planes []int     `yaml:"planes" weft:"min=1,each=1"`
	}
	_, err := strict.Unmarshal("a.yaml", []byte("name: ' '\nsize: 9000000TB\nplanes: [1, -3, 0]\n"), &d)
	require.Error(t, err)
	for _, want := range []string{
		`a.yaml:1:7: name: read " ", expected a text that is not empty`,
		`a.yaml:2:7: size: read "9000000TB", expected a size with its unit, such as 1MiB, of at most 1024TiB`,
		`a.yaml:3:13: planes[1]: read -3, expected a whole number, at least 1`,
		`a.yaml:3:17: planes[2]: read 0, expected`,
	} {
		assert.Contains(t, err.Error(), want)
	}
	_, err = strict.Unmarshal("a.yaml", []byte("name: a\nsize: 1024TiB\nplanes: [1]\n"), &d)
	require.NoError(t, err)
	_, err = strict.Unmarshal("a.yaml", make([]byte, strict.MaxBytes+1), &d)
	require.ErrorContains(t, err, "read more than 4 MiB")
}

func TestNearest(t *testing.T) {
	valid := []string{"dgx-h100", "dgx-h200", "dgx-a100", "bandwidth", "latency"}
	for name, want := range map[string]string{
		"DGX_H100": "dgx-h100", "dgxh100": "dgx-h100", "bandwith": "bandwidth", "latnecy": "latency",
		"band": "bandwidth", "zebra": "", "": "",
	} {
		got, ok := strict.Nearest(name, valid)
		assert.Equal(t, want, got, "for %q", name)
		assert.Equal(t, want != "", ok, "for %q", name)
	}
}

func TestFind(t *testing.T) {
	n, err := strict.Parse(strict.NewSource("a.yaml", nil), []byte("a:\n  b: [1, {c: deep}]\n"))
	require.NoError(t, err)
	assert.Equal(t, "deep", n.Find("a.b[1].c").Text)
	assert.Nil(t, n.Find("a.b[2]"))
	assert.Equal(t, 2, n.Nearest("a.b[2].x").Pos.Line)
}

func TestLongLinesAreCut(t *testing.T) {
	text := "name: " + strings.Repeat("x", 50) + "\nenv: {" + strings.Repeat("A: b, ", 100) + "}"
	var d doc
	_, err := strict.Unmarshal("a.yaml", []byte(text), &d)
	require.Error(t, err)
	for _, l := range strings.Split(err.Error(), "\n") {
		assert.LessOrEqual(t, len(l), 200)
	}
}

func FuzzUnmarshal(f *testing.F) {
	for _, s := range []string{"name: a\nwait: 3us\n", "a: &x [*x]", "? [a]\n: b", "- - - a", "%YAML 1.2\n---\na: |\n  x\n", "{a: b, ...}", "name: 'é", "\t", "a: !!str b", "&a : *a"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		var d doc
		_, err := strict.Unmarshal("f.yaml", text, &d)
		if err != nil {
			_ = err.Error()
		}
	})
}

func Example() {
	var machine struct {
		Name string `yaml:"name" weft:"required"`
		GPUs int    `yaml:"gpus" weft:"required,min=1"`
	}
	_, err := strict.Unmarshal("box.yaml", []byte("name: box\ngpsu: 8\n"), &machine)
	fmt.Println(err)
	// Output:
	// box.yaml:1:1: key "gpus" is missing, expected a whole number, at least 1
	//   1 | name: box
	//     | ^
	// box.yaml:2:1: unknown key "gpsu", expected one of name, gpus; did you mean "gpus"?
	//   2 | gpsu: 8
	//     | ^
}
