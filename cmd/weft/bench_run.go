package main

import (
	"context"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/weft-sim/weft/cmd/weft/internal/exitcode"
	"github.com/weft-sim/weft/cmd/weft/internal/report"
	"github.com/weft-sim/weft/configs"
	"github.com/weft-sim/weft/sim"
	"github.com/weft-sim/weft/workloads"
	"github.com/weft-sim/weft/workloads/collective"
	"github.com/weft-sim/weft/workloads/collective/nccl"
	"github.com/weft-sim/weft/workloads/replay"
)

// bench is one call of the verb.
type bench struct {
	app     *app
	cmd     *cobra.Command
	over    overrides
	sweep   sweep
	library library
	json    word          // the file of -J
	own     *ownAlgorithm // nil where the library's run
}

// run is a bench of one operation, which is collective if op is not nil.
func (b *bench) run(ctx context.Context, name string, op *workloads.Coll, format string) error {
	stop := b.app.Spin("simulating")
	defer stop()
	s, err := b.stand(op)
	if err != nil {
		return err
	}
	n := len(s.ranks)
	tests, err := b.sweep.tests(b.cmd, op, name, n)
	if err != nil {
		return err
	}
	runs, dropped := b.sweep.plan(tests, op, n)
	if len(runs) == 0 {
		return usage(b.cmd, "-e %s leaves nothing for %s, expected at least %s", b.sweep.end.String(), report.Plural(n, "rank"), report.Size(leastSize(tests, op, n)))
	}
	if b.own != nil {
		if runs, err = b.own.prepare(b, s, runs); err != nil {
			return err
		}
	}
	choose, err := b.chooser(s, op)
	if err != nil {
		return err
	}
	table := b.header(s, name, op, runs[0].size)
	if b.own != nil {
		table.Warnings = append(table.Warnings, b.own.notes...)
	}
	if dropped > 0 {
		table.Warnings = append(table.Warnings, fmt.Sprintf("%s left out: nccl-tests gives each rank a multiple of 16 bytes, and less than that is nothing", report.Plural(dropped, "size")))
	}
	tables := []report.BenchTable{table.Table(format, b.app.Out, b.width())}
	var file *late
	if b.json != "" {
		if file, err = openLate(string(b.json)); err != nil {
			return err
		}
		defer file.drop()
		tables = append(tables, &report.NCCLTestsJSON{Bench: table, Args: os.Args, Env: b.library.env, Devices: s.devices(), W: file})
	}
	if format == "csv" {
		for _, w := range table.Warnings { // the columns have no place for them
			fmt.Fprintf(b.app.Err, "weft: note: %s\n", w)
		}
	}
	for i, r := range runs {
		row, err := b.row(ctx, s, choose, op, r)
		if err != nil {
			return fmt.Errorf("bench %s of %s: %w", name, report.Size(r.size), err)
		}
		stop()
		for _, t := range tables {
			if i == 0 {
				if err := t.Begin(); err != nil {
					return err
				}
			}
			if err := t.Row(row); err != nil {
				return err
			}
		}
	}
	for _, t := range tables {
		if err := t.End(); err != nil {
			return err
		}
	}
	if file != nil {
		return file.commit()
	}
	return nil
}

// width is that of a person's terminal; what reads a pipe wants all columns.
func (b *bench) width() int {
	if b.app.OutTTY {
		return b.app.Width
	}
	return 0
}

