package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// schema is the part of a JSON Schema that a page of keys needs.
type schema struct {
	Ref         string             `json:"$ref"`
	Defs        map[string]*schema `json:"$defs"`
	Description string             `json:"description"`
	Type        string             `json:"type"`
	Const       any                `json:"const"`
	Enum        []any              `json:"enum"`
	Examples    []any              `json:"examples"`
	Minimum     *float64           `json:"minimum"`
	Maximum     *float64           `json:"maximum"`
	Items       *schema            `json:"items"`
	Properties  map[string]*schema `json:"properties"`
	Additional  json.RawMessage    `json:"additionalProperties"`
	Required    []string           `json:"required"`
	OneOf       []*schema          `json:"oneOf"`
}

// TestDocsScenarioKeys holds docs/reference/scenario.md against the schema that
// is generated from the structs; -update writes it.
func TestDocsScenarioKeys(t *testing.T) {
	folder := filepath.Join(repoRoot(t), "docs/reference")
	text, err := os.ReadFile(filepath.Join(folder, "scenario.schema.json"))
	require.NoError(t, err)
	var root schema
	require.NoError(t, json.Unmarshal(text, &root))
	want := scenarioPage(&root)
	path := filepath.Join(folder, "scenario.md")
	if *update {
		require.NoError(t, os.WriteFile(path, []byte(want), 0o644))
	}
	got, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Equal(t, want, string(got), "docs/reference/scenario.md is stale; `make golden` rewrites it")
}

// scenarioPage lists the keys of each part, in the order in which the parts
// are first named.
func scenarioPage(root *schema) string {
	var b strings.Builder
	b.WriteString(`<!-- Generated from scenario.schema.json by ` + "`make golden`" + `. -->
# Scenario keys

A scenario is a YAML file. Keys are in snake_case; an unknown key, a wrong type or a quantity without its [unit](../explain/units.md) is refused. Later wins:
defaults, file, environment (` + "`WEFT_NETWORK_MODEL` sets `network.model`" + `), ` + "`--set path=value`" + `, flags: see [settings](settings.md). Editors complete and check with
[scenario.schema.json](scenario.schema.json). ` + "`weft check`" + ` prints what a scenario resolves to.
`)
	queue := []string{defName(root.Ref)}
	for i := 0; i < len(queue); i++ {
		name := queue[i]
		def := root.Defs[name]
		fmt.Fprintf(&b, "\n## %s\n", title(name))
		forms := []*schema{def}
		if len(def.OneOf) > 0 {
			forms = def.OneOf
		}
		for _, f := range forms {
			if f.Properties == nil {
				fmt.Fprintf(&b, "\nMay be written as %s.\n", typeOf(f))
				continue
			}
			if kind := f.Properties["kind"]; len(forms) > 1 && kind != nil && kind.Const != nil {
				fmt.Fprintf(&b, "\n### kind: %v\n", kind.Const)
			}
			b.WriteString("\n| key | value | meaning |\n|---|---|---|\n")
			for _, key := range sorted(f) {
				p := f.Properties[key]
				mark := ""
				if slices.Contains(f.Required, key) {
					mark = " (required)"
				}
				fmt.Fprintf(&b, "| `%s`%s | %s | %s |\n", key, mark, typeOf(p), strings.ReplaceAll(unit.ReplaceAllString(p.Description, ""), "|", "\\|"))
			}
			for _, key := range sorted(f) {
				for _, n := range references(f.Properties[key]) {
					if !slices.Contains(queue, n) {
						queue = append(queue, n)
					}
				}
			}
		}
	}
	return b.String()
}

// sorted lists the keys of a part, those that are required first.
func sorted(s *schema) []string {
	keys := slices.Clone(s.Required)
	rest := []string{}
	for k := range s.Properties {
		if !slices.Contains(keys, k) {
			rest = append(rest, k)
		}
	}
	slices.Sort(rest)
	return append(keys, rest...)
}

// unit is what descriptions say to editors and the column of values says here.
var unit = regexp.MustCompile(` \(an? [a-z]+ with its unit.*\)$`)

func defName(ref string) string { return strings.TrimPrefix(ref, "#/$defs/") }

// title is the heading of a part: the struct's name without its package.
func title(def string) string {
	_, name, _ := strings.Cut(def, ".")
	return name
}

// values returns the schema of the values of a mapping, or nil.
func values(s *schema) *schema {
	if len(s.Additional) == 0 || s.Additional[0] != '{' {
		return nil
	}
	var v schema
	if json.Unmarshal(s.Additional, &v) != nil {
		return nil
	}
	return &v
}

func references(s *schema) []string {
	if s.Ref != "" {
		return []string{defName(s.Ref)}
	}
	var out []string
	for _, o := range s.OneOf {
		out = append(out, references(o)...)
	}
	if s.Items != nil {
		out = append(out, references(s.Items)...)
	}
	if v := values(s); v != nil {
		out = append(out, references(v)...)
	}
	return out
}

// typeOf says in words what a key takes.
func typeOf(s *schema) string {
	switch {
	case s.Ref != "":
		name := title(defName(s.Ref))
		return "[" + name + "](#" + strings.ToLower(name) + ")"
	case s.Const != nil:
		return fmt.Sprintf("`%v`", s.Const)
	case len(s.Enum) > 0:
		return join(s.Enum, " or ")
	case len(s.OneOf) > 0:
		parts := make([]string, len(s.OneOf))
		for i, o := range s.OneOf {
			parts[i] = typeOf(o)
		}
		return strings.Join(parts, ", or ")
	case s.Items != nil:
		return "list of " + typeOf(s.Items)
	case len(s.Examples) > 0:
		return "such as " + join(s.Examples, ", ")
	}
	if v := values(s); v != nil {
		return "names, each with " + typeOf(v)
	}
	switch s.Type {
	case "string":
		return "text"
	case "integer":
		return "whole number" + bounds(s)
	case "number":
		return "number" + bounds(s)
	case "boolean":
		return "true or false"
	}
	return s.Type
}

func bounds(s *schema) string {
	switch {
	case s.Minimum != nil && s.Maximum != nil:
		return fmt.Sprintf(", %.6g to %.8g", *s.Minimum, *s.Maximum)
	case s.Minimum != nil:
		return fmt.Sprintf(" from %.6g", *s.Minimum)
	}
	return ""
}

func join(words []any, between string) string {
	parts := make([]string, len(words))
	for i, w := range words {
		parts[i] = fmt.Sprintf("`%v`", w)
	}
	return strings.Join(parts, between)
}
