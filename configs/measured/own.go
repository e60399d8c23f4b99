package measured

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/weft-sim/weft/configs/strict"
	"github.com/weft-sim/weft/sim"
	"github.com/weft-sim/weft/workloads"
)

// ownColumns are the columns of a user's table, by all the names that they have
// in published ones. The first must be there, and a time or a rate.
var ownColumns = [][]string{
	{"size_bytes", "size"}, {"time_us", "time"}, {"busbw_gbytes_per_s", "busbw_gbps", "busbw"}, {"algbw_gbytes_per_s", "algbw_gbps", "algbw"},
	{"op"}, {"ranks", "gpus"}, {"nodes"}, {"type", "dtype"}, {"variant", "impl", "algo"}, {"placement"},
}

// readOwn reads a table of a user: a row a size, with the columns of
// nccl-tests by name. What has no column comes from the first case that names
// the table. A row without a time has it worked out from its rate; one of 0
// bytes is of a size that is not known, and is passed over.
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
	for _, must := range [][][]string{ownColumns[:1], ownColumns[1:4]} {
		if !slices.ContainsFunc(must, func(names []string) bool { return columnOf(head, names) >= 0 }) {
			return nil, fmt.Errorf("read %s: no column %s among %s%s", name, must[0][0], clip(strings.Join(head, ",")), strict.DidYouMean(must[0][0], head))
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
	for _, names := range ownColumns {
		v[names[0]] = standard[names[0]]
		if i := columnOf(head, names); i >= 0 && strings.TrimSpace(fields[i]) != "" {
			v[names[0]] = strings.TrimSpace(fields[i])
		}
	}
	if v["size_bytes"] == "0" {
		return runs, nil
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
	us, coarse := v["time_us"], false
	if us == "" {
		us, coarse = fromRate(v["op"], ranks, size, v["busbw_gbytes_per_s"], v["algbw_gbytes_per_s"])
	}
	time, err := microseconds(us)
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
	runs[i].Points = append(runs[i].Points, Point{Size: sim.Bytes(size), Time: time, Placement: v["placement"], Coarse: coarse})
	return runs, nil
}

// columnOf returns where the first of the names stands, or -1.
func columnOf(head, names []string) int {
	for _, n := range names {
		if i := slices.Index(head, n); i >= 0 {
			return i
		}
	}
	return -1
}

// fromRate works a time in us out of a published rate in GB/s, "" if there is
// none, and says whether the rate's last digit is worth more than 5 %.
func fromRate(op string, ranks int, size int64, bus, alg string) (us string, coarse bool) {
	rate, f := bus, factor(op, ranks)
	if digits(alg) > digits(bus) {
		rate, f = alg, 1
	}
	v, err := strconv.ParseFloat(rate, 64)
	if err != nil || v <= 0 {
		return "", false
	}
	_, decimals, _ := strings.Cut(rate, ".")
	half := 0.5 * math.Pow(10, -float64(len(decimals)))
	return strconv.FormatFloat(float64(size)*f/v/1e3, 'g', 6, 64), half/v > 0.05
}

// digits counts the significant digits of a decimal.
func digits(s string) int { return len(strings.TrimLeft(strings.Replace(s, ".", "", 1), "0")) }
