package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/weft-sim/weft/cmd/weft/internal/exitcode"
	"github.com/weft-sim/weft/cmd/weft/internal/report"
	"github.com/weft-sim/weft/configs/measured"
)

// groups are words for several kinds of systems.
var groups = map[string][]string{"collectives": measured.Kinds()}

// compared is what the flags of an accuracy ask for.
type compared struct {
	kinds         []string
	cases, data   string
	points        string
	tables, alone bool
}

func newAccuracy(a *app) *cobra.Command {
	var c compared
	cmd := &cobra.Command{
		Use:   "accuracy",
		Short: "How well does weft predict the published measurements?",
		Long: `Predicts every measurement that comes with weft, from its scenario alone, and prints
how far off the times are: the median and the 90th percentile of the absolute error, its
bias (the median with its sign) and the worst point, for small messages (below 1 MiB),
medium and large ones (from 64 MiB), for each kind of system. The error is predicted /
measured - 1; every series (table, GPUs, nodes, operation) counts the same.

--cases and --data add measurements of your own: YAML files of cases and CSV files of
tables, with the columns size_bytes and time_us at least (docs/accuracy.md has an example).`,
		Example: `  weft accuracy
  weft accuracy --kind nvlink-node,pcie --tables
  weft accuracy --format csv > accuracy.csv
  weft accuracy --cases mine --data mine --own --points points.csv`,
		Args: arguments(0, 0, ""),
	}
	form := formatFlag(cmd, "text", "csv", "json")
	f := cmd.Flags()
	f.StringSliceVar(&c.kinds, "kind", nil, "only these `kinds` of systems: "+strings.Join(measured.Kinds(), ", ")+", or collectives for all of them")
	f.BoolVar(&c.tables, "tables", false, "a row for each series and class, not for each kind alone")
	f.StringVar(&c.cases, "cases", "", "`folder` of cases of your own (default that of --data)")
	f.StringVar(&c.data, "data", "", "`folder` of tables of your own (default that of --cases)")
	f.BoolVar(&c.alone, "own", false, "only the cases of --cases")
	f.StringVar(&c.points, "points", "", "write every point, measured and predicted, to this CSV `file`")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		series, err := c.series(cmd)
		if err != nil {
			return err
		}
		stop := a.Spin("simulating")
		defer stop()
		samples, err := measured.Compare(cmd.Context(), series, new(measured.Simulator).Predict, nil)
		if err != nil {
			return notOurs(err)
		}
		stop()
		if c.points != "" {
			if err := writePoints(c.points, samples); err != nil {
				return err
			}
		}
		r := report.Accuracy{Report: measured.Score(samples), Tables: c.tables, Version: version}
		switch form.value {
		case "csv":
			return r.CSV(a.Out)
		case "json":
			return r.JSON(a.Out)
		}
		return r.Text(a.Out, a.Terminal)
	}
	return cmd
}

// series returns the series that the flags ask for.
func (c *compared) series(cmd *cobra.Command) ([]*measured.Series, error) {
	kinds, err := c.wanted(cmd)
	if err != nil {
		return nil, err
	}
	var series []*measured.Series
	if !c.alone {
		if series, err = measured.Load(); err != nil {
			return nil, err
		}
	}
	if c.cases == "" {
		c.cases = c.data
	}
	if c.data == "" {
		c.data = c.cases
	}
	if c.cases != "" {
		own, err := measured.LoadFrom(os.DirFS(c.cases), os.DirFS(c.data))
		if err != nil {
			return nil, exitcode.With(exitcode.Config, err)
		}
		series = append(series, own...)
	} else if c.alone {
		return nil, usage(cmd, "--own: expected --cases or --data with it")
	}
	return slices.DeleteFunc(series, func(s *measured.Series) bool {
		return kinds != nil && !slices.Contains(kinds, s.Case.Kind)
	}), nil
}

// wanted lists the kinds of --kind, nil for all.
func (c *compared) wanted(cmd *cobra.Command) ([]string, error) {
	var kinds []string
	known := append(measured.Kinds(), "collectives")
	for _, word := range c.kinds {
		switch {
		case groups[word] != nil:
			kinds = append(kinds, groups[word]...)
		case slices.Contains(known, word):
			kinds = append(kinds, word)
		default:
			return nil, usage(cmd, "--kind: read %q, expected some of %s%s", word, strings.Join(known, ", "), didYouMean(word, known))
		}
	}
	return kinds, nil
}

// notOurs gives an error of a case the code of a configuration.
func notOurs(err error) error {
	if errors.Is(err, context.Canceled) {
		return err
	}
	return exitcode.With(exitcode.Config, err)
}

// writePoints writes the points of a comparison to a file.
func writePoints(name string, samples []measured.Sample) (err error) {
	f, err := os.Create(name)
	if err != nil {
		var path *fs.PathError
		if errors.As(err, &path) {
			err = path.Err
		}
		return exitcode.With(exitcode.Usage, fmt.Errorf("--points %s: %w", name, err))
	}
	defer func() {
		if e := f.Close(); err == nil && e != nil {
			err = unwritten(name, e)
		}
	}()
	out := bufio.NewWriter(f)
	if err := report.Points(out, samples); err != nil {
		return unwritten(name, err)
	}
	if err := out.Flush(); err != nil {
		return unwritten(name, err)
	}
	return nil
}
