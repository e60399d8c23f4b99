package main

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/weft-sim/weft/cmd/weft/internal/draw"
	"github.com/weft-sim/weft/cmd/weft/internal/exitcode"
	"github.com/weft-sim/weft/cmd/weft/internal/report"
	"github.com/weft-sim/weft/cmd/weft/internal/term"
	"github.com/weft-sim/weft/configs"
	"github.com/weft-sim/weft/configs/catalog"
	"github.com/weft-sim/weft/topology/discover"
)

func newTopo(a *app) *cobra.Command {
	var o overrides
	var out string
	cmd := &cobra.Command{
		Use:   "topo [SYSTEM|FILE|SCENARIO|-]",
		Short: "What is this machine: its links, its rates, and the ways from GPU to GPU",
		Long: `Describes a system of the catalogue, what a machine prints about itself, a network
file, or the machine of a scenario (a file, the name of one that comes with weft,
or standard input). All rates are of one direction.

What a file is, is found out by its content: nvidia-smi topo -m, nvidia-smi -q -x,
NCCL_TOPO_DUMP_FILE, lstopo --of xml; topologies of SimAI, ASTRA-sim, htsim;
ibnetdiscover; an edge list; a graph that weft wrote. What it leaves open is filled
in from the catalogue, by the kind of GPU, and said; --gpu names the kind where the
file does not.

The formats: text, a page to read aloud; json; matrix, as nvidia-smi topo -m prints
it; svg, a picture; graph, which weft reads again. --fault is a target and what
befalls it: "n0.gpu3 down", "n0.gpu0<>n0.nvswitch* x0.5", "leaf2<>spine* 25GB/s",
"class:*ndr* +2us".`,
		Example: `  weft topo dgx-h100
  nvidia-smi topo -m | weft topo - --gpu h100
  weft topo gb200-nvl72 --format svg -o rack.svg
  weft topo dgx-a100 --nodes 4 --fault "n*.nvswitch1 down"
  weft topo dgx-1-v100 --format matrix`,
		Args: arguments(0, 1, ""),
	}
	form := formatFlag(cmd, "text", "json", "matrix", "svg", "graph")
	f := cmd.Flags()
	f.Var(&o.nodes, "nodes", "`number` of nodes (default 1, or the scenario's)")
	f.Var(&o.fabric, "fabric", "`name` of the network between nodes, in place of the machine's own")
	o.damage(f)
	f.StringArrayVar(&o.set, "set", nil, "override a key of a scenario's machine, as `path=value`: gpus=8; may be repeated")
	f.StringVarP(&out, "output", "o", "", "write the answer to `file`, - is standard output")
	cmd.RunE = func(_ *cobra.Command, args []string) error {
		page := &topoPage{app: a, form: form.value, page: a.Terminal}
		if out != "" && out != "-" {
			page.page = &term.Terminal{} // a file has no colours, and lines of any length
		}
		write, err := page.of(first(args), &o)
		if err != nil {
			return err
		}
		return page.write(out, write)
	}
	return cmd
}

// topoPage makes the answer of topo in one of its formats.
type topoPage struct {
	*app
	form string
	page *term.Terminal // that the answer is laid out for
}

// stdin is how messages call standard input.
const stdin = "<stdin>"

// of finds what a name means and returns what writes the answer.
func (p *topoPage) of(name string, o *overrides) (func(io.Writer) error, error) {
	if name == "" {
		name = cmp.Or(os.Getenv("WEFT_SYSTEM"), standardSystem)
	}
	c, err := catalog.Load()
	if err != nil {
		return nil, err
	}
	if _, err := c.System(name); err == nil || !isScenario(name) && !isFile(name) {
		return p.machine(name, nil, o)
	}
	if !isFile(name) && name != "-" {
		return p.scenario(name, o)
	}
	content, err := p.content(name)
	if err != nil {
		return nil, err
	}
	if name == "-" {
		name = stdin
	}
	switch f := discover.Detect(content); {
	case f == discover.NCCLGraph:
		return p.channels(name, content)
	case f == discover.SMIMatrix && p.form == "matrix" && len(o.fault) == 0:
		return words(name, content)
	case configs.IsMachine(content) || !configs.IsScenario(content):
		return p.machine(name, content, o)
	}
	q := &question{}
	if q.Scenario, err = o.overlay().Parse(name, content, folder(name)); err != nil {
		return nil, q.mend(err)
	}
	return p.hardware(q, o)
}

// folder returns where relative paths of a scenario start: beside its file, or
// in the working directory if it came through a pipe.
func folder(name string) string {
	if info, err := os.Stat(name); err != nil || !info.Mode().IsRegular() {
		return "."
	}
	return filepath.Dir(name)
}

