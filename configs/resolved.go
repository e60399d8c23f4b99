package configs

import (
	"strings"

	"github.com/weft-sim/weft/configs/strict"
)

// Setting is a value of a loaded scenario and where it came from.
type Setting struct {
	Path   string `json:"path"`   // "network.model"
	Value  string `json:"value"`  // as written; lists and mappings in YAML's flow form
	Origin string `json:"origin"` // "file:line:column", "default", "env WEFT_NODES", "--set nodes=2"
}

// Resolved returns every value that the scenario was given, in the order of
// the file, with its origin.
func (s *Scenario) Resolved() []Setting {
	var out []Setting
	flatten(s.tree, nil, func(keys []strict.Key, n *strict.Node) {
		names := make([]string, len(keys))
		for i, k := range keys {
			names[i] = k.Name
		}
		out = append(out, Setting{strings.Join(names, "."), flow(n), n.Pos.String()})
	})
	return out
}

// Origin returns where the value of a path came from, or "".
func (s *Scenario) Origin(path string) string {
	if n := s.tree.Find(path); n != nil {
		return n.Pos.String()
	}
	return ""
}

// flow prints a value in one line.
func flow(n *strict.Node) string {
	switch n.Kind {
	case strict.Null:
		return "null"
	case strict.Sequence, strict.Mapping:
		parts := make([]string, len(n.Items))
		for i, c := range n.Items {
			parts[i] = flow(c)
			if n.Kind == strict.Mapping {
				parts[i] = n.Keys[i].Name + ": " + parts[i]
			}
		}
		if n.Kind == strict.Mapping {
			return "{" + strings.Join(parts, ", ") + "}"
		}
		return "[" + strings.Join(parts, ", ") + "]"
	}
	return strings.Join(strings.Fields(n.Text), " ")
}
