package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/spf13/cobra"

	"github.com/weft-sim/weft/cmd/weft/internal/exitcode"
	"github.com/weft-sim/weft/cmd/weft/internal/report"
	"github.com/weft-sim/weft/topology/discover"
	"github.com/weft-sim/weft/workloads/trace/nccltests"
)

// measurement is what the flags of verbs that read a log ask.
type measurement struct {
	overrides
	op     word
	ranks  positive
	within float64 // per cent; 0 is weft's own accuracy
}

// logFlags gives a verb the flags.
func (m *measurement) logFlags(cmd *cobra.Command) {
	m.flags(cmd)
	f := cmd.Flags()
	f.Lookup("system").Usage = "`name` or file of the system that was measured (default: by the GPUs that the log names)"
	f.Lookup("nodes").Usage = "`number` of nodes, where the log does not say it"
	f.Var(&m.op, "op", "`operation`, where the log does not name it: all_reduce, alltoall")
	f.Var(&m.ranks, "ranks", "`number` of GPUs that took part, where the log does not say it")
}

func newDiagnose(a *app) *cobra.Command {
	var m measurement
	var strict bool
	cmd := &cobra.Command{
		Use:   "diagnose LOG",
		Short: "Is what nccl-tests printed normal, and if not, which fault explains it",
		Long: `Reads what nccl-tests printed (any release, with the noise around it; -J; the table
of weft bench), simulates the same test on the same machine, and says for each size
whether the time is normal. Where it is not, it simulates the machine with one fault
after the other, and one setting after the other, and ranks them by how near each
comes to all sizes together: NVLS off, peer access off, a NIC or an NVSwitch missing, a
NIC on the wrong socket, half the lanes, TCP in place of RDMA, one process for all
GPUs, and others.

The machine is that of --system, or is guessed from the GPUs that the log names, which
is said. Normal is what lies within weft's own accuracy for that kind of machine and
size; it is printed.

LOG may also be what nvidia-smi topo -m prints. It is compared with what the system
should print: NVLinks that are missing, NICs that sit elsewhere.`,
		Example: `  weft diagnose all_reduce.log
  weft diagnose all_reduce.log --system dgx-h100 --nodes 4
  mpirun ... all_gather_perf -b 8 -e 8G -f 2 | weft diagnose - --system dgx-a100 --strict
  weft diagnose bench.csv --system dgx-h100 --op all_reduce --format json
  nvidia-smi topo -m | weft diagnose - --system dgx-h100`,
		Args: arguments(1, 1, "a log of nccl-tests, or - for standard input"),
	}
	m.logFlags(cmd)
	form := formatFlag(cmd, "text", "json")
	cmd.Flags().BoolVar(&strict, "strict", false, "end with code 5 where something is not normal")
	cmd.Flags().Float64Var(&m.within, "within", 0, "`per cent` by which a time may differ and be normal (default weft's own accuracy for the kind of machine and size)")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if cmd.Flags().Changed("within") && !(m.within > 0 && m.within <= 1000) {
			return usage(cmd, "--within: read %v, expected per cent above 0 and at most 1000, such as 5", m.within)
		}
		content, name, err := a.input(args[0])
		if err != nil {
			return err
		}
		stop := a.Spin("simulating")
		defer stop()
		d, err := m.diagnose(cmd.Context(), cmd, name, content)
		if err != nil {
			return err
		}
		stop()
		if form.value == "json" {
			err = d.JSON(a.Out)
		} else {
			err = d.Text(a.Out, a.Terminal)
		}
		if err == nil && strict && !d.Normal() {
			err = exitcode.With(exitcode.Threshold, errors.New("diagnose --strict: not normal"))
		}
		return err
	}
	return cmd
}

// input reads a log, or standard input, and returns how messages call it.
func (a *app) input(name string) ([]byte, string, error) {
	r, shown := a.In, stdin
	if name != "-" {
		shown = name
		f, err := os.Open(name)
		if err != nil {
			var path *fs.PathError
			if errors.As(err, &path) {
				err = path.Err
			}
			return nil, "", exitcode.With(exitcode.Input, fmt.Errorf("read %s: %w", name, err))
		}
		defer f.Close()
		r = f
	}
	content, err := io.ReadAll(io.LimitReader(r, nccltests.MaxSize+1))
	if err == nil {
		content, err = discover.Unwrap(shown, content)
	}
	if err != nil {
		return nil, "", exitcode.With(exitcode.Input, fmt.Errorf("read %s: %w", shown, err))
	}
	return content, shown, nil
}

// diagnose makes the report on a log or a matrix.
func (m *measurement) diagnose(ctx context.Context, cmd *cobra.Command, name string, content []byte) (*report.Diagnosis, error) {
	if discover.Detect(content) == discover.SMIMatrix {
		return m.matrix(cmd, name, content)
	}
	log, err := nccltests.Parse(name, content)
	if err != nil {
		return nil, exitcode.With(exitcode.Input, err)
	}
	d := &report.Diagnosis{Name: name, Version: version}
	for _, t := range log.Tables {
		s, err := m.subject(cmd, name, t)
		if err != nil {
			return nil, err
		}
		c, err := s.diagnose(ctx)
		if err != nil {
			return nil, s.mend(err)
		}
		d.Tests = append(d.Tests, *c)
	}
	return d, nil
}

// diagnose judges one table.
func (s *subject) diagnose(ctx context.Context) (*report.Test, error) {
	normal, err := s.stage(change{})
	if err != nil {
		return nil, err
	}
	expected, err := normal.run(ctx, s, s.sizes())
	if err != nil {
		return nil, err
	}
	t := s.describe(normal, expected)
	s.judge(t)
	if err := s.launched(ctx, t, expected); err != nil {
		return nil, err
	}
	return t, s.explain(ctx, t, normal, expected)
}
