package main

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/weft-sim/weft/cmd/weft/internal/exitcode"
	"github.com/weft-sim/weft/cmd/weft/internal/report"
	"github.com/weft-sim/weft/configs"
	"github.com/weft-sim/weft/sim"
	"github.com/weft-sim/weft/topology/discover"
	"github.com/weft-sim/weft/workloads"
	"github.com/weft-sim/weft/workloads/collective"
	"github.com/weft-sim/weft/workloads/collective/nccl"
	"github.com/weft-sim/weft/workloads/replay"
	"github.com/weft-sim/weft/workloads/synth"
)

// inquiry is what the flags of explain ask.
type inquiry struct {
	overrides
	bytes   size
	version word
	env     []string
	graph   word // a file of NCCL_GRAPH_DUMP_FILE
}

func newExplain(a *app) *cobra.Command {
	q := inquiry{bytes: 1 << 30, version: word(nccl.Latest.String())}
	cmd := &cobra.Command{
		Use:   "explain OP",
		Short: "What NCCL chooses for a message, and why",
		Long: `Chooses as NCCL does, by the formula of the release that you name (2.18 to 2.30), and
says what it considers, at which predicted times, what it leaves out and why, from
which size it runs something else, and what the wires allow. OP is all_reduce,
all_gather, reduce_scatter, broadcast or reduce.

NCCL predicts in order to choose. Its times are no measurement, and not weft's
simulation either, which is a ring with Simple so far and is shown beside them.

The channels follow from the machine where all GPUs of a node meet in one NVSwitch
fabric. For any other machine NCCL's own search is needed: --graph takes the file that
a job writes with NCCL_GRAPH_DUMP_FILE. Variables of your own environment are not read;
--env takes ` + strings.Join(nccl.Variables()[:3], ", ") + ` and others.`,
		Example: `  weft explain all_reduce --bytes 64MiB --system dgx-h100
  weft explain all_reduce --bytes 64MiB --system dgx-h100 --nodes 4 --version 2.21
  weft explain all_gather --bytes 1G --env NCCL_ALGO=Ring --env NCCL_PROTO=^LL128
  weft explain all_reduce --system pcie-a100-8 --graph graph.xml`,
		Args: arguments(1, 1, "an operation, such as all_reduce"),
	}
	for _, op := range nccl.Ops {
		cmd.ValidArgs = append(cmd.ValidArgs, op.String())
	}
	q.flags(cmd)
	form := formatFlag(cmd, "text", "json")
	f := cmd.Flags()
	f.Lookup("system").Usage = "`name` or file of the system (default " + standardSystem + ")"
	f.Lookup("nodes").Usage = "`number` of nodes (default 1)"
	f.Var(&q.bytes, "bytes", "`size` of the message, as nccl-tests counts it: 64MiB, or 64M")
	f.Var(&q.version, "version", "`release` of NCCL, such as 2.27 or 2.27.3")
	f.StringArrayVar(&q.env, "env", nil, "`NAME=VALUE` of an NCCL variable; may be repeated")
	f.Var(&q.graph, "graph", "`file` of NCCL_GRAPH_DUMP_FILE with the channels")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		stop := a.Spin("choosing")
		defer stop()
		e, err := q.answer(cmd.Context(), cmd, args[0])
		if err != nil {
			return err
		}
		stop()
		if form.value == "json" {
			return e.JSON(a.Out)
		}
		return e.Text(a.Out, a.Terminal)
	}
	return cmd
}

