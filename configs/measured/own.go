package measured

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/weft-sim/weft/configs/strict"
	"github.com/weft-sim/weft/sim"
	"github.com/weft-sim/weft/workloads"
)

// ownColumns are the columns of a user's table; the first two must be there.
var ownColumns = []string{"size_bytes", "time_us", "op", "ranks", "nodes", "type", "variant", "placement"}

// readOwn reads a table of a user: a row a size, with the columns of
// nccl-tests by name. What has no column comes from the first case that names
// the table.
func readOwn(name string, text []byte, list []*Case) ([]*Run, error) {
	t := &Table{ID: strings.TrimSuffix(name, ".csv"), Source: name, Trust: "high"}
	standard, err := ownStandard(t.ID, list)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	c := csv.NewReader(bytes.NewReader(text))
	c.Comment = '#'
	head, err := c.Read()
	if err != nil {
		return nil, fmt.Errorf("read %s: %w; expected a line with the columns size_bytes,time_us", name, err)
	}
	for i, h := range head {
		head[i] = strings.ToLower(strings.TrimSpace(h))
	}
	for _, must := range ownColumns[:2] {
		if !slices.Contains(head, must) {
			return nil, fmt.Errorf("read %s: no column %s among %s%s", name, must, clip(strings.Join(head, ",")), strict.DidYouMean(must, head))
		}
	}
	var runs []*Run
	for {
		fields, err := c.Read()
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", name, err)
		}
		if runs, err = ownRow(runs, t, standard, head, fields); err != nil {
			line, _ := c.FieldPos(0)
			return nil, fmt.Errorf("read %s: line %d: %w", name, line, err)
		}
	}
	if runs == nil {
		return nil, fmt.Errorf("read %s: no rows below the columns", name)
	}
	for _, r := range runs {
		slices.SortStableFunc(r.Points, func(a, b Point) int {
			if c := strings.Compare(b.Placement, a.Placement); c != 0 {
				return c
			}
			return int(min(max(a.Size-b.Size, -1), 1))
		})
	}
	return runs, nil
}

// ownStandard returns what the columns of a table say where they are absent.
func ownStandard(id string, list []*Case) (map[string]string, error) {
	standard := map[string]string{"placement": "out"}
	i := slices.IndexFunc(list, func(c *Case) bool {
		return slices.ContainsFunc(c.Tables, func(p string) bool { return like(p, id) })
	})
	if i < 0 {
		return nil, fmt.Errorf("no case names the table %q", id)
	}
	standard["op"], standard["nodes"] = list[i].Op, "1"
	if list[i].Nodes != nil {
		standard["nodes"] = strconv.Itoa(list[i].Nodes[0])
	}
	if list[i].Ranks != nil {
		standard["ranks"] = strconv.Itoa(list[i].Ranks[0])
	}
	return standard, nil
}

// ownRow adds a row to its run.
func ownRow(runs []*Run, t *Table, standard map[string]string, head, fields []string) ([]*Run, error) {
	v := map[string]string{}
	for _, c := range ownColumns {
		v[c] = standard[c]
		if i := slices.Index(head, c); i >= 0 && strings.TrimSpace(fields[i]) != "" {
			v[c] = strings.TrimSpace(fields[i])
		}
	}
	if !simulated(v["op"]) {
		return nil, fmt.Errorf("read operation %q, expected one of %s, in a column op or in the case", clip(v["op"]), strings.Join(opNames(), ", "))
	}
	ranks, err := count("ranks", v["ranks"])
	if err != nil {
		return nil, fmt.Errorf("%w, in a column or in the case", err)
	}
	nodes, err := count("nodes", v["nodes"])
	if err != nil {
		return nil, err
	}
	size, err := strconv.ParseInt(v["size_bytes"], 10, 64)
	if err != nil || size <= 0 || sim.Bytes(size) > workloads.MaxBytes {
		return nil, fmt.Errorf("read size_bytes %q, expected 1 to %d", clip(v["size_bytes"]), workloads.MaxBytes)
	}
	time, err := microseconds(v["time_us"])
	if err != nil {
		return nil, fmt.Errorf("time_us: %w", err)
	}
	i := slices.IndexFunc(runs, func(r *Run) bool {
		return r.Op == v["op"] && r.Ranks == ranks && r.Nodes == nodes && r.Type == v["type"] && r.Variant == v["variant"]
	})
	if i < 0 {
		i = len(runs)
		runs = append(runs, &Run{Table: t, Op: v["op"], Ranks: ranks, Nodes: nodes, Type: v["type"], Variant: v["variant"]})
	}
	runs[i].Points = append(runs[i].Points, Point{Size: sim.Bytes(size), Time: time, Placement: v["placement"]})
	return runs, nil
}
