package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/weft-sim/weft/cmd/weft/internal/exitcode"
	"github.com/weft-sim/weft/cmd/weft/internal/report"
	"github.com/weft-sim/weft/sim"
	"github.com/weft-sim/weft/topology"
	"github.com/weft-sim/weft/workloads"
	"github.com/weft-sim/weft/workloads/collective"
	"github.com/weft-sim/weft/workloads/collective/msccl"
	"github.com/weft-sim/weft/workloads/collective/mscclpp"
	"github.com/weft-sim/weft/workloads/collective/nccl"
	"github.com/weft-sim/weft/workloads/replay"
)

// algorithmFile reports whether --algo names a file, and not an algorithm of
// the library.
func algorithmFile(algo word) bool {
	for _, end := range []string{".xml", ".xml.gz", ".json", ".json.gz"} {
		if strings.HasSuffix(strings.ToLower(string(algo)), end) {
			return true
		}
	}
	return false
}

// ownAlgorithm is an algorithm of the user's own.
type ownAlgorithm struct {
	schedule
	file     string
	protocol string
	channels int
	switched bool // the switch adds up
	notes    []string
	pace     msccl.Pacer // nil costs nothing
	memory   sim.Rate
	warn     func(string)
	warned   bool
}

// schedule is what the formats of algorithms have in common.
type schedule interface {
	Check() (notes []string, err error)
	Op() string
	Ranks() int
	Fits(sim.Bytes) error
	CostsOf(pace msccl.Pacer, size sim.Bytes, memory sim.Rate) msccl.Costs
	Expand(size sim.Bytes, ranks []int32, world int32, c msccl.Costs) (*msccl.Run, error)
}

// ownFile reads the file that --algo names for an operation, and takes the name
// from the flags, so that the library runs without it.
func (b *bench) ownFile(op workloads.Coll) error {
	name := string(b.library.algo)
	if b.library.proto != "" {
		return usage(b.cmd, "--proto %s: the algorithm of a file says its protocol itself, expected --algo %s alone", b.library.proto, name)
	}
	content, err := os.ReadFile(name)
	if err != nil {
		return exitcode.With(exitcode.Input, fmt.Errorf("read algorithm: %w", err))
	}
	own := &ownAlgorithm{file: filepath.Base(name)}
	if msccl.IsXML(content) {
		a, err := msccl.Read(own.file, content)
		if err != nil {
			return exitcode.With(exitcode.Input, err)
		}
		own.schedule, own.protocol, own.channels, own.notes = a, a.Protocol.String(), a.Channels, a.Notes
	} else {
		p, err := mscclpp.Read(own.file, content)
		if err != nil {
			return exitcode.With(exitcode.Input, err)
		}
		own.schedule, own.protocol, own.channels, own.notes = p, p.Protocol, p.Blocks(), p.Notes
		own.switched = p.Switched()
	}
	notes, err := own.Check()
	if err != nil {
		return exitcode.With(exitcode.Input, err)
	}
	own.notes = append(own.notes, notes...)
	if is := own.Op(); is != op.String() && is != "custom" {
		return usage(b.cmd, "--algo %s: its collective is %s, expected weft bench %s with it", name, is, is)
	}
	own.warn = func(w string) { fmt.Fprintf(b.app.Err, "weft: note: %s\n", w) }
	b.own, b.library.algo = own, ""
	return nil
}

// prepare asks the library on a machine what its kernels cost, and keeps the
// sizes that the algorithm is for.
func (o *ownAlgorithm) prepare(b *bench, s *stand, runs []run) ([]run, error) {
	if len(s.ranks) != o.Ranks() {
		return nil, usage(b.cmd, "--algo %s: it is for %d GPUs, and %d take part; expected -g, --nodes or --system that make %d", o.file, o.Ranks(), len(s.ranks), o.Ranks())
	}
	hw, err := s.Hardware(nil)
	if err != nil {
		return nil, s.mend(err)
	}
	if hw.GPU != nil {
		o.memory = hw.GPU.MemoryRate.Value() * sim.Rate(hw.GPU.MemoryEfficiency.Value())
	}
	sm := 0
	switch s.name {
	case byNothing:
		o.memory = 0
	case byNCCL:
		lib, _, err := s.NCCL(hw)
		if err != nil {
			return nil, s.mend(err)
		}
		sm = lib.On.SM
		comm, err := lib.Communicator(s.ranks)
		if err != nil {
			return nil, exitcode.With(exitcode.Config, fmt.Errorf("bench --algo %s: %w", o.file, err))
		}
		o.pace = func(op workloads.Coll, c nccl.Choice, size sim.Bytes) collective.Pace {
			return s.Collectives.Pace.Apply(comm.Pace(op, c, size, lib.Setting))
		}
	default:
		return nil, usage(b.cmd, "--algo %s: %s runs its own kernels, expected --library %s or %s", o.file, s.name, byNCCL, byNothing)
	}
	switches := slices.ContainsFunc(hw.Machine.Graph.Nodes, func(n topology.Node) bool { return n.Kind == topology.NVSwitch && !n.Down })
	if o.switched && (!switches || sm > 0 && sm < 90) { // NVLS came with compute capability 9.0
		return nil, usage(b.cmd, "--algo %s: glres takes NVSwitches that add up, which this machine has not; expected one such as dgx-h100", o.file)
	}
	var kept []run
	var first error
	for _, r := range runs {
		if err := o.Fits(r.size); err == nil {
			kept = append(kept, r)
		} else if first == nil {
			first = err
		}
	}
	if len(kept) == 0 {
		return nil, usage(b.cmd, "--algo %s: no size is left: %w; see -b, -e and -f", o.file, first)
	}
	if n := len(runs) - len(kept); n > 0 {
		o.notes = append(o.notes, fmt.Sprintf("%s left out: %v", report.Plural(n, "size"), first))
	}
	return kept, nil
}

// row runs one size of it.
func (o *ownAlgorithm) row(ctx context.Context, s *stand, op workloads.Coll, r run, row report.BenchRow) (report.BenchRow, error) {
	var costs msccl.Costs
	if o.pace != nil {
		costs = o.CostsOf(o.pace, r.size, o.memory)
	}
	m, options := s.job.Machine, s.job.Options
	traffic, err := o.Expand(r.size, s.ranks, int32(len(m.Ranks)), costs)
	if err != nil {
		return row, err
	}
	if len(traffic.Warnings) > 0 && !o.warned { // the largest sizes have them, after the head of the table
		o.warn(traffic.Warnings[0])
		o.warned = true
	}
	options.Send = traffic.Send
	if traffic.Choose != nil {
		options.Choose = traffic.Choose
	}
	res, err := replay.Run(ctx, traffic.Program, m, options)
	if err != nil {
		return row, err
	}
	row.Algo, row.Proto, row.Channels, row.WireBytes = o.file, o.protocol, o.channels, traffic.Sent
	row.Out = placed(r.size, res.StepTime, collective.BusFactor(op, len(s.ranks)))
	row.In = row.Out
	row.Bottleneck = busiest(res)
	return row, nil
}
