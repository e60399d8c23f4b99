package configs

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/weft-sim/weft/configs/strict"
)

// Default is the name of the embedded scenario that runs when none is named.
const Default = "default"

// defaults is the lowest layer of every scenario.
const defaults = `
nodes: 1
seed: 1
collapse: auto
network: {model: fluid}
collectives: {grain: stream}
`

// home is where relative paths of a scenario start.
type home struct {
	fsys fs.FS
	dir  string
}

// Load reads a scenario and lays the environment and the overrides over it:
// [Overlay.Load] without flags.
func Load(name string, overrides, environ []string) (*Scenario, error) {
	return Overlay{Environ: environ, Set: overrides}.Load(name)
}

// Parse is [Load] for a text that is at hand. Relative paths in it start at
// dir.
func Parse(name string, text []byte, dir string, overrides, environ []string) (*Scenario, error) {
	return Overlay{Environ: environ, Set: overrides}.Parse(name, text, dir)
}

// OfSystem returns a scenario that asks about a machine and runs nothing of
// interest on it. System is what a scenario writes under that key; content, if
// not nil, is the file's. The system stands over the environment.
func (o Overlay) OfSystem(system string, content []byte) (*Scenario, error) {
	src := strict.NewSource(system, nil)
	src.Loose = true
	at := strict.Pos{Source: src, Line: 1, Column: 1}
	node := &strict.Node{Kind: strict.String, Text: system, Pos: at}
	s := &Scenario{home: home{osFS{}, "."}, content: content}
	const text = "{name: machine, workload: {kind: collective, op: all_reduce, bytes: 1MiB}}"
	file, err := strict.Parse(strict.NewSource("machine", []byte(text)), []byte(text))
	if err != nil {
		return nil, err
	}
	return s, s.lay(file, nil, o, node)
}

// parse reads a text and lays the layers over it.
func parse(name string, text []byte, h home, o Overlay) (*Scenario, error) {
	s := &Scenario{home: h}
	file, err := strict.Parse(strict.NewSource(name, text), text)
	if file == nil {
		return nil, err
	}
	if file.Kind != strict.Mapping {
		return nil, strict.Decode(file, s)
	}
	if err := s.lay(file, err, o, nil); err != nil {
		return nil, err
	}
	return s, nil
}

// lay puts the layers of a scenario over each other and fills it. System, if not
// nil, is one between the environment and the overrides. FileErr is what is
// wrong with the file already.
func (s *Scenario) lay(file *strict.Node, fileErr error, o Overlay, system *strict.Node) error {
	base := strict.NewSource("default", []byte(defaults))
	base.Loose = true
	def, err := strict.Parse(base, []byte(defaults))
	if err != nil {
		return err
	}
	var envErr, setErr error
	merge := func(files ...*strict.Node) error {
		l := newLayers()
		for _, f := range files {
			if err := l.file(f); err != nil {
				return fmt.Errorf("load scenario: %w", err)
			}
		}
		l.defaults(def)
		envErr = environment(l, o.Environ)
		if system != nil {
			l.set([]strict.Key{{Name: "system", Pos: system.Pos}}, system)
		}
		setErr = overrides(l, o)
		s.tree = l.merged(file.Pos)
		return nil
	}
	if err := merge(file); err != nil {
		return err
	}
	preset, presetErr := s.readPreset() // which layer names it, and which preset, the merged tree says
	if preset != nil {
		if err := merge(preset, file); err != nil {
			return err
		}
	}
	decodeErr := strict.Decode(s.tree, s)
	err = strict.Join(fileErr, presetErr, envErr, setErr, decodeErr)
	if err != nil && s.Workload.Program != nil {
		// The names need no value that could not be read. Without another error
		// they wait for Build, which finds what the ranks do not fit too.
		err = strict.Join(err, s.blame(s.Workload.Program.Names(), programKey))
	}
	return err
}

// overrides lays --set and flags over what is there.
func overrides(l *layers, o Overlay) error {
	var errs []error
	for _, text := range o.Set {
		path, _, ok := strings.Cut(text, "=")
		name := "--set " + clip(text)
		if !ok || path == "" || slices.Contains(strings.Split(path, "."), "") || strings.ContainsAny(path, "[]"+delim) {
			src := strict.NewSource(name, []byte(text))
			src.Loose = true
			e := &strict.Error{Pos: strict.Pos{Source: src, Line: 1, Column: 1},
				Msg: "expected path=value, such as network.model=ideal"}
			if strings.ContainsAny(path, "[]") {
				e.Msg += "; a list is replaced as a whole"
			}
			errs = append(errs, e)
			continue
		}
		n, err := scalar(name, text, len(path)+1)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		l.set(keysOf(path, n.Pos, 1), n)
	}
	for _, f := range o.Flags {
		n, err := scalar(clip(f.Name+" "+f.Value), f.Name+" "+f.Value, len(f.Name)+1)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		l.set(keysOf(f.Path, n.Pos, 0), n)
	}
	return strict.Join(errs...)
}

// clip shortens an override for the name that errors show.
func clip(s string) string {
	if r := []rune(s); len(r) > 60 {
		return string(r[:60]) + "..."
	}
	return s
}

// scalar reads a value that stands in text after skip bytes.
func scalar(name, text string, skip int) (*strict.Node, error) {
	src := strict.NewSource(name, []byte(text))
	src.Loose = true
	blank := strings.Repeat(" ", len([]rune(text[:skip])))
	n, err := strict.Parse(src, []byte(blank+text[skip:]))
	if err != nil {
		return nil, err
	}
	if strings.TrimSpace(text[skip:]) == "" { // an empty value is an empty text
		n = &strict.Node{Kind: strict.String, Pos: strict.Pos{Source: src, Line: 1, Column: skip + 1}}
	}
	return n, nil
}

// keysOf splits a path into keys. With a first column the keys stand in the
// text of pos, from there on; else they stand where the value does.
func keysOf(path string, pos strict.Pos, column int) []strict.Key {
	var keys []strict.Key
	names := strings.Split(path, ".")
	if rest, ok := strings.CutPrefix(path, "figures."); ok {
		names = []string{"figures", rest} // the path of a figure is one key
	}
	for _, name := range names {
		p := pos
		if column > 0 {
			p.Line, p.Column = 1, column
			column += len([]rune(name)) + 1
		}
		keys = append(keys, strict.Key{Name: name, Pos: p})
	}
	return keys
}

// osFS is the file system of the machine, by the names that users write.
type osFS struct{}

// Open opens a file.
func (osFS) Open(name string) (fs.File, error) { return os.Open(filepath.FromSlash(name)) }
