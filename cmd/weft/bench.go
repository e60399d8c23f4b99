package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/weft-sim/weft/cmd/weft/internal/exitcode"
	"github.com/weft-sim/weft/cmd/weft/internal/report"
	"github.com/weft-sim/weft/configs"
	"github.com/weft-sim/weft/configs/catalog"
	"github.com/weft-sim/weft/sim"
	"github.com/weft-sim/weft/workloads"
	"github.com/weft-sim/weft/workloads/collective"
	"github.com/weft-sim/weft/workloads/replay"
	"github.com/weft-sim/weft/workloads/synth"
)

// elementSize is that of nccl-tests' default type, float.
const elementSize = 4

// benchOps are the operations of nccl-tests that weft runs.
var benchOps = []workloads.Coll{
	workloads.AllReduce, workloads.AllGather, workloads.ReduceScatter, workloads.Broadcast, workloads.Reduce, workloads.AllToAll,
}

// sweep is what the flags of nccl-tests ask for.
type sweep struct {
	begin, end size
	factor     float64
	gpus       positive // of a node; 0 is all
}

func newBench(a *app) *cobra.Command {
	var o overrides
	var noPeer bool
	sw := sweep{begin: 1 << 20, end: 8 << 30, factor: 2}
	algo := choice{allowed: []string{"ring", "direct"}}
	cmd := &cobra.Command{
		Use:   "bench OP",
		Short: "What the wires of a machine allow nccl-tests to print",
		Long: `Runs one collective for a range of sizes and prints the table of nccl-tests, with
its columns and its flags. OP is all_reduce, all_gather, reduce_scatter, broadcast,
reduce or alltoall; also with _perf at its end. The algorithm is the one that you
name, or a ring where there is one; what NCCL would choose is not modelled.

sendrecv sends from every GPU to the next, as nccl-tests does. copy is another
test, p2pBandwidthLatencyTest of CUDA: copy engines move -e bytes between each two
GPUs of one node, one way and both ways; with --no-p2p by way of host memory.

--set takes what describes the machine and the simulation: system, gpu, gpus, faults,
nodes, network, collectives, collapse and figures. Out-of-place and in-place are one run.`,
		Example: `  weft bench all_reduce --system dgx-h100
  weft bench all_reduce --system dgx-a100 --nodes 4 -b 1M -e 8G -f 4
  weft bench alltoall --system pcie-a100-8 -g 4 --format csv
  weft bench copy --system pcie-a100-8 -e 512M`,
		Args: arguments(1, 1, "an operation, such as all_reduce"),
	}
	for _, op := range benchOps {
		cmd.ValidArgs = append(cmd.ValidArgs, op.String())
	}
	cmd.ValidArgs = append(cmd.ValidArgs, sendRecv, copying)
	o.flags(cmd)
	form := formatFlag(cmd, "text", "csv", "json")
	f := cmd.Flags()
	f.Lookup("system").Usage = "`name` or file of the system (default " + standardSystem + ")"
	f.Lookup("nodes").Usage = "`number` of nodes (default 1)"
	f.VarP(&sw.begin, "minbytes", "b", "smallest `size`: 1MiB, or as nccl-tests takes it, 8 or 1M")
	f.VarP(&sw.end, "maxbytes", "e", "largest `size`")
	f.Float64VarP(&sw.factor, "stepfactor", "f", sw.factor, "`factor` from a size to the next")
	f.VarP(&sw.gpus, "ngpus", "g", "`number` of GPUs of each node that take part (default all)")
	f.Var(&algo, "algo", "`algorithm`: ring or direct, where the operation has both")
	f.BoolVar(&noPeer, "no-p2p", false, "copy: turn peer access off, NVLink's as well")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		word := strings.TrimSuffix(args[0], "_perf")
		if word == copying && !cmd.Flags().Lookup("minbytes").Changed {
			sw.begin = min(sw.begin, sw.end) // there is one size
		}
		if err := sw.check(cmd); err != nil {
			return err
		}
		switch {
		case word == copying:
			return benchCopies(cmd, a, &o, sw, noPeer, form.value)
		case noPeer:
			return usage(cmd, "--no-p2p is for copy: for another operation describe a machine whose p2p is nowhere")
		case word == sendRecv && algo.value == "":
			return benchSendRecv(cmd, a, &o, sw, form.value)
		case word == sendRecv:
			return usage(cmd, "--algo %s: sendrecv has no algorithm to choose", algo.value)
		}
		op, err := benchOp(cmd, args[0])
		if err != nil {
			return err
		}
		choose, err := chooser(cmd, op, algo.value)
		if err != nil {
			return err
		}
		stop := a.Spin("simulating")
		defer stop()
		b, err := runBench(cmd.Context(), cmd, &o, op, sw, choose)
		if err != nil {
			return err
		}
		stop()
		return a.tell(b, b.Warnings, form.value)
	}
	return cmd
}

