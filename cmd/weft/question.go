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
	"github.com/weft-sim/weft/workloads"
	"github.com/weft-sim/weft/workloads/trace/chakra"
)

// standardSystem is the machine of verbs that are told none.
const standardSystem = "dgx-h100"

// overrides are the flags that lie over a scenario.
type overrides struct {
	set                      []string
	system                   word
	nodes                    positive
	network, grain, collapse choice
	damaged
}

// flags gives a verb the flags of a scenario.
func (o *overrides) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringArrayVar(&o.set, "set", nil, "override a key of the scenario, as `path=value`; may be repeated")
	f.Var(&o.system, "system", "`name` or file of the system, in place of the scenario's (for a trace: "+standardSystem+")")
	f.Var(&o.nodes, "nodes", "`number` of nodes, in place of the scenario's (for a trace: as many as it needs)")
	o.network = choice{allowed: []string{"fluid", "ideal"}}
	o.grain = choice{allowed: []string{"stream", "chunk"}}
	o.collapse = choice{allowed: []string{"auto", "off"}}
	f.Var(&o.network, "network", "network `model`: fluid (transfers share links), ideal (each has them to itself)")
	f.Var(&o.grain, "grain", "`grain` of collectives: stream (one coupled flow), chunk (every message)")
	f.Var(&o.collapse, "collapse", "simulate equal ranks once: `auto` or off; the answers are equal")
	o.damage(f)
}

// settings returns the overrides as the loader takes them, --set first, and
// what each flag among them was.
func (o *overrides) settings() (all []string, flags map[string]string) {
	all = append([]string{}, o.set...)
	flags = map[string]string{}
	add := func(path, flag, value string) {
		if value != "" {
			all = append(all, path+"="+value)
			flags["--set "+path+"="+value] = flag + " " + value
		}
	}
	add("system", "--system", string(o.system))
	add("gpu", "--gpu", string(o.gpu))
	add("nodes", "--nodes", o.nodes.String())
	add("network.model", "--network", o.network.value)
	add("collectives.grain", "--grain", o.grain.value)
	add("collapse", "--collapse", o.collapse.value)
	return all, flags
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
	spoken spoken
	check  string // the command that shows where each figure comes from
	trace  string // the command that shows what the import of a trace did
}

// load reads a scenario, or makes one of a trace.
func (o *overrides) load(name string) (*question, error) {
	if err := o.empty(); err != nil {
		return nil, err
	}
	if trace, err := isTrace(name); err != nil {
		return nil, err
	} else if trace {
		return o.ofTrace(name)
	}
	settings, flags := o.settings()
	q := &question{spoken: spoken{flags: flags}}
	var err error
	q.Scenario, err = configs.Load(name, settings, environ())
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) {
		err = exitcode.With(exitcode.Config, err)
	}
	if err != nil {
		return nil, q.spoken.err(err)
	}
	if name != "-" { // standard input has been read
		q.check = strings.TrimSpace("weft check " + name)
	}
	if name != "-" && q.Workload.Trace != nil {
		q.trace = "weft trace " + name
	}
	return q, o.addFaults(q)
}

// environ is the environment as settings of a scenario: without a variable that
// is none of them, and without those that are empty, which count as not set.
func environ() []string {
	var out []string
	for _, kv := range os.Environ() {
		if !strings.HasPrefix(kv, "WEFT_DEBUG=") && !strings.HasSuffix(kv, "=") {
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
	settings, flags := o.settings()
	q := &question{
		spoken: spoken{trace: name, flags: flags},
		check:  "weft check " + name, trace: "weft trace " + name,
	}
	parse := func(text string) error {
		q.Scenario, err = configs.Parse(madeFor+name, []byte(text), ".", settings, environ())
		return q.spoken.err(err)
	}
	if err := parse(text); err != nil {
		return nil, err
	}
	if q.Origin("nodes") != "default" {
		return q, o.addFaults(q)
	}
	nodes, err := nodesFor(q.Scenario)
	if err != nil {
		return q, err
	}
	if nodes > 1 {
		if err := parse(text + fmt.Sprintf("nodes: %d\n", nodes)); err != nil {
			return nil, err
		}
	}
	return q, o.addFaults(q)
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
		hw, err := s.Hardware(nil)
		if err != nil {
			return 1, nil
		}
		per = len(hw.Machine.Ranks) / int(hw.Machine.Hosts)
		if hw.Net != nil {
			return 1, nil // it has its own nodes
		}
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
	if err != nil {
		if q.Workload.Trace != nil {
			err = badTrace(err)
		}
		return nil, q.spoken.err(err)
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
