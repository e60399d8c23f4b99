package configs

import (
	"embed"
	"io/fs"
	"strings"

	"github.com/weft-sim/weft/configs/strict"
)

//go:embed scenarios
var scenarioFS embed.FS

// Entry is an embedded scenario.
type Entry struct {
	Name  string // what [Load] takes
	About string // what it teaches
}

// List returns the embedded scenarios by name.
func List() []Entry {
	files, err := fs.Glob(scenarioFS, "scenarios/*.yaml")
	if err != nil {
		panic(err) // the pattern is a constant
	}
	var out []Entry
	for _, f := range files {
		text, err := scenarioFS.ReadFile(f)
		if err != nil {
			panic(err) // it was listed
		}
		e := Entry{Name: strings.TrimSuffix(strings.TrimPrefix(f, "scenarios/"), ".yaml")}
		if n, err := strict.Parse(strict.NewSource(f, text), text); err == nil {
			if about := n.Child("about"); about != nil {
				e.About = strings.Join(strings.Fields(about.Text), " ")
			}
		}
		out = append(out, e)
	}
	return out
}

// Text returns the file of an embedded scenario, comments and all.
func Text(name string) ([]byte, error) { return scenarioFS.ReadFile("scenarios/" + name + ".yaml") }
