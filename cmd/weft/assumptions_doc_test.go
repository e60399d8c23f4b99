package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-sim/weft/configs/catalog"
)

// TestDocsAssumptions holds docs/reference/assumptions.md against the figures
// of the catalogue that are assumed; -update writes it.
func TestDocsAssumptions(t *testing.T) {
	path := filepath.Join(repoRoot(t), "docs/reference/assumptions.md")
	want := assumptionsPage(t)
	if *update {
		require.NoError(t, os.WriteFile(path, []byte(want), 0o644))
	}
	got, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Equal(t, want, string(got), "docs/reference/assumptions.md is stale; `make golden` rewrites it")
}

func assumptionsPage(t *testing.T) string {
	c, err := catalog.Load()
	require.NoError(t, err)
	var b strings.Builder
	b.WriteString("<!-- Generated from the catalogue by `make golden`. -->\n# What is assumed\n\n" +
		"Figures of the catalogue that nobody has published, each with the reason for its value. `weft check` says which of them a scenario uses.\n\n" +
		"| figure | value | reason |\n|---|---|---|\n")
	seen := map[string]bool{}
	add := func(used []catalog.Provenance) {
		for _, p := range used {
			if p.Status == catalog.Assumed && !seen[p.Path] {
				seen[p.Path] = true
				fmt.Fprintf(&b, "| `%s` | %s | %s |\n", p.Path, p.Value, strings.ReplaceAll(p.Note, "|", "\\|"))
			}
		}
	}
	for _, name := range c.Systems() {
		s, err := c.System(name)
		require.NoError(t, err)
		hosts := 1
		if s.Fabric != "" {
			hosts = 2
		}
		m, err := c.Machine(name, catalog.Options{Hosts: hosts})
		require.NoError(t, err, name)
		add(m.Provenance)
	}
	for _, name := range c.GPUs() {
		g, err := c.GPU(name)
		require.NoError(t, err)
		for _, dtype := range catalog.DTypes {
			if !g.Peak.Of(dtype).Known() {
				continue
			}
			_, used, err := g.Roofline(dtype)
			require.NoError(t, err, name)
			add(used)
		}
	}
	return b.String()
}
