package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/weft-sim/weft/cmd/weft/internal/exitcode"
	"github.com/weft-sim/weft/configs"
	"github.com/weft-sim/weft/configs/catalog"
	"github.com/weft-sim/weft/workloads"
	"github.com/weft-sim/weft/workloads/trace/chakra"
)

// standardSystem is the machine of verbs that are told none.
const standardSystem = "dgx-h100"

// overrides are the flags that lie over a scenario.
type overrides struct {
	set                      []string
	system                   string
	nodes                    positive
	network, grain, collapse choice
}

// flags gives a verb the flags of a scenario.
func (o *overrides) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringArrayVar(&o.set, "set", nil, "override a key of the scenario, as `path=value`; may be repeated")
	f.StringVar(&o.system, "system", "", "`name` of the system, in place of the scenario's (for a trace: "+standardSystem+")")
	f.Var(&o.nodes, "nodes", "`number` of nodes, in place of the scenario's (for a trace: as many as it needs)")
	o.network = choice{allowed: []string{"fluid", "ideal"}}
	o.grain = choice{allowed: []string{"stream", "chunk"}}
	o.collapse = choice{allowed: []string{"auto", "off"}}
	f.Var(&o.network, "network", "network `model`: fluid (transfers share links), ideal (each has them to itself)")
	f.Var(&o.grain, "grain", "`grain` of collectives: stream (one coupled flow), chunk (every message)")
	f.Var(&o.collapse, "collapse", "simulate equal ranks once: `auto` or off; the answers are equal")
}

// settings returns the overrides as the loader takes them, --set first.
func (o *overrides) settings() []string {
	all := append([]string{}, o.set...)
	add := func(path, value string) {
		if value != "" {
			all = append(all, path+"="+value)
		}
	}
	add("system", o.system)
	add("nodes", o.nodes.String())
	add("network.model", o.network.value)
	add("collectives.grain", o.grain.value)
	add("collapse", o.collapse.value)
	return all
}

// question is a scenario that is loaded, and how to ask for its figures.
type question struct {
	*configs.Scenario
	check string // the command that shows where each figure comes from
}

// load reads a scenario, or makes one of a trace.
func (o *overrides) load(name string) (*question, error) {
	if trace, err := isTrace(name); err != nil {
		return nil, err
	} else if trace {
		return o.ofTrace(name)
	}
	s, err := configs.Load(name, o.settings(), environ())
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) {
		err = exitcode.With(exitcode.Config, err)
	}
	if err != nil {
		return nil, err
	}
	q := &question{Scenario: s}
	switch name {
	case "-": // it has been read
	case "":
		q.check = "`weft check`"
	default:
		q.check = "`weft check " + name + "`"
	}
	return q, nil
}

// environ is the environment without the variables that are no settings of a
// scenario.
func environ() []string {
	var out []string
	for _, kv := range os.Environ() {
		if !strings.HasPrefix(kv, "WEFT_DEBUG=") {
			out = append(out, kv)
		}
	}
	return out
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
	if err != nil {
		return false, nil // an embedded scenario, or the loader says what is wrong
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

// ofTrace makes the scenario of a trace: the system with as many nodes as the
// trace has ranks for, unless the user says how many.
func (o *overrides) ofTrace(name string) (*question, error) {
	path, err := filepath.Abs(name)
	if err != nil {
		return nil, fmt.Errorf("read trace %s: %w", name, err)
	}
	text := fmt.Sprintf("name: %q\nsystem: %s\nworkload: {kind: trace, path: %q}\n",
		filepath.Base(path), standardSystem, filepath.ToSlash(name))
	parse := func(text string) (*configs.Scenario, error) {
		return configs.Parse("scenario of "+name, []byte(text), ".", o.settings(), environ())
	}
	s, err := parse(text)
	if err != nil {
		return nil, err
	}
	q := &question{Scenario: s, check: "`weft check " + name + "`"}
	if s.Origin("nodes") != "default" {
		return q, nil
	}
	nodes, err := nodesFor(s)
	if err != nil || nodes <= 1 {
		return q, err
	}
	q.Scenario, err = parse(text + fmt.Sprintf("nodes: %d\n", nodes))
	return q, err
}

// nodesFor returns how many nodes of a scenario's system its trace needs. A
// trace that does not say its ranks needs one: building then says what is wrong
// with it.
func nodesFor(s *configs.Scenario) (int, error) {
	world := s.Workload.Trace.World
	if world == 0 {
		_, rep, err := chakra.Load(disk{}, s.Workload.Trace.Path, chakra.Options{Dims: s.Workload.Trace.Dims})
		if err != nil {
			return 1, nil
		}
		world = rep.World
	}
	per := s.System.GPUs
	if s.GPUs > 0 {
		per = s.GPUs
	}
	if per == 0 {
		c, err := catalog.Load()
		if err != nil {
			return 0, err
		}
		system, err := c.System(s.System.Name)
		if err != nil {
			return 1, nil
		}
		per = int(system.GPUs.Value())
	}
	return (int(world) + per - 1) / max(per, 1), nil
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
	if err != nil && q.Workload.Trace != nil {
		err = badTrace(err)
	}
	return job, err
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
