package configs

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/weft-sim/weft/configs/strict"
)

// Overlay is what lies over a scenario's file. Later wins: defaults, the file,
// Environ, Set, Flags.
type Overlay struct {
	// Environ is as os.Environ returns it: WEFT_NETWORK_MODEL=ideal sets
	// network.model. A WEFT_ variable that sets nothing is an error.
	Environ []string
	// Set are "path=value", as --set takes them. The value is YAML. What follows
	// figures in a path is one key: figures.links.nvlink4.calibration=0.9.
	Set []string
	// Flags are flags with names of their own.
	Flags []Flag
}

// Flag is a flag that sets one key. Errors and origins show it as the user
// typed it: "--nodes 2".
type Flag struct {
	Name  string // "--nodes"
	Path  string // "nodes"
	Value string // "2"
}

// Load reads a scenario. Name is a file, "-" for standard input, or the name of
// an embedded scenario ("" is [Default]); a file of that name wins. A file that
// is a pipe is read once, and relative paths in it start at the working
// directory, as in standard input.
//
// Everything wrong is returned at once as [strict.Errors]; a file that cannot
// be read as its own error.
func (o Overlay) Load(name string) (*Scenario, error) {
	if name == "" {
		name = Default
	}
	if name == "-" {
		text, err := io.ReadAll(io.LimitReader(os.Stdin, strict.MaxBytes+1))
		if err != nil {
			return nil, fmt.Errorf("load scenario from standard input: %w", err)
		}
		return parse("<stdin>", text, home{osFS{}, "."}, o)
	}
	text, dir, err := readScenario(name)
	if err == nil {
		return parse(name, text, home{osFS{}, dir}, o)
	}
	if !errors.Is(err, fs.ErrNotExist) || strings.ContainsAny(name, `/\.`) {
		return nil, fmt.Errorf("load scenario: %w", err)
	}
	if text, err := scenarioFS.ReadFile("scenarios/" + name + ".yaml"); err == nil {
		return parse(name+".yaml", text, home{scenarioFS, "scenarios"}, o)
	}
	var names []string
	for _, e := range List() {
		names = append(names, e.Name)
	}
	msg := fmt.Sprintf("load scenario: %q is neither a file nor an embedded scenario", name)
	if hint := strict.DidYouMean(name, names); hint != "" {
		msg += "; " + hint
	}
	return nil, fmt.Errorf("%s (embedded: %s): %w", msg, strings.Join(names, ", "), fs.ErrNotExist)
}

// readScenario reads a file as far as a scenario can be long, and says where
// relative paths in it start.
func readScenario(name string) (text []byte, dir string, err error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, "", err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, "", err
	}
	dir = "."
	if info.Mode().IsRegular() {
		dir = filepath.Dir(name)
	}
	text, err = io.ReadAll(io.LimitReader(f, strict.MaxBytes+1))
	return text, dir, err
}

// Parse is [Overlay.Load] for a text that is at hand. Relative paths in it
// start at dir.
func (o Overlay) Parse(name string, text []byte, dir string) (*Scenario, error) {
	return parse(name, text, home{osFS{}, dir}, o)
}

// OfTrace returns the scenario that runs a trace, a file or a folder, on a
// system of the catalogue, and on as many nodes of it as the trace has ranks for
// unless a layer says how many. Origins say "trace NAME", where a file would
// have its line.
func (o Overlay) OfTrace(name, system string) (*Scenario, error) {
	abs, err := filepath.Abs(name)
	if err != nil {
		return nil, fmt.Errorf("read trace %s: %w", name, err)
	}
	of := func(source, text string) *strict.Node {
		return &strict.Node{Kind: strict.String, Text: text, Pos: strict.Pos{Source: &strict.Source{Name: source, Loose: true}}}
	}
	trace := "trace " + name
	root, load := of(trace, ""), of(trace, "")
	root.Kind, load.Kind = strict.Mapping, strict.Mapping
	put := func(to *strict.Node, key string, n *strict.Node) {
		to.Keys = append(to.Keys, strict.Key{Name: key, Pos: n.Pos})
		to.Items = append(to.Items, n)
	}
	put(load, "kind", of(trace, "trace"))
	put(load, "path", of(trace, filepath.ToSlash(name)))
	put(root, "name", of(trace, filepath.Base(abs)))
	put(root, "system", of("default for traces", system))
	put(root, "workload", load)
	s := &Scenario{home: home{osFS{}, "."}}
	if err := s.lay(root, nil, o, nil); err != nil {
		return nil, err
	}
	s.fit = s.Workload.Trace != nil && s.Origin("nodes") == "default"
	return s, nil
}
