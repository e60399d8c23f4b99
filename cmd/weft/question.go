package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/weft-sim/weft/cmd/weft/internal/exitcode"
	"github.com/weft-sim/weft/configs"
	"github.com/weft-sim/weft/configs/strict"
	"github.com/weft-sim/weft/workloads"
)

// standardSystem is the machine of verbs that are told none.
const standardSystem = "dgx-h100"

// overrides are the flags that lie over a scenario.
type overrides struct {
	set                      []string
	system, fabric, preset   word
	nodes                    positive
	network, grain, collapse choice
	damaged
}

// flags gives a verb the flags of a scenario.
func (o *overrides) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringArrayVar(&o.set, "set", nil, "override a key of the scenario, as `path=value`; may be repeated")
	f.Var(&o.system, "system", "`name` or file of the system, in place of the scenario's (for a trace: "+standardSystem+")")
	f.Var(&o.preset, "preset", "`file` with keys that lie below the scenario's own, such as what weft calibrate writes")
	f.Var(&o.nodes, "nodes", "`number` of nodes, in place of the scenario's (for a trace: as many as it needs)")
	o.network = choice{allowed: []string{"fluid", "ideal"}}
	o.grain = choice{allowed: []string{"stream", "chunk"}}
	o.collapse = choice{allowed: []string{"auto", "off"}}
	f.Var(&o.network, "network", "network `model`: fluid (transfers share links), ideal (each has them to itself)")
	f.Var(&o.grain, "grain", "`grain` of collectives: stream (one coupled flow), chunk (every message)")
	f.Var(&o.collapse, "collapse", "simulate equal ranks once: `auto` or off; the answers are equal")
	o.damage(f)
}

// overlay returns what lies over a scenario: the environment, --set and flags.
func (o *overrides) overlay() configs.Overlay {
	over := configs.Overlay{Environ: environ(), Set: o.set}
	add := func(flag, path, value string) {
		if value != "" {
			over.Flags = append(over.Flags, configs.Flag{Name: flag, Path: path, Value: value})
		}
	}
	add("--preset", "preset", string(o.preset))
	add("--system", "system", string(o.system))
	add("--gpu", "gpu", string(o.gpu))
	add("--nodes", "nodes", o.nodes.String())
	add("--fabric", "network.fabric", string(o.fabric))
	add("--network", "network.model", o.network.value)
	add("--grain", "collectives.grain", o.grain.value)
	add("--collapse", "collapse", o.collapse.value)
	return over
}

// empty is the error of overrides without a value, which say nothing.
func (o *overrides) empty() error {
	var errs []error
	for _, set := range o.set {
		if path, value, ok := strings.Cut(set, "="); ok && path != "" && strings.TrimSpace(value) == "" {
			errs = append(errs, exitcode.With(exitcode.Config, fmt.Errorf("--set %s: read nothing after =, expected path=value, such as network.model=ideal", set)))
		}
	}
	return errors.Join(errs...)
}

// question is a scenario that is loaded, and how to ask for its figures.
type question struct {
	*configs.Scenario
	check string // the command that shows where each figure comes from
	trace string // the command that shows what the import of a trace did
	// made says that the scenario is of a trace or a machine, and nobody wrote it.
	made bool
}

// load reads a scenario, or makes one of a trace.
func (o *overrides) load(name string) (*question, error) {
	if err := o.empty(); err != nil {
		return nil, err
	}
	trace, err := isTrace(name)
	if err != nil {
		return nil, err
	}
	q := &question{made: trace}
	if trace {
		q.Scenario, err = o.overlay().OfTrace(name, standardSystem)
	} else {
		q.Scenario, err = o.overlay().Load(name)
	}
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) {
		err = exitcode.With(exitcode.Config, err)
	}
	if err != nil {
		return nil, q.mend(err)
	}
	if name != "-" { // standard input has been read
		q.check = strings.TrimSpace("weft check " + name)
	}
	if name != "-" && q.Workload.Trace != nil {
		q.trace = "weft trace " + name
	}
	return q, o.addFaults(q)
}

// environ is the environment without variables that are empty, which count as
// not set.
func environ() []string {
	return slices.DeleteFunc(os.Environ(), func(kv string) bool { return strings.HasSuffix(kv, "=") })
}

// mend puts hints that speak of a file into words of the command line.
func (q *question) mend(err error) error {
	var all strict.Errors
	var one *strict.Error
	if !errors.As(err, &all) && errors.As(err, &one) {
		all = strict.Errors{one}
	}
	for _, e := range all {
		source := e.Pos.Source
		if source != nil && strings.HasPrefix(source.Name, "--set ") && e.Msg == "read a mapping, expected a list" {
			e.Hint = "a list is replaced as a whole: its entries cannot be set one by one"
		}
		if source != nil && source.Name == benchSource {
			e.Pos.Source = &strict.Source{Name: benchSource, Loose: true} // it has lines that nobody wrote
		}
		if q.made {
			e.Hint = strings.Replace(e.Hint, "write nodes: ", "write --nodes ", 1)
		}
	}
	return err
}

// isTrace reports whether a name is a recorded trace and not a scenario: a
// folder, or a file whose name or beginning says so.
func isTrace(name string) (bool, error) {
	if name == "" || name == "-" {
		return false, nil
	}
	info, err := os.Stat(name)
	if err == nil && info.IsDir() || strings.HasSuffix(name, "/") {
		return true, nil
	}
	switch strings.ToLower(filepath.Ext(name)) {
	case ".yaml", ".yml":
		return false, nil
	case ".et", ".eg", ".json", ".gz":
		return true, nil
	}
	if err != nil || !info.Mode().IsRegular() {
		return false, nil // an embedded scenario, a pipe, which is read once, or the loader says what is wrong
	}
	f, err := os.Open(name)
	if err != nil {
		return false, exitcode.With(exitcode.Input, fmt.Errorf("read %s: %w", name, err))
	}
	defer f.Close()
	head := make([]byte, 512)
	n, _ := f.Read(head) // an empty file is no trace
	return bytes.IndexByte(head[:n], 0) >= 0 || bytes.HasPrefix(head[:n], []byte{0x1f, 0x8b}), nil
}

// isFile reports whether there is a file of that name, or one is meant.
func isFile(name string) bool {
	_, err := os.Stat(name)
	return err == nil || strings.ContainsAny(name, `/\.`)
}

// system is how reports call the machine.
func (q *question) system() string {
	if q.System.Name != "" {
		return q.System.Name
	}
	return "an inline system"
}

// build makes a job of the question with the catalogue that comes with weft.
func (q *question) build() (*configs.Job, error) {
	job, err := q.Build(nil)
	if err != nil {
		if q.Workload.Trace != nil {
			err = badTrace(err)
		}
		return nil, q.mend(err)
	}
	return job, nil
}

// badTrace marks what a trace has wrong as a fault of the input, where an
// error's type alone would make it one of a scenario.
func badTrace(err error) error {
	var invalid *workloads.InvalidError
	if errors.As(err, &invalid) {
		return exitcode.With(exitcode.Input, err)
	}
	return err
}