// header returns what stands above the table.
func (b *bench) header(s *stand, name string, op *workloads.Coll, smallest sim.Bytes) *report.Bench {
	m, sw := s.job.Machine, &b.sweep
	h := &report.Bench{
		Op: name, System: s.system(), GPUs: len(s.ranks), Nodes: int(m.Hosts), Version: version,
		Sweep: report.Sweep{
			Begin: sim.Bytes(sw.begin), End: sim.Bytes(sw.end), Factor: sw.factor, Step: sim.Bytes(sw.step),
			Threads: 1, PerThread: 1, Warmup: int(sw.warmup), Iterations: int(sw.iters), Graph: int(sw.graph),
		},
		Warnings: report.Grave(s.job.Warnings),
	}
	if s.note != "" {
		h.Warnings = append(h.Warnings, s.note)
	}
	if s.name != byNothing {
		s.introduce(h)
	}
	per := len(s.ranks) / int(m.Hosts)
	switch h.Launch {
	case nccl.OneProcess.String():
		h.Sweep.PerThread = per
	case nccl.Threads.String():
		h.Sweep.Threads = per
	case nccl.CUDAGraph.String():
		h.Sweep.Graph = max(h.Sweep.Graph, 1)
	}
	if len(s.ranks) == 1 {
		h.Warnings = append(h.Warnings, "one GPU has nobody to send to: no wire is used, and the copies within its memory are not modelled")
	}
	if s.name == byNothing {
		by := workloads.Broadcast // which hands on the whole, as a send does
		if op != nil {
			by = *op
		}
		h.Warnings = append(h.Warnings, smallMessages(by, smallest, len(s.ranks))...)
	}
	h.Warnings = append(h.Warnings, idleNote(b.cmd.Flags())...)
	return h
}

// introduce says in a header which library runs, and how it is launched.
func (s *stand) introduce(h *report.Bench) {
	release := nccl.Latest
	h.Library, h.Launch = s.name, nccl.CUDAGraph.String() // as inference engines do
	if s.name == byNCCL {
		if v, err := nccl.ParseVersion(s.Collectives.Version); err == nil {
			release = v
		}
		h.Library, h.Launch = "NCCL "+release.String(), nccl.PerGPU.String()
	} else if s.Collectives.Version != "" {
		h.Library += " " + s.Collectives.Version
	}
	h.NCCL = release.Major*10_000 + release.Minor*100 + release.Patch
	if s.Collectives.Launch != "" {
		h.Launch = s.Collectives.Launch
	}
}

// devices lists the GPUs of the ranks, as nccl-tests does.
func (s *stand) devices() []report.Device {
	kind := "GPU"
	if s.gpu != nil {
		kind = s.gpu.Title
	}
	m := s.job.Machine
	var all []report.Device
	at := map[int32]int{}
	for _, r := range s.ranks {
		host := m.Graph.Nodes[m.Ranks[r]].Host
		all = append(all, report.Device{Host: fmt.Sprintf("node%d", host), Index: at[host], Name: kind})
		at[host]++
	}
	return all
}

// chooser returns who picks the algorithm of a test.
func (b *bench) chooser(s *stand, op *workloads.Coll) (func(test) (collective.Chooser, error), error) {
	if len(s.ranks) < 2 {
		return func(test) (collective.Chooser, error) { return collective.Default, nil }, nil // nothing is sent
	}
	if s.name == byNothing {
		c, err := b.library.explicitly()
		if err == nil && c != nil && op != nil {
			_, err = c(*op, sim.MiB, []int32{0, 1})
		}
		if err != nil {
			return nil, usage(b.cmd, "--algo %s: %w", b.library.algo, err)
		}
		if c == nil {
			c = s.job.Options.Choose
		}
		if c == nil {
			c = collective.Default
		}
		return func(test) (collective.Chooser, error) { return c, nil }, nil
	}
	if op != nil && !chosen(*op) {
		for _, f := range b.library.forced() {
			if f.value != "" {
				return nil, usage(b.cmd, "%s %s: NCCL makes %v of sends and receives and chooses nothing for it", f.flag, f.value, *op)
			}
		}
	}
	var noSwitch collective.Chooser // NCCL where the switch cannot add up
	return func(t test) (collective.Chooser, error) {
		if t.reducedBySwitch() {
			return s.job.Options.Choose, nil
		}
		if noSwitch == nil {
			other, err := b.stand(op, configs.Flag{Name: "--datatype", Path: "collectives.env.NCCL_NVLS_ENABLE", Value: "'0'"})
			if err != nil {
				return nil, err
			}
			noSwitch = other.job.Options.Choose
		}
		return noSwitch, nil
	}, nil
}

// chosen reports whether NCCL has algorithms to choose from for an operation.
func chosen(op workloads.Coll) bool {
	for _, o := range nccl.Ops {
		if o == op {
			return true
		}
	}
	return false
}

