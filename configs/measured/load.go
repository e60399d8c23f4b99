package measured

import (
	"bytes"
	"embed"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"
)

//go:embed data/*.csv cases/*.yaml
var shipped embed.FS

// Series is a run, and the case that says what it was measured on.
type Series struct {
	*Run
	Case *Case
}

// Key names what counts as one series in a score: table, operation, ranks and
// nodes, over all versions and settings of the table.
func (s *Series) Key() string {
	return fmt.Sprintf("%s %s %d %d", s.Table.ID, s.Op, s.Ranks, s.Nodes)
}

// Load returns the series that come with weft, in the order of the tables. Runs
// that a case skips are among them.
func Load() ([]*Series, error) {
	tables, err := shippedFile("data/tables.csv", readTables)
	if err != nil {
		return nil, err
	}
	runs, err := shippedFile("data/points.csv", func(name string, r io.Reader) ([]*Run, error) { return readRuns(name, r, tables) })
	if err != nil {
		return nil, err
	}
	list, err := casesOf(shipped, "cases")
	if err != nil {
		return nil, err
	}
	return match(runs, list)
}

// LoadFrom returns the series of a user's own: cases from the YAML files of one
// folder, tables from the CSV files of another. A table has the name of its
// file. Both may be the same folder.
func LoadFrom(caseDir, dataDir fs.FS) ([]*Series, error) {
	list, err := casesOf(caseDir, ".")
	if err != nil {
		return nil, err
	}
	names, err := fs.Glob(dataDir, "*.csv")
	if err != nil || len(names) == 0 {
		return nil, fmt.Errorf("read tables: no *.csv in the folder of data")
	}
	var runs []*Run
	for _, name := range names {
		text, err := fs.ReadFile(dataDir, name)
		if err != nil {
			return nil, fmt.Errorf("read tables: %w", err)
		}
		more, err := readOwn(name, text, list)
		if err != nil {
			return nil, err
		}
		runs = append(runs, more...)
	}
	return match(runs, list)
}

// casesOf reads the cases of a folder, files in the order of their names.
func casesOf(fsys fs.FS, dir string) ([]*Case, error) {
	names, err := fs.Glob(fsys, path.Join(dir, "*.yaml"))
	if err != nil || len(names) == 0 {
		return nil, fmt.Errorf("read cases: no *.yaml in the folder of cases")
	}
	var list []*Case
	for _, name := range names {
		text, err := fs.ReadFile(fsys, name)
		if err != nil {
			return nil, fmt.Errorf("read cases: %w", err)
		}
		more, err := readCases(name, text)
		if err != nil {
			return nil, err
		}
		list = append(list, more...)
	}
	return list, nil
}

// match gives each run its case.
func match(runs []*Run, list []*Case) ([]*Series, error) {
	var out []*Series
	var orphans []string
	used := map[*Case]bool{}
	for _, r := range runs {
		i := slices.IndexFunc(list, func(c *Case) bool { return c.matches(r) })
		if i < 0 {
			orphans = append(orphans, fmt.Sprintf("%s (%s, %d GPUs, %d nodes, %q)", r.Table.ID, r.Op, r.Ranks, r.Nodes, r.Variant))
			continue
		}
		used[list[i]] = true
		out = append(out, &Series{Run: r, Case: list[i]})
	}
	if orphans != nil {
		return nil, fmt.Errorf("read cases: no case for %s; expected one for every table, with skip: where it is not to be simulated", some(orphans))
	}
	for _, c := range list {
		if !used[c] {
			return nil, fmt.Errorf("read cases: %v: the case matches no table that an earlier one does not", c.pos)
		}
	}
	return out, nil
}

// some lists the first of many names.
func some(names []string) string {
	const most = 5
	if len(names) <= most {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d others", strings.Join(names[:most], ", "), len(names)-most)
}

// shippedFile reads one of the files that come with weft.
func shippedFile[T any](name string, read func(string, io.Reader) (T, error)) (T, error) {
	text, err := shipped.ReadFile(name)
	if err != nil {
		var none T
		return none, err
	}
	return read(name, bytes.NewReader(text))
}
