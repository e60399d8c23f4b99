package main

import (
	"context"
	"fmt"

	"github.com/weft-sim/weft/cmd/weft/internal/exitcode"
	"github.com/weft-sim/weft/cmd/weft/internal/report"
	"github.com/weft-sim/weft/configs"
	"github.com/weft-sim/weft/sim"
	"github.com/weft-sim/weft/topology"
	"github.com/weft-sim/weft/topology/fault"
	"github.com/weft-sim/weft/topology/machine"
	"github.com/weft-sim/weft/workloads"
	"github.com/weft-sim/weft/workloads/collective"
	"github.com/weft-sim/weft/workloads/collective/nccl"
	"github.com/weft-sim/weft/workloads/replay"
	"github.com/weft-sim/weft/workloads/synth"
)

// change is what differs from the machine and settings as they should be.
type change struct {
	set    []string            // as --set takes them
	faults []string            // as --fault takes them
	rewire func(*machine.Spec) // of a copy, before faults befall it
	gpus   int                 // of a node that take part; 0 is as many as the log says
}

// trial is a machine with its settings, ready to run the test.
type trial struct {
	job   *configs.Job
	hw    *configs.Hardware
	group []int32 // the ranks that take part
	nccl  bool    // NCCL runs, and not bare wires
	lib   *nccl.Library
	own   *configs.Pace // of the scenario, nil if it says none
	send  collective.Sender
}

// stage makes the machine with a change. The change lies over the user's own
// overrides, since it is what might be different from what the user believes.
func (s *subject) stage(c change) (*trial, error) {
	launch, text := s.launch, ""
	if s.nccl != "" {
		text = fmt.Sprintf(", version: %q", s.nccl)
	}
	text = fmt.Sprintf("name: diagnose\nsystem: %s\ncollectives: {library: nccl, launch: %s%s}\nworkload: {kind: collective, op: all_reduce, bytes: 1MiB}\n", standardSystem, launch, text)
	over := s.over.overlay()
	over.Set = append(append([]string(nil), over.Set...), c.set...)
	q := &question{made: true}
	var err error
	if q.Scenario, err = over.Parse(diagnoseSource, []byte(text), "."); err != nil {
		return nil, err
	}
	damage := s.over
	damage.fault = append(append(faultList(nil), s.over.fault...), c.faults...)
	if err := damage.addFaults(q); err != nil {
		return nil, err
	}
	t := &trial{}
	if t.job, err = q.Build(nil); err != nil {
		return nil, err
	}
	if t.hw, err = q.Hardware(nil); err != nil {
		return nil, err
	}
	if c.rewire != nil {
		if err := t.rewire(q, c.rewire); err != nil {
			return nil, err
		}
	}
	if t.group, err = s.members(t.job, c.gpus); err != nil {
		return nil, err
	}
	t.nccl = q.Collectives.Library == byNCCL
	if t.nccl {
		if t.lib, _, err = q.NCCL(t.hw); err != nil { // build has said its notes
			return nil, err
		}
		t.own = q.Collectives.Pace
		t.paced(t.own)
	}
	return t, nil
}

// paced gives NCCL's kernels a pace.
func (t *trial) paced(p *configs.Pace) {
	t.job.Options.Choose = p.Choices(t.lib.Choose)
	t.job.Options.Send = p.Sends(t.lib.Send(nil, false))
	t.send = p.Sends(t.lib.Send(t.group, true))
}

// diagnoseSource names the scenario of a log, which nobody wrote.
const diagnoseSource = "weft diagnose"

// rewire builds the machine anew of a changed description.
func (t *trial) rewire(q *question, change func(*machine.Spec)) error {
	if t.hw.Spec == nil {
		return fmt.Errorf("the wires of a network file stay as they are")
	}
	spec := *t.hw.Spec
	if spec.Host.PCIe != nil {
		tree := *spec.Host.PCIe
		tree.NICs = append(tree.NICs[:0:0], tree.NICs...)
		tree.GPUs = append(tree.GPUs[:0:0], tree.GPUs...)
		spec.Host.PCIe = &tree
	}
	change(&spec)
	m, err := machine.Build(spec)
	for i := range q.Faults {
		if err == nil {
			m, err = fault.Apply(m, q.Faults[i].Fault)
		}
	}
	if err != nil {
		return err
	}
	hw := *t.hw
	hw.Spec, hw.Machine = &spec, m
	t.hw = &hw
	t.job.Machine = m
	return nil
}

// members returns the ranks that take part: the first GPUs of each node.
func (s *subject) members(job *configs.Job, gpus int) ([]int32, error) {
	if gpus == 0 {
		gpus = s.gpus
	}
	g := job.Machine.Graph
	taken := map[int32]int{}
	var all []int32
	for r, node := range job.Machine.Ranks {
		if host := g.Nodes[node].Host; taken[host] < gpus {
			taken[host]++
			all = append(all, int32(r))
		}
	}
	if want := s.nodes * gpus; len(all) != want {
		return nil, exitcode.With(exitcode.Config, fmt.Errorf("diagnose %s: %d GPUs took part, %d of each of %s, but the machine has %d that can; expected another --system or --nodes",
			s.place(), want, gpus, report.Plural(s.nodes, "node"), len(all)))
	}
	return all, nil
}

// expectation is what weft expects of a size.
type expectation struct {
	Time        sim.Time
	Algo, Proto string
	Bottleneck  string
}

// run runs the test at sizes.
func (t *trial) run(ctx context.Context, s *subject, sizes []sim.Bytes) ([]expectation, error) {
	all := make([]expectation, len(sizes))
	for i, size := range sizes {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		m, program, err := t.program(s, size)
		if err != nil {
			return nil, err
		}
		options := t.job.Options
		if s.pairs {
			options.Send = t.send
		}
		res, err := replay.Run(ctx, program, m, options)
		if err != nil {
			return nil, fmt.Errorf("simulate %s of %s: %w", s.opName(), report.Size(size), err)
		}
		e := expectation{Time: res.StepTime, Algo: "direct", Proto: "simple", Bottleneck: busiest(res)}
		if len(res.Colls) > 0 {
			c := res.Colls[0]
			e.Algo, e.Proto = c.Algo, c.Proto
			if s.op == workloads.AllGather && t.nccl && s.rows[0].Out.Measured() {
				e.Time, _ = (&stand{gpu: t.hw.GPU}).placements(c)
			}
		}
		all[i] = e
	}
	return all, nil
}

// program returns the test of a size, and the machine as its kernels meet it.
func (t *trial) program(s *subject, size sim.Bytes) (*topology.Machine, *workloads.Program, error) {
	m := t.job.Machine
	world := int32(len(m.Ranks))
	if s.pairs {
		return m, neighbours(world, t.group, size), nil
	}
	r := synth.Repeated{Op: s.op, Bytes: size}
	if len(t.group) < int(world) {
		r.Group = synth.Group{Name: "test", Ranks: [][]int32{t.group}}
	}
	p, err := r.Build(world)
	return m, p, err
}
