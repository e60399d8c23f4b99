package main

import (
	"fmt"

	"github.com/weft-sim/weft/cmd/weft/internal/report"
	"github.com/weft-sim/weft/sim"
)

// copies is a bench of copies between the GPUs of a node.
func (b *bench) copies(noPeer bool, format string) error {
	cmd, sw := b.cmd, b.sweep
	why := "copy runs one size, that of -e, with copy engines, and no library"
	if err := b.refuse(why, "minbytes", "stepfactor", "stepbytes", "nthreads", "datatype", "op", "root", "cudagraph", "iters", "warmup_iters", "check", "average",
		"library", "version", "env", "algo", "proto", "launch", "plugin", "output_file"); err != nil {
		return err
	}
	if !cmd.Flags().Changed("maxbytes") {
		sw.end = copySize
	}
	stop := b.app.Spin("simulating")
	defer stop()
	q, job, err := stage(cmd, &b.over, sw)
	if err != nil {
		return err
	}
	m := job.Machine
	if m.Hosts > 1 {
		return usage(cmd, "a copy engine stays within a node, and there are %d; expected --nodes 1", m.Hosts)
	}
	ranks, err := take(cmd, job, sw.perNode(), sw.taken())
	if err != nil {
		return err
	}
	n := len(ranks)
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
	return b.app.tell(c, c.Warnings, format)
}

// copySize is that of a copy unless another is asked for: nvbandwidth's buffer
// (NVIDIA/nvbandwidth, README.md).
const copySize = size(512 << 20)
