package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/weft-sim/weft/cmd/weft/internal/exitcode"
	"github.com/weft-sim/weft/cmd/weft/internal/report"
	"github.com/weft-sim/weft/configs/catalog"
	"github.com/weft-sim/weft/sim"
	"github.com/weft-sim/weft/workloads"
	"github.com/weft-sim/weft/workloads/collective/nccl"
	"github.com/weft-sim/weft/workloads/trace/nccltests"
)

// subject is a table of a log, and the machine that it is held against.
type subject struct {
	file   string
	table  *nccltests.Table
	rows   []nccltests.Row
	op     workloads.Coll
	pairs  bool // sendrecv, which is no collective
	ranks  int
	nodes  int
	gpus   int // of a node
	system string
	launch string
	nccl   string // the release, "" is not known
	over   overrides
	notes  []string
	within float64 // what --within says, as a part; 0 is nothing
}

// subject finds out what a table is of. What the log says stands where no flag
// says otherwise.
func (m *measurement) subject(cmd *cobra.Command, file string, t *nccltests.Table) (*subject, error) {
	s := &subject{file: file, table: t, over: m.overrides, rows: t.Usable(), notes: slices.Clone(t.Notes), launch: nccl.PerGPU.String(), within: m.within / 100}
	bad := func(format string, args ...any) error {
		return exitcode.With(exitcode.Input, fmt.Errorf("read nccl-tests output: %s: %s", s.place(), fmt.Sprintf(format, args...)))
	}
	if len(s.rows) == 0 {
		return nil, bad("no row of the table has a size and a time above zero that can be trusted")
	}
	if err := s.operation(cmd, string(m.op)); err != nil {
		return nil, err
	}
	s.ranks = t.Ranks
	if m.ranks > 0 {
		if s.ranks > 0 && !t.Counted && s.ranks != int(m.ranks) {
			return nil, usage(cmd, "--ranks %d, but the log names %d GPUs", m.ranks, s.ranks)
		}
		s.ranks = int(m.ranks)
	}
	if s.ranks == 1 {
		return nil, bad("one GPU took part, and nothing was sent; were the processes of the job started without MPI?")
	}
	if t.Counted && m.ranks == 0 {
		s.notes = append(s.notes, fmt.Sprintf("the log names no GPUs: %d of them follow from busbw over algbw", s.ranks))
	}
	if err := s.machine(cmd); err != nil {
		return nil, err
	}
	s.settings()
	return s, nil
}

// place says where in the log the table is.
func (s *subject) place() string {
	if s.table.Line > 0 {
		return s.file + ":" + strconv.Itoa(s.table.Line)
	}
	return s.file
}

// operation takes the operation from the flag or the log.
func (s *subject) operation(cmd *cobra.Command, flag string) error {
	t := s.table
	name := strings.TrimSuffix(flag, "_perf")
	switch {
	case name == "" && t.Op == "" && len(t.Might) > 0:
		return usage(cmd, "%s: the log does not name its operation, and its numbers are those of %s; expected --op with one of them", s.place(), strings.Join(t.Might, " or "))
	case name == "" && t.Op == "":
		return usage(cmd, "%s: the log does not name its operation; expected --op, such as --op all_reduce", s.place())
	case name == "":
		name = t.Op
	case t.Op != "" && t.Op != name && len(t.Might) == 0:
		return usage(cmd, "--op %s, but the log says that %s ran (%s)", name, t.Op, s.place())
	case len(t.Might) > 0 && !slices.Contains(t.Might, name):
		return usage(cmd, "--op %s, but the numbers of the log are those of %s (%s)", name, strings.Join(t.Might, " or "), s.place())
	}
	if s.pairs = name == sendRecv; s.pairs {
		return nil
	}
	op, err := benchOp(cmd, name)
	s.op = op
	return err
}

// opName is the operation as nccl-tests calls it.
func (s *subject) opName() string {
	if s.pairs {
		return sendRecv
	}
	return s.op.String()
}