// content reads a file, or standard input.
func (p *topoPage) content(name string) ([]byte, error) {
	what, r := name, p.In
	if name == "-" {
		what = "standard input"
	} else {
		f, err := os.Open(name)
		if err != nil {
			return nil, exitcode.With(exitcode.Config, p.missing(name, err))
		}
		defer f.Close()
		r = f
	}
	content, err := io.ReadAll(io.LimitReader(r, discover.MaxSize+1))
	if err != nil {
		return nil, exitcode.With(exitcode.Input, fmt.Errorf("read machine from %s: %w", what, err))
	}
	return content, nil
}

// missing is the error of a file that is not there, which may be a slip in the
// name of a system.
func (p *topoPage) missing(name string, err error) error {
	c, loadErr := catalog.Load()
	if loadErr != nil {
		return loadErr
	}
	return fmt.Errorf("read machine: %w%s", err, didYouMean(name, c.Systems()))
}

// machine describes a system of the catalogue, or a file.
func (p *topoPage) machine(name string, content []byte, o *overrides) (func(io.Writer) error, error) {
	q := &question{made: true}
	if err := o.empty(); err != nil {
		return nil, err
	}
	var err error
	if q.Scenario, err = o.overlay().OfSystem(name, content); err != nil {
		return nil, q.mend(err)
	}
	return p.hardware(q, o)
}

// scenario describes the machine of a scenario.
func (p *topoPage) scenario(name string, o *overrides) (func(io.Writer) error, error) {
	q, err := o.load(name)
	if err != nil {
		return nil, err
	}
	return p.hardware(q, nil)
}

// hardware makes the machine and the answer; the faults of o come on top.
func (p *topoPage) hardware(q *question, o *overrides) (func(io.Writer) error, error) {
	if o != nil {
		if err := o.addFaults(q); err != nil {
			return nil, err
		}
	}
	hw, err := q.Hardware(nil)
	if err != nil {
		return nil, q.mend(err)
	}
	switch p.form {
	case "matrix":
		write, err := report.WriteMatrix(hw)
		if part := report.MatrixOf(hw); part != "" && err == nil {
			fmt.Fprintf(p.Err, "weft: note: the matrix is of %s, as nvidia-smi prints it there\n", part)
		}
		return write, exitcode.With(exitcode.Config, err)
	case "svg":
		return func(w io.Writer) error { return draw.SVG(w, hw.Machine, draw.Options{}) }, nil
	case "graph":
		return func(w io.Writer) error { return report.WriteGraph(w, hw.Machine) }, nil
	}
	t, err := report.NewTopo(hw, version)
	if err != nil {
		return nil, err
	}
	if p.form == "json" {
		return t.JSON, nil
	}
	return func(w io.Writer) error { return t.Text(w, p.page) }, nil
}

// channels describes an NCCL graph, which is no machine.
func (p *topoPage) channels(name string, content []byte) (func(io.Writer) error, error) {
	d, err := discover.Read(name, content)
	if err != nil {
		return nil, err
	}
	c := &report.Channels{Dump: d, Version: version}
	switch p.form {
	case "text":
		return func(w io.Writer) error { return c.Text(w, p.page) }, nil
	case "json":
		return c.JSON, nil
	}
	return nil, &discover.Error{Doing: "show as " + p.form, Source: name, Err: discover.ErrNoMachine,
		Text: "an NCCL graph holds the orders of its channels, and no wires", Hint: "--format text shows them; NCCL_TOPO_DUMP_FILE writes the topology"}
}

// words reproduces a matrix, for which nothing else need be known.
func words(name string, content []byte) (func(io.Writer) error, error) {
	d, err := discover.Read(name, content)
	if err != nil {
		return nil, err
	}
	m := d.Hosts[0].Matrix
	return func(w io.Writer) error { return m.Write(w, false) }, nil
}

// write writes the answer to a file, or to standard output. A file appears
// whole or not at all.
func (p *topoPage) write(name string, write func(io.Writer) error) error {
	if name == "" || name == "-" {
		return write(p.Out)
	}
	var b bytes.Buffer
	if err := write(&b); err != nil {
		return err
	}
	if err := os.WriteFile(name, b.Bytes(), 0o644); err != nil {
		return exitcode.With(exitcode.Usage, fmt.Errorf("write machine: %w", err))
	}
	return nil
}

// isScenario reports whether a name can be that of a scenario: standard input,
// a file that exists or looks like one, or a scenario that comes with weft.
func isScenario(name string) bool {
	if name == "-" || isFile(name) {
		return true
	}
	for _, e := range configs.List() {
		if e.Name == name {
			return true
		}
	}
	return false
}