// answer is what a bench prints.
type answer interface {
	Text(io.Writer) error
	CSV(io.Writer) error
	JSON(io.Writer) error
}

// tell prints an answer in a format.
func (a *app) tell(b answer, warnings []string, format string) error {
	switch format {
	case "csv":
		for _, w := range warnings { // the columns have no place for them
			fmt.Fprintf(a.Err, "weft: note: %s\n", w)
		}
		return b.CSV(a.Out)
	case "json":
		return b.JSON(a.Out)
	}
	return b.Text(a.Out)
}

// benchOp reads the name of an operation.
func benchOp(cmd *cobra.Command, name string) (workloads.Coll, error) {
	word := strings.TrimSuffix(name, "_perf")
	if word == "all_to_all" {
		word = workloads.AllToAll.String()
	}
	var names []string
	for _, op := range benchOps {
		if op.String() == word {
			return op, nil
		}
		names = append(names, op.String())
	}
	names = append(names, sendRecv, copying)
	return 0, usage(cmd, "there is no operation %q, expected %s%s", name, strings.Join(names, ", "), didYouMean(word, names))
}

// chooser returns who picks the algorithm where the flag says so, else nil.
func chooser(cmd *cobra.Command, op workloads.Coll, algo string) (collective.Chooser, error) {
	var c collective.Chooser
	switch algo {
	case "":
		return nil, nil
	case collective.Direct.String():
		c = collective.Explicit(collective.Direct)
	default:
		c = collective.Explicit(collective.Ring)
	}
	if _, err := c(op, sim.MiB, []int32{0, 1}); err != nil {
		return nil, usage(cmd, "--algo %s: %w", algo, err)
	}
	return c, nil
}

func (sw *sweep) check(cmd *cobra.Command) error {
	switch {
	case sw.end <= 0:
		return usage(cmd, "-e: read %d bytes, expected a size above zero such as 8 or 1MiB", sw.end)
	case sw.begin <= 0:
		return usage(cmd, "-b: read %d bytes, expected a size above zero such as 8 or 1MiB", sw.begin)
	case sw.begin > sw.end:
		return usage(cmd, "-b %s is above -e %s: expected the smallest size first", sw.begin.String(), sw.end.String())
	case sim.Bytes(sw.end) > workloads.MaxBytes:
		return usage(cmd, "-e: read %s, expected at most %s", sw.end.String(), report.Size(workloads.MaxBytes))
	case !(sw.factor > 1):
		return usage(cmd, "-f: read %v, expected a factor above 1 such as 2", sw.factor)
	}
	return nil
}

// sizes lists the sizes of the sweep.
func (sw *sweep) sizes() []sim.Bytes {
	var all []sim.Bytes
	for s := sim.Bytes(sw.begin); s <= sim.Bytes(sw.end); {
		all = append(all, s)
		next := float64(s) * sw.factor
		if next > float64(sw.end) {
			break
		}
		s = max(sim.Bytes(next), s+1)
	}
	return all
}

// runBench runs an operation for each size on one machine.
func runBench(ctx context.Context, cmd *cobra.Command, o *overrides, op workloads.Coll, sw sweep, choose collective.Chooser) (*report.Bench, error) {
	q, job, err := stage(cmd, o, sw)
	if err != nil {
		return nil, err
	}
	group, ranks, err := take(cmd, job, int(sw.gpus))
	if err != nil {
		return nil, err
	}
	options := job.Options
	if choose != nil {
		options.Choose = choose
	}
	b := &report.Bench{
		Op: op.String(), System: q.system(), GPUs: ranks, Nodes: int(job.Machine.Hosts), Type: "float", RedOp: "none", Root: -1,
		Version: version, Warnings: report.Grave(job.Warnings),
	}
	switch op {
	case workloads.AllReduce, workloads.ReduceScatter:
		b.RedOp = "sum"
	case workloads.Reduce:
		b.RedOp, b.Root = "sum", 0
	case workloads.Broadcast:
		b.Root = 0
	}
	if ranks == 1 {
		b.Warnings = append(b.Warnings, "one GPU has nobody to send to: no wire is used, and the copies within its memory are not modelled")
	}
	b.Warnings = append(b.Warnings, smallMessages(op, sim.Bytes(sw.begin), ranks)...)
	for _, size := range sw.sizes() {
		program, err := synth.Repeated{Op: op, Bytes: size, Group: group}.Build(int32(len(job.Machine.Ranks)))
		if err != nil {
			return nil, err
		}
		res, err := replay.Run(ctx, program, job.Machine, options)
		if err != nil {
			return nil, fmt.Errorf("bench %v of %s: %w", op, report.Size(size), err)
		}
		b.Rows = append(b.Rows, row(op, size, ranks, res))
	}
	return b, nil
}

