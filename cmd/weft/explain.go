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
	library library
	bytes   size
	graph   word // a file of NCCL_GRAPH_DUMP_FILE
	gpus    positive
}

func newExplain(a *app) *cobra.Command {
	q := inquiry{bytes: 1 << 30}
	cmd := &cobra.Command{
		Use:   "explain OP",
		Short: "What NCCL chooses for a message, and why",
		Long: `Chooses as NCCL does, by the formula of the release that you name (2.18 to 2.30), and
says what it considers, at which predicted and at which simulated times, what it leaves
out and why, from which size it runs something else, what goes over which wires, and
what they allow. OP is all_reduce, all_gather, reduce_scatter, broadcast or reduce.

NCCL predicts in order to choose: its times are no measurement. weft simulates what the
kernels then do; docs/accuracy.md says how far that is from published measurements.

Channels are searched on the machine as NCCL does; --graph takes the file that a job
writes with NCCL_GRAPH_DUMP_FILE in their place. Variables of your own environment are
not read; --env takes ` + strings.Join(nccl.Variables()[:3], ", ") + ` and others.`,
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
	f.VarP(&q.gpus, "ngpus", "g", "`number` of GPUs of each node that take part (default all)")
	q.library.nccl(f)
	f.Var(&q.graph, "graph", "`file` of NCCL_GRAPH_DUMP_FILE with the channels")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		stop := a.Spin("simulating")
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
	if err := q.library.checkVariables(cmd); err != nil {
		return nil, err
	}
	sw := sweep{gpus: q.gpus}
	question, err := ask(cmd, &q.overrides, sw, "collectives: {library: "+byNCCL+"}\n", q.library.overlay(byNCCL))
	if err != nil {
		return nil, err
	}
	job, err := question.build()
	if err != nil {
		return nil, err
	}
	ranks, err := take(cmd, job, int(q.gpus), "-g")
	if err != nil {
		return nil, err
	}
	if len(ranks) < 2 {
		return nil, usage(cmd, "one GPU has nobody to send to, expected two or more")
	}
	hw, err := question.Hardware(nil)
	if err != nil {
		return nil, err
	}
	lib, _, err := question.NCCL(hw)
	if err != nil {
		return nil, question.mend(err)
	}
	if q.graph != "" {
		graphs, err := readGraphs(string(q.graph))
		if err != nil {
			return nil, err
		}
		lib.Graphs = &graphs
	}
	comm, err := lib.Communicator(ranks)
	if err != nil {
		return nil, exitcode.With(exitcode.Config, fmt.Errorf("explain %s: %w", hw.Machine.Name, err))
	}
	e := &report.Explain{
		Op: op.String(), System: question.system(), Size: size, GPUs: comm.Ranks, Nodes: comm.Nodes, Launch: lib.Setting.Launch.String(),
		NCCL: lib.Version.String(), Constants: lib.Version.Constants().String(), Env: q.library.env, Version: version,
		Warnings: append(slices.Clone(comm.Channels.Doubts), report.Grave(job.Warnings)...), Ceiling: ceiling(hw.Machine, comm.Model, op, size),
	}
	if err := choose(e, comm.Model, op, size); err != nil {
		return nil, usage(cmd, "%w", err)
	}
	return e, simulate(ctx, e, job, lib, comm, question.Collectives.Pace, op, size, ranks)
}

// simulate fills in what weft makes of each way that NCCL considers, and where
// the bytes of the one it runs go.
func simulate(ctx context.Context, e *report.Explain, job *configs.Job, lib *nccl.Library, comm *nccl.Communicator, pace *configs.Pace, op workloads.Coll, size sim.Bytes, ranks []int32) error {
	group := synth.Group{Name: "explain", Ranks: [][]int32{ranks}}
	program, err := synth.Repeated{Op: op, Bytes: size, Group: group}.Build(int32(len(job.Machine.Ranks)))
	if err != nil {
		return err
	}
	for i, est := range comm.Estimates(op, size) {
		if est.Off != "" {
			continue
		}
		c := nccl.Choice{Estimate: est, Channels: comm.RunChannels(op, est, size)}
		chosen := comm.Run(op, c, size, lib.Setting)
		full := pace.Apply(chosen.Pace)
		run := func(p collective.Pace) (*replay.Result, error) {
			options := job.Options
			options.Choose = func(workloads.Coll, sim.Bytes, []int32) (collective.Choice, error) {
				ch := chosen
				ch.Pace = p
				return ch, nil
			}
			res, err := replay.Run(ctx, program, job.Machine, options)
			if err != nil {
				return nil, fmt.Errorf("simulate %v with %v for explain: %w", est.Algorithm, est.Protocol, err)
			}
			return res, nil
		}
		res, err := run(full)
		if err != nil {
			return err
		}
		bare, err := run(collective.Pace{})
		if err != nil {
			return err
		}
		row := &e.Rows[i]
		row.Simulated, row.Bare = res.StepTime, bare.StepTime
		if len(res.Colls) > 0 {
			row.Wire = res.Colls[0].WireBytes
		}
		if !row.Chosen {
			continue
		}
		if e.Parts, err = parts(full, bare.StepTime, run); err != nil {
			return err
		}
		for _, l := range res.Links {
			if l.Bytes > 0 {
				e.Wires = append(e.Wires, report.ExplainWire{Class: l.Class, Links: l.Links, Bytes: l.Bytes, Utilisation: l.Utilisation, Peak: l.Peak})
			}
		}
		if len(res.Busiest) > 0 {
			b := res.Busiest[0]
			e.Bottleneck, e.BottleneckUse = b.Name, b.Utilisation
		}
	}
	return nil
}

// parts divides the time of a way by what it is for: the wires alone, and what
// each cost of the kernels adds to what is there before it.
func parts(full collective.Pace, bare sim.Time, run func(collective.Pace) (*replay.Result, error)) ([]report.ExplainPart, error) {
	all := []report.ExplainPart{{What: "the wires alone", Time: bare}}
	var p collective.Pace
	last := bare
	for _, cost := range []struct {
		what string
		set  func()
	}{
		{fmt.Sprintf("thread blocks, which send at most %s", report.Rate(full.Limit)), func() { p.Limit = full.Limit }},
		{"launch, set-up and first turns, before bytes flow", func() { p.Start = full.Start }},
		{"steps: to notice what came and turn it round", func() { p.Step, p.NetStep = full.Step, full.NetStep }},
		{"slices, a pipeline that fills, and the slowest thread block", func() {
			limit, start, step, net := p.Limit, p.Start, p.Step, p.NetStep
			p = full
			p.Limit, p.Start, p.Step, p.NetStep, p.Floor = limit, start, step, net, 0
		}},
		{"the host, which launches later than that", func() { p.Floor = full.Floor }},
	} {
		cost.set()
		res, err := run(p)
		if err != nil {
			return nil, err
		}
		if d := res.StepTime - last; d > 0 {
			all = append(all, report.ExplainPart{What: cost.what, Time: d})
		}
		last = res.StepTime
	}
	return all, nil
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
