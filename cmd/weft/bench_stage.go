package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/weft-sim/weft/cmd/weft/internal/exitcode"
	"github.com/weft-sim/weft/configs"
	"github.com/weft-sim/weft/configs/catalog"
	"github.com/weft-sim/weft/sim"
	"github.com/weft-sim/weft/workloads"
	"github.com/weft-sim/weft/workloads/collective"
)

// bare are the collectives of a bench on which no library runs.
const bare = "collectives: {library: " + byNothing + "}\n"

// benchSource names the scenario of a bench, which nobody wrote.
const benchSource = "weft bench"

// stage makes the machine of a bench on which no library runs, and a job that
// does not matter: what runs on it comes later.
func stage(cmd *cobra.Command, o *overrides, sw sweep) (*question, *configs.Job, error) {
	q, err := ask(cmd, o, sw, bare, nil)
	if err != nil {
		return nil, nil, err
	}
	job, err := q.build()
	return q, job, err
}

// ask reads the scenario of a bench, with collectives as its own text has
// them and flags over it.
func ask(cmd *cobra.Command, o *overrides, sw sweep, collectives string, flags []configs.Flag) (*question, error) {
	text := fmt.Sprintf("name: bench\nsystem: %s\nworkload: {kind: collective, op: all_reduce, bytes: 1MiB}\n%s", standardSystem, collectives)
	if err := o.empty(); err != nil {
		return nil, err
	}
	over := o.overlay()
	if c, err := catalog.Load(); err != nil {
		return nil, err
	} else if s, err := c.System(string(o.system)); err == nil && s.AnySize && sw.perNode() > 0 {
		over.Flags = append(over.Flags, configs.Flag{Name: "--ngpus", Path: "gpus", Value: fmt.Sprint(sw.perNode())})
	}
	over.Flags = append(over.Flags, flags...)
	q := &question{made: true}
	var err error
	if q.Scenario, err = over.Parse(benchSource, []byte(text), "."); err != nil {
		return nil, q.mend(err)
	}
	if err := foreign(cmd, q.Resolved()); err != nil {
		return nil, err
	}
	return q, o.addFaults(q)
}

// stand is a machine on which a bench runs, with the library's choices.
type stand struct {
	*question
	job   *configs.Job
	name  string // of the library
	ranks []int32
	gpu   *catalog.GPU      // nil where its kind is not known, or nobody asked
	send  collective.Sender // of a rank that receives as well; nil is bare wires
	note  string            // what the library would have done is not known, and why
}

// stand makes the machine of a bench of an operation, nil for send and
// receive, with the library that the flags, --set and the environment say.
// NCCL runs unless they say otherwise; where weft does not know what it would
// do on the machine, and nobody asked for it, nothing runs, and a note says why.
func (b *bench) stand(op *workloads.Coll, more ...configs.Flag) (*stand, error) {
	lib, sw := &b.library, &b.sweep
	var named []configs.Flag
	if lib.name.value != "" {
		named = append(named, configs.Flag{Name: "--library", Path: "collectives.library", Value: lib.name.value})
	}
	const base = "collectives: {library: " + byNCCL + "}\n"
	q, err := ask(b.cmd, &b.over, *sw, base, named)
	if err != nil {
		return nil, err
	}
	name, text := q.Collectives.Library, base
	if by := sw.launched(); by != "" && name == byNCCL {
		text = fmt.Sprintf("collectives: {library: %s, launch: %s}\n", byNCCL, by)
	}
	if err := lib.checkForced(b.cmd, name); err != nil {
		return nil, err
	}
	if q, err = ask(b.cmd, &b.over, *sw, text, append(lib.overlay(name), more...)); err != nil {
		return nil, err
	}
	s, err := b.build(q, name, op)
	if err == nil || name != byNCCL || lib.asked(b.cmd) || !strings.HasPrefix(q.Origin("collectives.library"), benchSource+":") {
		return s, err
	}
	if q, bareErr := ask(b.cmd, &b.over, *sw, bare, nil); bareErr == nil {
		if s, bareErr := b.build(q, byNothing, op); bareErr == nil {
			s.note = fmt.Sprintf("weft does not know what NCCL runs on this machine, so a ring or direct transfers run, on bare wires: %v", innermost(err))
			return s, nil
		}
	}
	return nil, err
}