// answer makes the report.
func (q *inquiry) answer(ctx context.Context, cmd *cobra.Command, name string) (*report.Explain, error) {
	op, err := explainOp(cmd, name)
	if err != nil {
		return nil, err
	}
	size := sim.Bytes(q.bytes)
	if size < 1 || size > workloads.MaxBytes {
		return nil, usage(cmd, "--bytes: read %d bytes, expected 1 to %s", size, report.Size(workloads.MaxBytes))
	}
	release, err := nccl.ParseVersion(string(q.version))
	if err != nil {
		return nil, usage(cmd, "--version: %w", err)
	}
	env, err := nccl.ParseEnv(release, q.env)
	if err != nil {
		return nil, usage(cmd, "--env: %w", err)
	}
	question, job, err := stage(cmd, &q.overrides, sweep{})
	if err != nil {
		return nil, err
	}
	hw, err := question.Hardware(nil)
	if err != nil {
		return nil, err
	}
	model, notes, err := q.model(hw, release, env)
	if err != nil {
		return nil, err
	}
	e := &report.Explain{
		Op: op.String(), System: question.system(), Size: size, GPUs: model.Ranks, Nodes: model.Nodes,
		NCCL: release.String(), Constants: release.Constants().String(), Env: q.env, Version: version,
		Warnings: append(notes, report.Grave(job.Warnings)...), Ceiling: ceiling(hw.Machine, model, op, size),
	}
	if err := choose(e, model, op, size); err != nil {
		return nil, usage(cmd, "%w", err)
	}
	e.Warnings = append(e.Warnings, smallMessages(op, size, len(job.Machine.Ranks))...)
	e.Simulated, err = simulateRing(ctx, job, op, size)
	return e, err
}

// choose fills in what the model says.
func choose(e *report.Explain, m *nccl.Model, op workloads.Coll, size sim.Bytes) error {
	c, err := m.Choose(op, size)
	if err != nil {
		return err
	}
	e.Channels = c.Channels
	for _, est := range m.Estimates(op, size) {
		r := report.ExplainRow{
			Algorithm: est.Algorithm.String(), Protocol: est.Protocol.String(), Off: est.Off,
			Latency: est.Latency, Bandwidth: est.Bandwidth, Time: est.Time,
			Chosen: est.Algorithm == c.Algorithm && est.Protocol == c.Protocol,
		}
		if est.Off == "" {
			r.BusBW = float64(size) / est.Time / 1e3 * collective.BusFactor(op, m.Ranks)
			r.Wire = float64(size) * m.Wire(op, est.Algorithm, est.Protocol).GPU
		}
		e.Rows = append(e.Rows, r)
	}
	all, err := m.Crossovers(op, 8, 8*sim.GiB)
	if err != nil {
		return err
	}
	for _, x := range all {
		e.Crossovers = append(e.Crossovers, report.ExplainCrossover{
			From: x.From, Algorithm: x.Algorithm.String(), Protocol: x.Protocol.String(), Time: x.Time, Channels: x.Channels,
		})
	}
	for _, g := range []struct {
		name string
		nccl.Graph
	}{{"ring", m.Ring}, {"tree", m.Tree}, {"NVLS", m.NVLS}} {
		if g.Channels > 0 {
			e.Graphs = append(e.Graphs, report.ExplainGraph{Name: g.name, Channels: g.Channels, Intra: g.Intra, Inter: g.Inter})
		}
	}
	return nil
}

// simulateRing runs weft's ring.
func simulateRing(ctx context.Context, job *configs.Job, op workloads.Coll, size sim.Bytes) (sim.Time, error) {
	program, err := synth.Repeated{Op: op, Bytes: size}.Build(int32(len(job.Machine.Ranks)))
	if err != nil {
		return 0, err
	}
	options := job.Options
	options.Choose = collective.Explicit(collective.Ring)
	res, err := replay.Run(ctx, program, job.Machine, options)
	if err != nil {
		return 0, fmt.Errorf("simulate a ring for explain: %w", err)
	}
	return res.StepTime, nil
}

// explainOp reads the name of an operation.
func explainOp(cmd *cobra.Command, name string) (workloads.Coll, error) {
	word := strings.TrimSuffix(name, "_perf")
	var known []string
	for _, op := range nccl.Ops {
		if op.String() == word {
			return op, nil
		}
		known = append(known, op.String())
	}
	if word == workloads.AllToAll.String() || word == sendRecv {
		return 0, usage(cmd, "NCCL makes %s of sends and receives and chooses nothing for it, expected %s", word, strings.Join(known, ", "))
	}
	return 0, usage(cmd, "there is no operation %q, expected %s%s", name, strings.Join(known, ", "), didYouMean(word, known))
}

