package main

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestDocs runs what README and docs show. A fenced block whose first line
// begins with "$ " is a terminal: each command in it is run, all blocks of a
// page in one folder, and what stands below a command is compared with what it
// prints. A line "..." stands for any lines. A block that opens with
// ```yaml NAME (or another language) is a file of that name in that folder.
//
// With -update the shown output is rewritten, up to a "..." at its end; what has
// a "..." elsewhere is left as it is.
func TestDocs(t *testing.T) {
	root := repoRoot(t)
	pages := []string{filepath.Join(root, "README.md")}
	err := filepath.WalkDir(filepath.Join(root, "docs"), func(path string, d fs.DirEntry, err error) error {
		if err == nil && strings.HasSuffix(path, ".md") {
			pages = append(pages, path)
		}
		return err
	})
	require.NoError(t, err)
	for _, path := range pages {
		name, err := filepath.Rel(root, path)
		require.NoError(t, err)
		t.Run(name, func(t *testing.T) { testPage(t, root, path) })
	}
}

func testPage(t *testing.T, root, path string) {
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	checkLinks(t, path, string(text))
	folder := ""
	var out strings.Builder
	for _, b := range blocks(string(text)) {
		if !b.fenced {
			out.WriteString(b.text)
			continue
		}
		if folder == "" {
			folder = t.TempDir()
		}
		if name := b.file(); name != "" {
			require.NoError(t, os.WriteFile(filepath.Join(folder, name), []byte(b.text), 0o644))
		}
		if !strings.HasPrefix(b.text, "$ ") {
			out.WriteString(b.open + b.text + b.close)
			continue
		}
		out.WriteString(b.open)
		for _, c := range commands(b.text) {
			got := runShown(t, root, folder, c.line)
			out.WriteString("$ " + c.line + "\n")
			switch {
			case len(c.want) == 0:
			case *update && !strings.Contains(strings.TrimSuffix(c.want, "...\n"), "...\n"):
				out.WriteString(cut(got, c.want))
			default:
				assert.Regexp(t, pattern(c.want), got, "the output of %q has changed; `make golden` rewrites it", c.line)
				out.WriteString(c.want)
			}
		}
		out.WriteString(b.close)
	}
	if *update && out.String() != string(text) {
		require.NoError(t, os.WriteFile(path, []byte(out.String()), 0o644))
	}
}

// cut returns the output in place of what a page shows of it: all, or as many
// lines as stand before a "..." at the end.
func cut(got, want string) string {
	shown, open := strings.CutSuffix(want, "...\n")
	if !open {
		return got
	}
	lines := strings.SplitAfter(got, "\n")
	n := min(strings.Count(shown, "\n"), len(lines))
	return strings.Join(lines[:n], "") + "...\n"
}

// block is a fenced block, or the text between two.
type block struct {
	fenced      bool
	open, close string // the fences, as lines
	text        string
}

func (b block) file() string {
	words := strings.Fields(strings.TrimLeft(b.open, "`"))
	if len(words) == 2 {
		return words[1]
	}
	return ""
}

func blocks(page string) []block {
	var all []block
	cur := block{}
	for line := range strings.Lines(page) {
		fence := strings.HasPrefix(line, "```")
		switch {
		case fence && !cur.fenced:
			all = append(all, cur)
			cur = block{fenced: true, open: line}
		case fence:
			cur.close = line
			all = append(all, cur)
			cur = block{}
		default:
			cur.text += line
		}
	}
	return append(all, cur)
}

// command is a line that a reader types, and what the page shows below it.
type command struct{ line, want string }

func commands(terminal string) []command {
	var all []command
	for line := range strings.Lines(terminal) {
		if typed, ok := strings.CutPrefix(line, "$ "); ok {
			all = append(all, command{line: strings.TrimSuffix(typed, "\n")})
			continue
		}
		all[len(all)-1].want += line
	}
	return all
}

var (
	runnable  = regexp.MustCompile(`^(WEFT_\w+=\S+ )?(weft|cat|echo|printf|head) |^weft$`)
	makeShown = regexp.MustCompile(`^make ?([a-z-]*)$`)
)

// runShown runs a command of a page and returns what a terminal would show. A
// target of make is not run but looked up, save `make run`, which is the
// command's own run.
func runShown(t *testing.T, root, folder, line string) string {
	t.Helper()
	if m := makeShown.FindStringSubmatch(line); m != nil {
		makefile, err := os.ReadFile(filepath.Join(root, "Makefile"))
		require.NoError(t, err)
		if m[1] != "" {
			require.Contains(t, string(makefile), "\n"+m[1]+":", "the Makefile has no target %q", m[1])
		}
		if m[1] != "run" {
			return ""
		}
		require.Contains(t, string(makefile), "\n\t@bin/weft run\n")
		line = "weft run"
	}
	require.Regexp(t, runnable, line, "a page may show weft, make, cat, echo, printf and head")
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, "sh", "-c", line)
	cmd.Dir = folder
	cmd.Env = append(os.Environ(), "NO_COLOR=1", "COLUMNS=", "LC_ALL=C.UTF-8")
	var both bytes.Buffer
	cmd.Stdout, cmd.Stderr = &both, &both
	if err := cmd.Run(); err != nil && !strings.Contains(line, "echo $?") {
		require.NoError(t, err, "%s\n%s", line, both.String())
	}
	return both.String()
}

// pattern turns shown output into a regular expression.
func pattern(want string) string {
	var b strings.Builder
	b.WriteString(`\A`)
	for line := range strings.Lines(want) {
		if line == "...\n" {
			b.WriteString(`(?:.*\n)*?`)
			continue
		}
		b.WriteString(regexp.QuoteMeta(line))
	}
	return b.String() + `\z`
}

var link = regexp.MustCompile(`\]\(([^)#:]+)(#[^)]*)?\)`)

// checkLinks demands that each link of a page to another file leads somewhere.
func checkLinks(t *testing.T, path, text string) {
	t.Helper()
	for _, m := range link.FindAllStringSubmatch(text, -1) {
		_, err := os.Stat(filepath.Join(filepath.Dir(path), m[1]))
		assert.NoError(t, err, "%s links to %s", path, m[1])
	}
}

func TestPatternOfShownOutput(t *testing.T) {
	for _, c := range []struct {
		want, got string
		match     bool
	}{
		{"a.b\n", "a.b\n", true},
		{"a.b\n", "axb\n", false},
		{"a\n...\nd\n", "a\nb\nc\nd\n", true},
		{"a\n...\n", "a\n", true},
		{"a\n", "a\nb\n", false},
	} {
		ok, err := regexp.MatchString(pattern(c.want), c.got)
		require.NoError(t, err)
		assert.Equal(t, c.match, ok, fmt.Sprintf("%q against %q", c.want, c.got))
	}
}
