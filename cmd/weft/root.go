package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"runtime/debug"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/weft-sim/weft/cmd/weft/internal/exitcode"
	"github.com/weft-sim/weft/cmd/weft/internal/term"
)

// app is what every verb has in its hands.
type app struct {
	*term.Terminal
}

// grace is how long a verb has, after Ctrl-C, to say how far it got.
const grace = 500 * time.Millisecond

// execute runs one command line and returns how it ended. A verb that is
// interrupted gets a moment to stop by itself; one that hangs on its input does
// not get more.
func execute(t *term.Terminal, args []string) exitcode.Code {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // a second Ctrl-C ends the process at once

	ended := make(chan exitcode.Code, 1)
	t.Out = &output{w: t.Out}
	root := newRoot(&app{t})
	root.SetArgs(args)
	go func() { ended <- attempt(ctx, t, root) }()
	select {
	case code := <-ended:
		return code
	case <-ctx.Done():
	}
	select {
	case code := <-ended:
		return code
	case <-time.After(grace):
		fmt.Fprintln(t.Err, "weft: interrupted")
		return exitcode.Interrupted
	}
}

// attempt runs one command line. An error is printed once, plainly; a panic
// becomes one line that says how to report it.
func attempt(ctx context.Context, t *term.Terminal, root *cobra.Command) (code exitcode.Code) {
	defer func() {
		if r := recover(); r != nil {
			fmt.Fprintf(t.Err, "weft: a fault of ours: %v\n", r)
			fmt.Fprintln(t.Err, "Please report it with this command line and `weft version`; WEFT_DEBUG=1 shows where it happened.")
			if os.Getenv("WEFT_DEBUG") != "" {
				fmt.Fprintf(t.Err, "%s", debug.Stack())
			}
			code = exitcode.Internal
		}
	}()
	err := root.ExecuteContext(ctx)
	if out, ok := t.Out.(*output); ok && err == nil {
		err = out.err
	}
	switch {
	case err == nil:
		return exitcode.OK
	case ctx.Err() != nil:
		fmt.Fprintf(t.Err, "weft: interrupted: %s\n", strings.TrimSpace(err.Error()))
		return exitcode.Interrupted
	}
	fmt.Fprintf(t.Err, "weft: %s\n", strings.TrimSpace(err.Error()))
	return exitcode.Of(err)
}

// newRoot builds the tree of verbs.
func newRoot(a *app) *cobra.Command {
	root := &cobra.Command{
		Use:   "weft",
		Short: "How long does a step take on this machine, why, and what would change it",
		Long: `weft simulates the interconnect of machines with many GPUs: NVLink, PCIe and
the network between servers. Give it a machine and a workload (a recorded
trace, a collective, a training step) and it says how long a step takes, why,
and what would change it. It needs no GPU.`,
		Example: `  weft run                                   # the default scenario
  weft run step.yaml --set nodes=4
  weft bench all_reduce --system dgx-h100 -b 1MiB -e 1GiB -f 4
  weft topo pcie-a100-8
  weft trace trace-pipeline`,
		SilenceUsage:  true,
		SilenceErrors: true,
		Args:          noVerb,
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.SetIn(a.In)
	root.SetOut(a.Out)
	root.SetErr(a.Err)
	root.CompletionOptions.HiddenDefaultCmd = true
	root.Version = version
	root.SetVersionTemplate(versionLine())
	root.SetFlagErrorFunc(flagError)
	root.SetHelpCommand(newHelp())
	root.AddCommand(newRun(a), newBench(a), newExplain(a), newDiagnose(a), newCalibrate(a), newTopo(a), newTrace(a), newCheck(a), newList(a), newAccuracy(a), newVersion(a))
	cobra.EnableCommandSorting = false
	return root
}

// newHelp is the verb that shows help. Cobra's own takes a word that is no verb
// for a success.
func newHelp() *cobra.Command {
	return &cobra.Command{
		Use:     "help [VERB]",
		Short:   "Help about a verb",
		Example: "  weft help run",
		RunE: func(cmd *cobra.Command, args []string) error {
			found, rest, err := cmd.Root().Find(args)
			if err != nil {
				return exitcode.With(exitcode.Usage, err)
			}
			if len(rest) > 0 {
				return noVerb(cmd.Root(), rest)
			}
			found.InitDefaultHelpFlag()
			return found.Help()
		},
	}
}

// noVerb refuses words that are no verb, and names the nearest that is.
func noVerb(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	var verbs []string
	for _, c := range cmd.Commands() {
		if !c.Hidden && c.Name() != "help" {
			verbs = append(verbs, c.Name())
		}
	}
	return exitcode.With(exitcode.Usage,
		fmt.Errorf("there is no verb %q%s\nThe verbs: %s; `weft --help` says what each does",
			args[0], didYouMean(args[0], verbs), strings.Join(verbs, ", ")))
}

// flagError makes the error of a wrong flag: what was read, what was expected,
// the nearest flag there is, and where the rest is said.
func flagError(cmd *cobra.Command, err error) error {
	text := err.Error()
	var unknown *pflag.NotExistError
	var invalid *pflag.InvalidValueError
	switch {
	case errors.As(err, &unknown):
		var flags []string
		cmd.Flags().VisitAll(func(f *pflag.Flag) { flags = append(flags, "--"+f.Name) })
		name := "--" + unknown.GetSpecifiedName()
		if short := unknown.GetSpecifiedShortnames(); short != "" {
			name = "-" + unknown.GetSpecifiedName()
		}
		text = fmt.Sprintf("there is no flag %s%s", name, didYouMean(name, flags))
	case errors.As(err, &invalid):
		reason := fmt.Sprint(invalid.Unwrap())
		var number *strconv.NumError
		if errors.As(invalid.Unwrap(), &number) {
			reason = fmt.Sprintf("read %q, expected a number", invalid.GetValue())
		}
		text = fmt.Sprintf("--%s: %s", invalid.GetFlag().Name, reason)
	}
	return exitcode.With(exitcode.Usage, fmt.Errorf("%s\n`%s --help` lists the flags", text, cmd.CommandPath()))
}

// usage makes an error of usage for a verb.
func usage(cmd *cobra.Command, format string, args ...any) error {
	return exitcode.With(exitcode.Usage,
		fmt.Errorf("%w\n`%s --help` shows how it is used", fmt.Errorf(format, args...), cmd.CommandPath()))
}

// arguments returns a check that there are between low and high arguments,
// whose name is what.
func arguments(low, high int, what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		switch {
		case len(args) < low:
			return usage(cmd, "%s: %s is missing", cmd.Name(), what)
		case len(args) > high:
			return usage(cmd, "%s: one thing too many: %q", cmd.Name(), args[high])
		}
		return nil
	}
}
