package chakra

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/weft-sim/weft/workloads"
)

// Group is a communicator of the traced job.
type Group struct {
	ID    string
	Ranks []int32 // in ring order; empty means all ranks
	Desc  string  // PyTorch's pg_desc, "" elsewhere
}

// maxGroupFile bounds a group file: far above that of a million ranks in ten
// groups each.
const maxGroupFile = 256 << 20

// ReadGroups reads a communicator group file: {"<id>": [ranks], ...}. Groups
// are in order of their ids.
func ReadGroups(r io.Reader, name string) ([]Group, error) {
	br, err := open(r, name, maxGroupFile)
	if err != nil {
		return nil, err
	}
	dec := json.NewDecoder(br)
	fail := func(read string, err error) error {
		e := readError(name, 0, dec.InputOffset(), read, `a group file: {"<id>": [ranks], ...}`)
		e.Err = err
		return e
	}
	tok, err := dec.Token()
	if err != nil || tok != json.Delim('{') {
		return nil, fail("no JSON object", err)
	}
	var out []Group
	seen := map[string]bool{}
	for dec.More() {
		tok, err := dec.Token()
		if err != nil {
			return nil, fail("malformed JSON", err)
		}
		id := groupID(fmt.Sprint(tok))
		if seen[id] {
			return nil, fail(fmt.Sprintf("group %s again", id), nil)
		}
		seen[id] = true
		var ranks []int32
		if err := dec.Decode(&ranks); err != nil {
			return nil, fail(fmt.Sprintf("group %s with something else than a list of ranks", id), err)
		}
		out = append(out, Group{ID: id, Ranks: ranks})
	}
	if _, err := dec.Token(); err != nil {
		return nil, fail("JSON that does not end", err)
	}
	slices.SortFunc(out, func(a, b Group) int { return compareNames(a.ID, b.ID) })
	return out, nil
}

// groupID writes an id in one way: "5", 5 and "5.0" are one group.
func groupID(s string) string {
	if f, err := strconv.ParseFloat(s, 64); err == nil && f == math.Trunc(f) && math.Abs(f) < 1<<53 {
		return strconv.FormatInt(int64(f), 10)
	}
	return s
}

// processGroups is the name of the node in which PyTorch records its groups.
const processGroups = "## process_group:init ##"

// recordedGroups reads the groups of a trace's metadata nodes.
func (t *Trace) recordedGroups() ([]Group, error) {
	var out []Group
	for i := range t.Nodes {
		n := &t.Nodes[i]
		if n.Type != Metadata || !strings.EqualFold(n.Name, processGroups) {
			continue
		}
		gs, err := parseProcessGroups(n.Inputs)
		if err != nil {
			e := importError(t.File, fmt.Sprintf("process groups %.80q", n.Inputs), `a JSON list: [{"pg_name": ..., "ranks": [...]}]`, "")
			e.Offset, e.Record, e.Node, e.Err = n.Offset, n.Record, n.label(), err
			return nil, e
		}
		out = append(out, gs...)
	}
	return out, nil
}

// parseProcessGroups reads the list of groups out of the text of a Python list
// of one string: ['[{"pg_name": "0", "ranks": [0, 1], ...}]'].
func parseProcessGroups(text string) ([]Group, error) {
	from, to := strings.Index(text, "{"), strings.LastIndex(text, "}")
	if from < 0 || to < from {
		if strings.Contains(text, "[]") {
			return nil, nil
		}
		return nil, fmt.Errorf("no list of groups")
	}
	list := "[" + text[from:to+1] + "]"
	if strings.Contains(list, `\"`) {
		list = strings.ReplaceAll(strings.ReplaceAll(list, `\\`, `\`), `\"`, `"`)
	} else if !strings.Contains(list, `"`) {
		list = strings.ReplaceAll(list, "'", `"`)
	}
	var raw []struct {
		Name  any     `json:"pg_name"`
		Desc  string  `json:"pg_desc"`
		Ranks []int32 `json:"ranks"`
	}
	if err := json.Unmarshal([]byte(list), &raw); err != nil {
		return nil, err
	}
	out := make([]Group, len(raw))
	for i, g := range raw {
		out[i] = Group{ID: groupID(fmt.Sprint(g.Name)), Ranks: g.Ranks, Desc: g.Desc}
	}
	return out, nil
}

// dimOf returns the parallel dimension that a group's description names, as
// Megatron-LM writes them (TENSOR_MODEL_PARALLEL_GROUP).
func dimOf(desc string) workloads.Dim {
	d := strings.ToUpper(desc)
	switch {
	case strings.Contains(d, "EXPERT"):
		if strings.Contains(d, "EXPERT_MODEL_PARALLEL") {
			return workloads.EP
		}
		return workloads.Other
	case strings.Contains(d, "_AND_"):
		return workloads.Other
	case strings.Contains(d, "TENSOR"):
		return workloads.TP
	case strings.Contains(d, "PIPELINE"):
		return workloads.PP
	case strings.Contains(d, "DATA_PARALLEL"):
		return workloads.DP
	case strings.Contains(d, "CONTEXT"):
		return workloads.CP
	}
	return workloads.Other
}

// checkGroup reports a group that cannot be: a rank outside the world, a rank
// twice.
func (im *importer) checkGroup(file string, g Group) error {
	world := im.world
	seen := make(map[int32]bool, len(g.Ranks))
	for _, r := range g.Ranks {
		if r < 0 || r >= world {
			return importError(file, fmt.Sprintf("group %s with rank %d", g.ID, r), fmt.Sprintf("ranks 0 to %d of a world of %d", world-1, world),
				"give "+im.opt.say("world", fmt.Sprint(r+1))+", or mend the group")
		}
		if seen[r] {
			return importError(file, fmt.Sprintf("group %s with rank %d twice", g.ID, r), "each rank once", "")
		}
		seen[r] = true
	}
	return nil
}