// model makes NCCL's model of a machine.
func (q *inquiry) model(hw *configs.Hardware, v nccl.Version, env nccl.Env) (*nccl.Model, []string, error) {
	bad := func(err error) (*nccl.Model, []string, error) { return nil, nil, exitcode.With(exitcode.Config, err) }
	m := hw.Machine
	if hw.GPU == nil {
		return bad(fmt.Errorf("explain %s: the kind of its GPUs is not known, expected --gpu with a name of `weft list gpus`", m.Name))
	}
	sm, ok := capability[hw.GPU.Arch]
	if !ok {
		return bad(fmt.Errorf("explain %s: NCCL's figures for GPUs of architecture %s are not known to weft", m.Name, hw.GPU.Arch))
	}
	s := nccl.Summary{Ranks: len(m.Ranks), Nodes: int(m.Hosts), SM: sm}
	var notes []string
	if s.CPU, ok = maker(hw); !ok && s.Nodes > 1 {
		notes = append(notes, "the make of the CPUs is not known and is taken as Intel; NCCL lets LL reach other rates on AMD")
	}
	if q.graph != "" {
		var err error
		if s.Graphs, err = readGraphs(string(q.graph)); err != nil {
			return nil, nil, err
		}
	} else {
		if env.NoP2P {
			return bad(fmt.Errorf("explain %s without peer access: rings then cross host memory, for which NCCL's search in full is needed; expected --graph with the file that a job writes with NCCL_GRAPH_DUMP_FILE", m.Name))
		}
		f, err := nccl.Describe(m, sm)
		if err != nil {
			return bad(fmt.Errorf("explain %s: %w (--graph)", m.Name, err))
		}
		if s.Graphs, err = f.Graphs(v); err != nil {
			return bad(fmt.Errorf("explain %s: %w", m.Name, err))
		}
		notes = append(notes, f.Doubts()...)
	}
	model, err := nccl.New(v, s, env)
	if err != nil {
		return bad(err)
	}
	return model, notes, nil
}

// capability is the compute capability of an architecture, times ten. NCCL
// asks for no more than the generation where NVSwitch is.
var capability = map[string]int{
	"pascal": 60, "volta": 70, "turing": 75, "ampere": 80, "ada": 89, "hopper": 90, "blackwell": 100,
}

// maker returns who made the CPUs of a machine, if the catalogue tells.
func maker(hw *configs.Hardware) (nccl.CPU, bool) {
	if hw.System == nil {
		return nccl.Intel, false
	}
	switch name := hw.System.CPU; {
	case strings.HasPrefix(name, "xeon"):
		return nccl.Intel, true
	case strings.HasPrefix(name, "epyc"):
		return nccl.AMD, true
	case slices.ContainsFunc([]string{"grace", "vera", "gb10"}, func(p string) bool { return strings.HasPrefix(name, p) }):
		return nccl.ARM, true
	}
	return nccl.Intel, false
}

// readGraphs reads the channels that a job of NCCL wrote.
func readGraphs(name string) (nccl.Graphs, error) {
	var all nccl.Graphs
	content, err := os.ReadFile(name)
	if err != nil {
		return all, exitcode.With(exitcode.Input, fmt.Errorf("read NCCL graph: %w", err))
	}
	d, err := discover.Read(name, content)
	if err != nil {
		return all, err
	}
	places := map[int]*nccl.Graph{0: &all.Ring, 1: &all.Tree, 3: &all.NVLS}
	for _, g := range d.Graphs {
		at, ok := places[g.ID]
		if !ok {
			continue
		}
		*at = nccl.Graph{
			Channels: len(g.Channels), Intra: float64(g.Intra) / 1e9, Inter: float64(g.Inter) / 1e9,
			Pattern: nccl.Pattern(g.Pattern), Same: g.SameChannels,
		}
		for _, p := range []struct {
			text string
			to   *nccl.PathType
		}{{g.TypeIntra, &at.TypeIntra}, {g.TypeInter, &at.TypeInter}} {
			if *p.to, err = nccl.ParsePath(p.text); err != nil {
				return all, exitcode.With(exitcode.Input, fmt.Errorf("read NCCL graph %s: graph %d: %w", name, g.ID, err))
			}
		}
	}
	if all.Ring.Channels == 0 || all.Tree.Channels == 0 {
		return all, exitcode.With(exitcode.Input, fmt.Errorf("read NCCL graph %s: it has %d channels of a ring (id 0) and %d of a tree (id 1), expected both: the file of NCCL_GRAPH_DUMP_FILE",
			name, all.Ring.Channels, all.Tree.Channels))
	}
	return all, nil
}