// row runs one size of one test.
func (b *bench) row(ctx context.Context, s *stand, choosers func(test) (collective.Chooser, error), op *workloads.Coll, r run) (report.BenchRow, error) {
	row := report.BenchRow{Size: r.size, Count: r.count, Type: r.name, RedOp: r.redOp, Root: r.root}
	if b.own != nil {
		return b.own.row(ctx, s, *op, r, row)
	}
	world := int32(len(s.job.Machine.Ranks))
	m, options := s.job.Machine, s.job.Options
	var program *workloads.Program
	factor := 1.0
	if op == nil {
		program, options.Send = neighbours(world, s.ranks, r.size), s.send
		row.Algo, row.Proto, row.WireBytes = collective.Direct.String(), "simple", float64(r.size)
		if s.send != nil {
			c, err := s.send(r.size, s.ranks[len(s.ranks)-1], s.ranks[0])
			if err != nil {
				return row, err
			}
			row.Proto, row.Channels, row.WireBytes = c.Protocol, c.Channels, float64(c.Wire(r.size))
		}
	} else {
		choose, err := choosers(r.test)
		if err != nil {
			return row, err
		}
		if _, err := choose(*op, r.size, s.ranks); err != nil {
			return row, exitcode.With(exitcode.Usage, err)
		}
		options.Choose = choose
		program = once(*op, r, s.ranks, world)
		factor = collective.BusFactor(*op, len(s.ranks))
	}
	res, err := replay.Run(ctx, program, m, options)
	if err != nil {
		return row, err
	}
	out, in := res.StepTime, res.StepTime
	if len(res.Colls) > 0 {
		c := res.Colls[0]
		row.Algo, row.Proto, row.Channels, row.WireBytes = c.Algo, c.Proto, c.Channels, c.WireBytes
		if *op == workloads.AllGather && s.name != byNothing {
			out, in = s.placements(c)
		}
	}
	row.Out, row.In = placed(r.size, out, factor), placed(r.size, in, factor)
	row.Bottleneck = busiest(res)
	return row, nil
}

// placements are the times of an all_gather out of place and in place. Out of
// place each rank copies its own part to where it belongs. The costs of NCCL's
// kernels are means over both, so half of the copy goes to either side.
func (s *stand) placements(c replay.CollectiveUse) (out, in sim.Time) {
	if s.gpu == nil || c.Ranks < 2 {
		return c.Time, c.Time
	}
	rate := float64(s.gpu.MemoryRate.Value()) * float64(s.gpu.MemoryEfficiency.Value())
	if !(rate > 0) {
		return c.Time, c.Time
	}
	own := float64(c.Bytes) / float64(c.Ranks)
	half := sim.Time(own / rate * float64(sim.Second)) // each byte is read and written
	return c.Time + half, max(c.Time-half, c.Bound)
}

// placed turns a time into bandwidths.
func placed(size sim.Bytes, t sim.Time, factor float64) report.Placed {
	p := report.Placed{Time: t}
	if t > 0 {
		p.AlgBW = sim.Rate(float64(size) / t.Seconds())
		p.BusBW = sim.Rate(float64(p.AlgBW) * factor)
	}
	return p
}

// busiest names the class of links with the highest peak, "" if no link was
// used.
func busiest(res *replay.Result) string {
	var most *replay.LinkUse
	for i := range res.Links {
		if l := &res.Links[i]; most == nil || l.Peak > most.Peak {
			most = l
		}
	}
	if most == nil || !(most.Peak > 0) {
		return ""
	}
	return most.Class
}

// leastReliable is the size of a message from which the fluid model can be
// relied on where no kernels are modelled (docs/explain/fluid.md).
const leastReliable = 100 * sim.KB

// smallMessages is the note of an operation whose messages are below that:
// parts of what is sent, save where the whole is handed on.
func smallMessages(op workloads.Coll, size sim.Bytes, ranks int) []string {
	if op != workloads.Broadcast && op != workloads.Reduce {
		size /= sim.Bytes(ranks)
	}
	if ranks < 2 || size >= leastReliable {
		return nil
	}
	return []string{fmt.Sprintf("weft's times of messages below about 100 kB, here from %s, are an order of magnitude: the fluid model does not hold there", report.Size(max(size, 1)))}
}
