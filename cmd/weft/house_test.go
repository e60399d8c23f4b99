package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// module is the path under which weft's packages are imported.
const module = "github.com/weft-sim/weft/"

// layers are the folders of the house, in the order in which they may build on
// each other: a package imports packages to its left or of its own folder.
var layers = []string{"sim", "topology", "workloads", "configs", "cmd"}

// confined are imports that only some layers may have, so that each layer goes
// on knowing nothing of what is not its own business.
var confined = []struct {
	path   string // a prefix
	layers []string
	why    string
}{
	{"time", []string{"configs", "cmd"}, "a simulation reads no clock of the machine"},
	{"math/rand", []string{}, "randomness comes from a seeded source, math/rand/v2"},
	{"os", []string{"workloads", "configs", "cmd"}, "sim and topology know no files"},
	{"net", []string{"configs", "cmd"}, "weft needs no network"},
	{"flag", []string{}, "flags are cobra's"},
	{"github.com/spf13/cobra", []string{"cmd"}, "verbs and flags are the command's"},
	{"github.com/jedib0t/go-pretty", []string{"cmd"}, "tables are the command's"},
	{"github.com/schollz/progressbar", []string{"cmd"}, "progress is the command's"},
	{"golang.org/x/term", []string{"cmd"}, "terminals are the command's"},
	{"github.com/spf13/viper", []string{"configs", "cmd"}, "layers of settings are the configuration's"},
	{"github.com/goccy/go-yaml", []string{"topology", "configs", "cmd"}, "YAML is the configuration's, and that of network files"},
}

type goPackage struct {
	ImportPath                         string
	Imports, TestImports, XTestImports []string
}

func listPackages(t *testing.T) []goPackage {
	t.Helper()
	cmd := exec.Command("go", "list", "-e", "-json=ImportPath,Imports,TestImports,XTestImports", "./...")
	cmd.Dir = repoRoot(t)
	out, err := cmd.Output()
	require.NoError(t, err, "go list")
	var all []goPackage
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var p goPackage
		if err := d.Decode(&p); err == io.EOF {
			return all
		} else {
			require.NoError(t, err)
		}
		all = append(all, p)
	}
}

// layerOf returns the layer of one of our packages, or -1.
func layerOf(path string) int {
	rest, ours := strings.CutPrefix(path, module)
	if !ours {
		return -1
	}
	folder, _, _ := strings.Cut(rest, "/")
	return slices.Index(layers, folder)
}

func TestImportsPointLeft(t *testing.T) {
	packages := listPackages(t)
	require.NotEmpty(t, packages)
	for _, p := range packages {
		own := layerOf(p.ImportPath)
		if !assert.GreaterOrEqual(t, own, 0, "%s is in none of the folders %v", p.ImportPath, layers) {
			continue
		}
		for _, other := range slices.Concat(p.Imports, p.TestImports, p.XTestImports) {
			theirs := layerOf(other)
			assert.LessOrEqual(t, theirs, own, "%s imports %s: imports point from right to left in %s",
				p.ImportPath, other, strings.Join(layers, " <- "))
			if layers[own] != "cmd" {
				assert.False(t, strings.HasPrefix(other, module+"cmd"), "%s imports %s", p.ImportPath, other)
			}
		}
	}
}

func TestConfinedImports(t *testing.T) {
	for _, p := range listPackages(t) {
		own := layerOf(p.ImportPath)
		if own < 0 {
			continue // said by TestImportsPointLeft
		}
		for _, other := range p.Imports { // tests may read files and clocks
			for _, c := range confined {
				if other != c.path && (!strings.HasPrefix(other, c.path+"/") || other == "math/rand/v2") {
					continue
				}
				assert.Contains(t, c.layers, layers[own], "%s imports %s: %s", p.ImportPath, other, c.why)
			}
		}
	}
}

// moduleRow is a row of the tables in docs/explain/dependencies.md.
var moduleRow = regexp.MustCompile("(?m)^\\| `([^`]+)` \\| (.+) \\|$")

// TestLinkedModules holds the modules in the binary, and those that tests
// import, against the page that says why each is there.
func TestLinkedModules(t *testing.T) {
	page, err := os.ReadFile(repoRoot(t) + "/docs/explain/dependencies.md")
	require.NoError(t, err)
	linked, tests, found := strings.Cut(string(page), "\n## In tests only\n")
	require.True(t, found, "dependencies.md has a section for tests")

	binary := modulesOf(t, "-deps", "./cmd/weft")
	everything := modulesOf(t, "-deps", "-test", "./...")
	assertModules(t, "linked into the binary", linked, binary)
	assertModules(t, "in tests only", tests, slices.DeleteFunc(everything, func(m string) bool {
		return slices.Contains(binary, m)
	}))
}

func modulesOf(t *testing.T, args ...string) []string {
	t.Helper()
	cmd := exec.Command("go", append([]string{"list", "-f", "{{with .Module}}{{if not .Main}}{{.Path}}{{end}}{{end}}"}, args...)...)
	cmd.Dir = repoRoot(t)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	require.NoError(t, err, "%v: %s", cmd.Args, stderr.String())
	got := strings.Fields(string(out))
	slices.Sort(got)
	return slices.Compact(got)
}

func assertModules(t *testing.T, where, page string, got []string) {
	t.Helper()
	var named []string
	for _, row := range moduleRow.FindAllStringSubmatch(page, -1) {
		named = append(named, row[1])
		assert.NotEmpty(t, strings.TrimSpace(row[2]), "%s is named without a reason", row[1])
	}
	slices.Sort(named)
	assert.Equal(t, got, named, "modules %s (got) and in docs/explain/dependencies.md (want) differ", where)
}

// repoRoot is the folder of go.mod.
func repoRoot(t *testing.T) string {
	t.Helper()
	for dir := "."; len(dir) < 60; dir += "/.." {
		if _, err := os.Stat(dir + "/go.mod"); err == nil {
			return dir
		}
	}
	require.FailNow(t, "no go.mod above the test")
	return ""
}

func Example_layers() {
	fmt.Println(strings.Join(layers, " <- "))
	// Output: sim <- topology <- workloads <- configs <- cmd
}
