package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
)

func newBench(a *app) *cobra.Command {
	b := &bench{app: a, sweep: newSweep()}
	var noPeer bool
	cmd := &cobra.Command{
		Use:   "bench OP",
		Short: "What nccl-tests should print on a machine",
		Long: `Runs one collective for a range of sizes and prints the table of nccl-tests, with
its columns and its flags. OP is all_reduce, all_gather, reduce_scatter, broadcast,
reduce, alltoall, gather or scatter; also with _perf at its end. Algorithm, protocol
and channels are those that NCCL chooses, and what its kernels cost is part of the
time; --library explicit is a ring, or what --algo names, on bare wires.

-g takes part of the GPUs of each node, in one process as nccl-tests does, -t a
thread for each. Without them all GPUs run, each in a process of its own, as under
MPI. --launch says otherwise.

sendrecv sends from every GPU to the next, as nccl-tests does. copy is another
test, p2pBandwidthLatencyTest of CUDA: copy engines move -e bytes between each two
GPUs of one node, one way and both ways; with --no-p2p by way of host memory.

--algo takes a file as well: an algorithm in MSCCL's XML, also in gzip, or a plan of
MSCCL++ in JSON (docs/do/run-an-algorithm-of-your-own.md). Its thread blocks cost
what NCCL's do.

--set takes what describes the machine and the simulation: system, gpu, gpus, faults,
nodes, network, collectives, collapse and figures; --version 2.27 is the same as
--set collectives.version=2.27. Out of place differs from in place in all_gather
alone, by the copy of a rank's own part.`,
		Example: `  weft bench all_reduce --system dgx-h100
  weft bench all_reduce -b 8 -e 128M -f 2 -g 8
  weft bench all_reduce --system dgx-a100 --nodes 4 --version 2.21 --env NCCL_ALGO=Ring
  weft bench alltoall --system pcie-a100-8 -g 4 --format csv
  weft bench copy --system pcie-a100-8 -e 512M
  weft bench all_gather --system dgx-a100 --algo mine.xml -b 1K -e 64M`,
		Args: arguments(1, 1, "an operation, such as all_reduce"),
	}
	b.cmd = cmd
	cmd.ValidArgs = append(cmd.ValidArgs, benchNames()...)
	b.over.flags(cmd)
	form := formatFlag(cmd, "text", "csv", "json")
	f := cmd.Flags()
	f.Lookup("system").Usage = "`name` or file of the system (default " + standardSystem + ")"
	f.Lookup("nodes").Usage = "`number` of nodes (default 1)"
	b.sweep.flags(f)
	b.library.flags(f)
	f.VarP(&b.json, "output_file", "J", "write what nccl-tests writes with -J, its own JSON, to `file` as well")
	f.BoolVar(&noPeer, "no-p2p", false, "copy: turn peer access off, NVLink's as well")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		word := strings.TrimSuffix(args[0], "_perf")
		if word == copying && !f.Changed("minbytes") {
			b.sweep.begin = min(b.sweep.begin, b.sweep.end) // there is one size
		}
		if err := b.sweep.checked(cmd); err != nil {
			return err
		}
		if b.json == "-" {
			return usage(cmd, "-J -: the table goes to standard output, expected a file")
		}
		switch {
		case word == copying:
			return b.copies(noPeer, form.value)
		case noPeer:
			return usage(cmd, "--no-p2p is for copy: for another operation describe a machine whose p2p is nowhere")
		case word == sendRecv:
			if err := b.refuse("sendrecv has no algorithm to choose", "algo", "proto"); err != nil {
				return err
			}
			if err := b.library.check(cmd, &b.sweep); err != nil {
				return err
			}
			return b.run(cmd.Context(), sendRecv, nil, form.value)
		}
		op, err := benchOp(cmd, args[0])
		if err != nil {
			return err
		}
		if algorithmFile(b.library.algo) {
			if err := b.ownFile(op); err != nil {
				return err
			}
		}
		if err := b.library.check(cmd, &b.sweep); err != nil {
			return err
		}
		return b.run(cmd.Context(), op.String(), &op, form.value)
	}
	return cmd
}

// refuse is the error of flags that an operation has no use for.
func (b *bench) refuse(why string, flags ...string) error {
	for _, name := range flags {
		if f := b.cmd.Flags().Lookup(name); f.Changed {
			return usage(b.cmd, "--%s %s: %s", name, f.Value, why)
		}
	}
	return nil
}

// answer is what a bench of copies prints.
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