// build makes the machine of a scenario, and asks the library of that name for
// a choice, to see that it has one.
func (b *bench) build(q *question, name string, op *workloads.Coll) (*stand, error) {
	job, err := q.build()
	if err != nil {
		return nil, err
	}
	s := &stand{question: q, job: job, name: name}
	if s.ranks, err = take(b.cmd, job, b.sweep.perNode(), b.sweep.taken()); err != nil {
		return nil, err
	}
	if job.Machine.Hosts == 1 && b.library.plugin.text != "" {
		return nil, usage(b.cmd, "--plugin %s: there is one node, and no network beside it; expected --nodes 2 or more", b.library.plugin.text)
	}
	if op == nil && len(s.ranks) < 2 {
		return nil, usage(b.cmd, "sendrecv takes two GPUs at least, and there is one; name a system with more")
	}
	if name != byNothing && op != nil {
		if _, err := job.Options.Choose(*op, sim.Bytes(b.sweep.end), s.ranks); err != nil {
			if len(q.Collectives.Env) > 0 { // which may leave nothing
				return nil, usage(b.cmd, "%w", err)
			}
			return nil, exitcode.With(exitcode.Config, fmt.Errorf("bench %v with %s: %w", *op, name, err))
		}
	}
	if op == nil || *op == workloads.AllGather || b.json != "" {
		hw, err := q.Hardware(nil)
		if err != nil {
			return nil, q.mend(err)
		}
		s.gpu = hw.GPU
		if op == nil && name != byNothing {
			lib, _, err := q.NCCL(hw) // build has said its notes
			if err != nil {
				return nil, q.mend(err)
			}
			s.send = q.Collectives.Pace.Sends(lib.Send(s.ranks, true))
			if _, err := s.send(sim.Bytes(b.sweep.end), s.ranks[0], s.ranks[len(s.ranks)-1]); err != nil {
				return nil, exitcode.With(exitcode.Config, fmt.Errorf("bench sendrecv with NCCL: %w", err))
			}
		}
	}
	return s, nil
}

// asked reports whether a flag says something about a library.
func (l *library) asked(cmd *cobra.Command) bool {
	return slices.ContainsFunc([]string{"library", "version", "env", "algo", "proto", "launch", "plugin"}, func(name string) bool {
		return cmd.Flags().Changed(name)
	})
}

// innermost is the cause of an error, without what was being done around it.
func innermost(err error) error {
	for inner := errors.Unwrap(err); inner != nil; inner = errors.Unwrap(err) {
		err = inner
	}
	return err
}

// benchKeys are the keys of a scenario that mean something to a bench.
var benchKeys = []string{"system", "preset", "gpu", "gpus", "faults", "nodes", "network", "pcie", "seed", "collectives", "collapse", "figures"}

// foreign is the error of settings that a bench would ignore.
func foreign(cmd *cobra.Command, settings []configs.Setting) error {
	for _, s := range settings {
		key, _, _ := strings.Cut(s.Path, ".")
		fixed := s.Origin == "default" || strings.HasPrefix(s.Origin, benchSource+":")
		if fixed || slices.Contains(benchKeys, key) {
			continue
		}
		err := fmt.Errorf("%s: a bench has a workload of its own and no %s; expected a key below %s", s.Origin, key, strings.Join(benchKeys, ", "))
		if strings.HasPrefix(s.Origin, "env ") {
			return exitcode.With(exitcode.Config, err)
		}
		return usage(cmd, "%w", err)
	}
	return nil
}

// take returns the first n GPUs of each node that -g or -t (by) say, or all for
// 0. A node of which fewer are in service gives those.
func take(cmd *cobra.Command, job *configs.Job, n int, by string) ([]int32, error) {
	m := job.Machine
	byHost := make([][]int32, m.Hosts)
	per := 0
	for r, gpu := range m.Ranks {
		h := m.Graph.Nodes[gpu].Host
		byHost[h] = append(byHost[h], int32(r))
		per = max(per, len(byHost[h]))
	}
	if n > per {
		return nil, usage(cmd, "%s: read %d, but a node of this system has %d GPUs; expected 1 to %d", by, n, per, per)
	}
	var ranks []int32
	for _, host := range byHost {
		if n > 0 && n < len(host) {
			host = host[:n]
		}
		ranks = append(ranks, host...)
	}
	return ranks, nil
}
