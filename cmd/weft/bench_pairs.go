package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/weft-sim/weft/cmd/weft/internal/report"
	"github.com/weft-sim/weft/sim"
	"github.com/weft-sim/weft/workloads"
	"github.com/weft-sim/weft/workloads/replay"
)

// The operations of a bench that are not collectives.
const (
	sendRecv = "sendrecv"
	copying  = "copy"
)

// benchSendRecv is sendrecv of nccl-tests.
func benchSendRecv(cmd *cobra.Command, a *app, o *overrides, sw sweep, format string) error {
	stop := a.Spin("simulating")
	defer stop()
	q, job, err := stage(cmd, o, sw)
	if err != nil {
		return err
	}
	group, n, err := take(cmd, job, int(sw.gpus))
	if err != nil {
		return err
	}
	if n < 2 {
		return usage(cmd, "sendrecv takes two GPUs at least, and there is one; name a system with more")
	}
	hw, err := q.Hardware(nil)
	if err != nil {
		return q.mend(err)
	}
	var ranks []int32
	if group.Ranks != nil {
		ranks = group.Ranks[0]
	} else {
		for r := range int32(n) {
			ranks = append(ranks, r)
		}
	}
	b := &report.Bench{
		Op: sendRecv, System: q.system(), GPUs: n, Nodes: int(job.Machine.Hosts), Type: "float", RedOp: "none", Root: -1,
		Version: version, Warnings: report.Grave(job.Warnings),
	}
	if b.Nodes > 1 {
		b.Warnings = append(b.Warnings, "how many channels NCCL has for a peer on another node is assumed from one cluster")
	}
	b.Warnings = append(b.Warnings, smallMessages(workloads.Broadcast, sim.Bytes(sw.begin), n)...)
	for _, size := range sw.sizes() {
		m, err := withKernels(job.Machine, hw.GPU, n, size)
		if err != nil {
			return err
		}
		res, err := replay.Run(cmd.Context(), neighbours(int32(len(m.Ranks)), ranks, size), m, job.Options)
		if err != nil {
			return fmt.Errorf("bench sendrecv of %s: %w", report.Size(size), err)
		}
		r := report.BenchRow{
			Size: size, Count: int64(size) / elementSize, Time: res.StepTime,
			Algo: "direct", Proto: "simple", WireBytes: float64(size), Bottleneck: busiest(res),
		}
		if r.Time > 0 {
			r.AlgBW = sim.Rate(float64(size) / r.Time.Seconds())
			r.BusBW = r.AlgBW
		}
		b.Rows = append(b.Rows, r)
	}
	stop()
	return a.tell(b, b.Warnings, format)
}

// benchCopies is copies between the GPUs of a node.
func benchCopies(cmd *cobra.Command, a *app, o *overrides, sw sweep, noPeer bool, format string) error {
	for _, flag := range [...]string{"minbytes", "stepfactor", "algo"} {
		if f := cmd.Flags().Lookup(flag); f.Changed {
			return usage(cmd, "--%s %s: copy runs one size, that of -e, and has no algorithm", flag, f.Value)
		}
	}
	if !cmd.Flags().Lookup("maxbytes").Changed {
		sw.end = copySize
	}
	stop := a.Spin("simulating")
	defer stop()
	q, job, err := stage(cmd, o, sw)
	if err != nil {
		return err
	}
	m := job.Machine
	if m.Hosts > 1 {
		return usage(cmd, "a copy engine stays within a node, and there are %d; expected --nodes 1", m.Hosts)
	}
	n := len(m.Ranks)
	if sw.gpus > 0 {
		if _, n, err = take(cmd, job, int(sw.gpus)); err != nil {
			return err
		}
	}
	if n < 2 {
		return usage(cmd, "a copy takes two GPUs, and there is one; expected -g 2 or more, or a system with more")
	}
	c := &report.Copies{
		System: q.system(), GPUs: n, Size: sim.Bytes(sw.end), NoPeer: noPeer, Version: version, Warnings: report.Grave(job.Warnings),
	}
	if n > mostCopied {
		c.Warnings = append(c.Warnings, fmt.Sprintf("copies from GPU 0 only, of %d GPUs; with %d or fewer (-g) there are all pairs", n, mostCopied))
	}
	if c.Pairs, err = copies(cmd.Context(), m, int32(n), c.Size, noPeer, job.Options); err != nil {
		return err
	}
	stop()
	return a.tell(c, c.Warnings, format)
}

// copySize is that of a copy unless another is asked for: nvbandwidth's buffer
// (NVIDIA/nvbandwidth, README.md).
const copySize = size(512 << 20)

// busiest names the class of links with the highest peak, "" if no link was
// used.
func busiest(res *replay.Result) string {
	var most *replay.LinkUse
	for i := range res.Links {
		if l := &res.Links[i]; most == nil || l.Peak > most.Peak {
			most = l
		}
	}
	if most == nil {
		return ""
	}
	return most.Class
}
