package configs

import (
	"fmt"
	"io"
	"io/fs"

	"github.com/weft-sim/weft/configs/strict"
)

// readPreset reads the file that the key preset names, if it names one: keys of
// a scenario that lie below the scenario's own, over the defaults. Relative
// names start at the scenario's folder where the file names the preset, and at
// the working directory where a flag or the environment does.
func (s *Scenario) readPreset() (*strict.Node, error) {
	at := s.tree.Child("preset")
	if at == nil || at.Kind != strict.String {
		return nil, nil // none, or decoding says what is wrong with it
	}
	if at.Text == "" {
		return nil, s.tree.ErrorAt("preset", "read nothing, expected a file, such as one that weft calibrate writes", "")
	}
	fsys, name := s.open("preset", at.Text)
	text, err := readBounded(fsys, name)
	if err != nil {
		return nil, s.tree.ErrorAt("preset", fmt.Sprintf("read preset: %v", err), "")
	}
	n, err := strict.Parse(strict.NewSource(at.Text, text), text)
	switch {
	case n == nil:
		return nil, err
	case n.Kind != strict.Mapping:
		return nil, strict.Join(err, &strict.Error{Pos: n.Pos, Msg: "a preset is keys of a scenario, such as figures or collectives"})
	}
	for _, key := range [...]string{"preset", "workload", "thresholds"} {
		if k := n.Child(key); k != nil {
			err = strict.Join(err, &strict.Error{Pos: k.Pos, Path: key, Msg: "a preset describes a machine and its library, not what runs", Hint: "write " + key + " in the scenario"})
		}
	}
	return n, err
}

// readBounded reads a file as far as a scenario can be long.
func readBounded(fsys fs.FS, name string) ([]byte, error) {
	f, err := fsys.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, strict.MaxBytes+1))
}