// machine finds the system, and how many nodes of it and GPUs of each.
func (s *subject) machine(cmd *cobra.Command) error {
	t := s.table
	switch {
	case s.over.system != "":
		s.system = string(s.over.system)
	case t.System != "":
		s.system = t.System
		s.notes = append(s.notes, "the system is the one that the log names: "+s.system)
	default:
		per := t.Ranks
		if t.Hosts > 1 {
			per = t.Ranks / t.Hosts
		}
		s.system = guess(t.Names(), per)
		if s.system == "" {
			return usage(cmd, "%s: the system is not known%s; expected --system, such as --system %s (`weft list systems` has them)", s.place(), unguessed(t.Names()), standardSystem)
		}
		s.notes = append(s.notes, fmt.Sprintf("the system is guessed from the GPUs of the log (%s): %s; --system says another", strings.Join(t.Names(), ", "), s.system))
	}
	s.over.system = word(s.system)
	if s.ranks == 0 {
		return usage(cmd, "%s: the log does not say how many GPUs took part; expected --ranks, such as --ranks 8", s.place())
	}
	return s.spread(cmd)
}

func unguessed(gpus []string) string {
	if len(gpus) == 0 {
		return ", since the log names no GPUs"
	}
	return ": no machine of GPUs such as " + strings.Join(gpus, ", ") + " is the usual one"
}

// spread finds out on how many nodes the ranks are.
func (s *subject) spread(cmd *cobra.Command) error {
	s.nodes = int(s.over.nodes)
	trays := 1
	per := 0
	if c, err := catalog.Load(); err == nil {
		if rec, err := c.Machine(s.system, catalog.Options{Hosts: 1}); err == nil {
			per, trays = rec.Spec.Host.GPUs, max(1, rec.Spec.Host.Trays)
			if rec.System.AnySize {
				per = 0
			}
		}
	}
	switch {
	case s.nodes > 0:
	case s.table.Hosts > 0 && trays == 1:
		s.nodes = s.table.Hosts
	case per > 0:
		s.nodes = (s.ranks + per - 1) / per
	default:
		s.nodes = 1
	}
	if s.ranks%s.nodes != 0 {
		return usage(cmd, "%s: %d GPUs do not spread evenly over %d nodes; expected --nodes with a divisor of %d", s.place(), s.ranks, s.nodes, s.ranks)
	}
	s.gpus = s.ranks / s.nodes
	if per > 0 && s.gpus > per {
		return exitcode.With(exitcode.Config, fmt.Errorf("diagnose %s: %d GPUs took part, but %s of %s has %d; expected --nodes %d or more, or another --system",
			s.place(), s.ranks, report.Plural(s.nodes, "node"), s.system, s.nodes*per, (s.ranks+per-1)/per))
	}
	s.over.nodes = positive(s.nodes)
	return nil
}

// settings takes launch and release from the log.
func (s *subject) settings() {
	t := s.table
	switch {
	case t.Launch != "":
		if _, err := nccl.ParseLaunch(t.Launch); err == nil {
			s.launch = t.Launch
		}
	case t.Graph > 0:
		s.launch = nccl.CUDAGraph.String()
	case t.OneProcess():
		s.launch = nccl.OneProcess.String()
	case t.Threads > 1:
		s.launch = nccl.Threads.String()
	}
	if t.HostTime {
		s.notes = append(s.notes, "the times are the CPU's, of launches (-C), not of the collectives: they say nothing of the wires")
	}
	if t.Library == "" {
		return
	}
	text := release(t.Library)
	if _, err := nccl.ParseVersion(text); err != nil {
		s.notes = append(s.notes, fmt.Sprintf("the log names NCCL %s, which weft does not know; its choice is that of %v", text, nccl.Latest))
		return
	}
	s.nccl = text
}

// release writes NCCL's number of itself, 22703, as people do.
func release(text string) string {
	n, err := strconv.Atoi(text)
	if err != nil || n < 2000 {
		return text
	}
	if n < 10000 { // before 2.9: 2804
		return fmt.Sprintf("%d.%d.%d", n/1000, n/100%10, n%100)
	}
	return fmt.Sprintf("%d.%d.%d", n/10000, n/100%100, n%100)
}

// sizes lists those of the rows.
func (s *subject) sizes() []sim.Bytes {
	all := make([]sim.Bytes, len(s.rows))
	for i, r := range s.rows {
		all[i] = r.Size
	}
	return all
}

// mend puts errors that speak of a scenario's file into words of the verb.
func (s *subject) mend(err error) error { return (&question{made: true}).mend(err) }
