package configs

import (
	"errors"
	"fmt"
	"io"
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
collectives: {library: explicit, grain: stream}
`

// home is where relative paths of a scenario start.
type home struct {
	fsys fs.FS
	dir  string
}

// Load reads a scenario and lays the environment and the overrides over it.
//
// Name is a file, "-" for standard input, or the name of an embedded scenario
// ("" is [Default]); a file of that name wins. Overrides are "path=value", as
// --set takes them, where the value is YAML. Environ is as os.Environ returns
// it; WEFT_NETWORK_MODEL=ideal sets network.model. Later wins: defaults, file,
// environment, overrides.
//
// Everything wrong is returned at once as [strict.Errors]; a file that cannot
// be read as its own error.
func Load(name string, overrides, environ []string) (*Scenario, error) {
	if name == "" {
		name = Default
	}
	if name == "-" {
		text, err := io.ReadAll(os.Stdin)
		if err != nil {
			return nil, fmt.Errorf("load scenario from standard input: %w", err)
		}
		return parse("<stdin>", text, home{osFS{}, "."}, overrides, environ)
	}
	text, err := os.ReadFile(name)
	if err == nil {
		return parse(name, text, home{osFS{}, filepath.Dir(name)}, overrides, environ)
	}
	if !errors.Is(err, fs.ErrNotExist) || strings.ContainsAny(name, `/\.`) {
		return nil, fmt.Errorf("load scenario: %w", err)
	}
	if text, err := scenarioFS.ReadFile("scenarios/" + name + ".yaml"); err == nil {
		return parse(name+".yaml", text, home{scenarioFS, "scenarios"}, overrides, environ)
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

// Parse is [Load] for a text that is at hand. Relative paths in it start at
// dir.
func Parse(name string, text []byte, dir string, overrides, environ []string) (*Scenario, error) {
	return parse(name, text, home{osFS{}, dir}, overrides, environ)
}

// OfSystem returns a scenario that asks about a machine and runs nothing of
// interest on it. System is what a scenario writes under that key; content, if
// not nil, is the file's. The system stands over the environment.
func OfSystem(system string, content []byte, overrides, environ []string) (*Scenario, error) {
	src := strict.NewSource("machine", []byte(system))
	src.Loose = true
	at := strict.Pos{Source: src, Line: 1, Column: 1}
	node := &strict.Node{Kind: strict.String, Text: system, Pos: at}
	s := &Scenario{home: home{osFS{}, "."}, content: content}
	return s, s.parse("machine", []byte("{name: machine, workload: {kind: collective, op: all_reduce, bytes: 1MiB}}"), overrides, environ, node)
}

func parse(name string, text []byte, h home, overrides, environ []string) (*Scenario, error) {
	s := &Scenario{home: h}
	if err := s.parse(name, text, overrides, environ, nil); err != nil {
		return nil, err
	}
	return s, nil
}

// parse lays the layers of a scenario over each other; system, if not nil, is
// one between the environment and the overrides.
func (s *Scenario) parse(name string, text []byte, overrides, environ []string, system *strict.Node) error {
	src := strict.NewSource(name, text)
	file, fileErr := strict.Parse(src, text)
	if file == nil {
		return fileErr
	}
	if file.Kind != strict.Mapping {
		return strict.Decode(file, s)
	}
	base := strict.NewSource("default", []byte(defaults))
	base.Loose = true
	def, err := strict.Parse(base, []byte(defaults))
	if err != nil {
		return err
	}
	l := newLayers()
	if err := l.file(file); err != nil {
		return fmt.Errorf("load scenario %s: %w", name, err)
	}
	l.defaults(def)
	paths := strict.Paths(s)
	envErr := s.environment(l, paths, environ)
	if system != nil {
		l.set([]strict.Key{{Name: "system", Pos: system.Pos}}, system)
	}
	setErr := flags(l, overrides)
	s.tree = l.merged(file.Pos)
	return strict.Join(fileErr, envErr, setErr, strict.Decode(s.tree, s))
}

// environment lays WEFT_ variables over what is there. One that names no key
// is a warning: other programs may use the prefix.
func (s *Scenario) environment(l *layers, paths, environ []string) error {
	byVar := map[string]string{}
	var vars []string
	for _, p := range paths {
		v := EnvName(p)
		byVar[v] = p
		vars = append(vars, v)
	}
	sorted := slices.Clone(environ)
	slices.Sort(sorted)
	var errs []error
	for _, kv := range sorted {
		name, value, _ := strings.Cut(kv, "=")
		if !strings.HasPrefix(name, "WEFT_") || name == "WEFT_SHARED" {
			continue // WEFT_SHARED is of the tests
		}
		path, ok := byVar[name]
		if !ok {
			msg := fmt.Sprintf("environment: %s sets nothing: no key of a scenario has that name", name)
			if hint := strict.DidYouMean(name, vars); hint != "" {
				msg += "; " + hint
			}
			s.Warnings = append(s.Warnings, msg)
			continue
		}
		n, err := scalar("env "+name, value, 0)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		l.set(keysOf(path, n.Pos, 0), n)
	}
	return strict.Join(errs...)
}

// EnvName returns the environment variable that sets a key: WEFT_NETWORK_MODEL
// for network.model.
func EnvName(path string) string {
	return "WEFT_" + strings.ToUpper(strings.ReplaceAll(path, ".", "_"))
}

// flags lays overrides over what is there.
func flags(l *layers, overrides []string) error {
	var errs []error
	for _, o := range overrides {
		path, _, ok := strings.Cut(o, "=")
		name := "--set " + clip(o)
		if !ok || path == "" || slices.Contains(strings.Split(path, "."), "") || strings.ContainsAny(path, "[]"+delim) {
			src := strict.NewSource(name, []byte(o))
			src.Loose = true
			e := &strict.Error{Pos: strict.Pos{Source: src, Line: 1, Column: 1},
				Msg: "expected path=value, such as network.model=ideal"}
			if strings.ContainsAny(path, "[]") {
				e.Msg += "; a list is replaced as a whole"
			}
			errs = append(errs, e)
			continue
		}
		n, err := scalar(name, o, len(path)+1)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		l.set(keysOf(path, n.Pos, 1), n)
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
	for _, name := range strings.Split(path, ".") {
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