// stage makes the machine of a bench, and a job that does not matter: what runs
// on it comes later.
func stage(cmd *cobra.Command, o *overrides, sw sweep) (*question, *configs.Job, error) {
	text := fmt.Sprintf("name: bench\nsystem: %s\nworkload: {kind: collective, op: all_reduce, bytes: 1MiB}\n", standardSystem)
	if err := o.empty(); err != nil {
		return nil, nil, err
	}
	over := o.overlay()
	if c, err := catalog.Load(); err != nil {
		return nil, nil, err
	} else if s, err := c.System(string(o.system)); err == nil && s.AnySize && sw.gpus > 0 {
		over.Flags = append(over.Flags, configs.Flag{Name: "--ngpus", Path: "gpus", Value: sw.gpus.String()})
	}
	q := &question{made: true}
	var err error
	if q.Scenario, err = over.Parse(benchSource, []byte(text), "."); err != nil {
		return nil, nil, q.mend(err)
	}
	if err := foreign(cmd, q.Resolved()); err != nil {
		return nil, nil, err
	}
	if err := o.addFaults(q); err != nil {
		return nil, nil, err
	}
	job, err := q.build()
	if err != nil {
		return nil, nil, err
	}
	return q, job, nil
}

// benchSource names the scenario of a bench, which nobody wrote.
const benchSource = "weft bench"

// benchKeys are the keys of a scenario that mean something to a bench.
var benchKeys = []string{"system", "gpu", "gpus", "faults", "nodes", "network", "pcie", "seed", "collectives", "collapse", "figures"}

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

// take returns the group of the first n GPUs of each node, or of all.
func take(cmd *cobra.Command, job *configs.Job, n int) (synth.Group, int, error) {
	all := len(job.Machine.Ranks)
	hosts := int(job.Machine.Hosts)
	per := all / hosts
	if n == 0 || n == per {
		return synth.Group{}, all, nil
	}
	if n > per {
		return synth.Group{}, 0, usage(cmd, "-g: read %d, but a node of this system has %d GPUs; expected 1 to %d", n, per, per)
	}
	var ranks []int32
	for h := range hosts {
		for i := range n {
			ranks = append(ranks, int32(h*per+i))
		}
	}
	return synth.Group{Name: "bench", Ranks: [][]int32{ranks}}, len(ranks), nil
}

// leastReliable is the size of a message from which the fluid model can be
// relied on (docs/explain/fluid.md).
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

// row turns a result into a line of the table.
func row(op workloads.Coll, size sim.Bytes, ranks int, res *replay.Result) report.BenchRow {
	r := report.BenchRow{Size: size, Count: int64(size) / elementSize, Time: res.StepTime}
	switch op {
	case workloads.AllGather, workloads.ReduceScatter, workloads.AllToAll:
		r.Count /= int64(ranks) // nccl-tests counts the part of a rank
	}
	if r.Time > 0 {
		r.AlgBW = sim.Rate(float64(size) / r.Time.Seconds())
		r.BusBW = sim.Rate(float64(r.AlgBW) * collective.BusFactor(op, ranks))
	}
	if len(res.Colls) > 0 {
		c := res.Colls[0]
		r.Algo, r.Proto, r.WireBytes = c.Algo, c.Proto, c.WireBytes
	}
	r.Bottleneck = busiest(res)
	return r
}

// size is the value of -b and -e. Beside sizes with a unit it takes those of
// nccl-tests: bytes without one, and K, M, G for powers of 1024.
type size sim.Bytes

// String prints the size as Set takes it.
func (s *size) String() string { return strings.ReplaceAll(report.Size(sim.Bytes(*s)), " ", "") }

// Type names the kind of value in help.
func (s *size) Type() string { return "size" }

// Set reads a size.
func (s *size) Set(text string) error {
	digits := strings.TrimRight(text, "kKmMgG")
	n, err := strconv.ParseInt(digits, 10, 64)
	if errors.Is(err, strconv.ErrRange) && len(text)-len(digits) <= 1 {
		return fmt.Errorf("read %q, expected a size below 8 EiB", text)
	}
	if err == nil && len(text)-len(digits) <= 1 {
		shift := 0
		if digits != text {
			shift = 10 * (1 + strings.Index("KMG", strings.ToUpper(text[len(digits):])))
		}
		if n<<shift>>shift != n {
			return fmt.Errorf("read %q, expected a size below 8 EiB", text)
		}
		*s = size(n << shift)
		return nil
	}
	b, err := sim.ParseBytes(text)
	*s = size(b)
	return err
}
