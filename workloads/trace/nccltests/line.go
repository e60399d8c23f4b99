package nccltests

import (
	"regexp"
	"strings"
)

// Prefixes that launchers put in front of the lines of a process. The group is
// who speaks, where there are several.
var prefixes = []*regexp.Regexp{
	regexp.MustCompile(`^.{0,80}?\[([\w.@-]+,\d+(?:\.\d+)?)\]<std(?:out|err|diag)>\s?:?`), // Open MPI --tag-output, with --timestamp-output in front
	regexp.MustCompile(`^\[default(\d+)\]:`),                                              // torchrun
	regexp.MustCompile(`^\[(\d+)\] `),                                                     // MPICH -prepend-rank, Intel MPI -l
	regexp.MustCompile(`^ *(\d+): `),                                                      // srun -l
	regexp.MustCompile(`^\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d[.,\d]*(?:Z|[+-]\d\d:?\d\d)?:? ()`),
	regexp.MustCompile(`^([A-Za-z][\w.-]*)(?::| *\|) `), // pdsh, clush, compose, kubectl --prefix
}

var escapes = regexp.MustCompile("\x1b\\[[0-9;]*[A-Za-z]")

// may is a cheap test whether a line can have a prefix: most have none.
func may(prefix int, line string) bool {
	c := line[0]
	switch prefix {
	case 0:
		return strings.Contains(line[:min(len(line), 200)], "]<std")
	case 1, 2:
		return c == '['
	case 3:
		i := strings.IndexByte(line[:min(len(line), 16)], ':')
		return i > 0 && (c == ' ' || c >= '0' && c <= '9')
	case 4:
		return c >= '0' && c <= '9'
	}
	return c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z'
}

// strip returns who printed a line, "" if nobody is named, and what it said.
func strip(line string) (who, said string) {
	if strings.Contains(line, "\x1b") {
		line = escapes.ReplaceAllString(line, "")
	}
	line = strings.TrimRight(line, "\r\n")
	for range 4 { // a time, a host and a rank
		if line == "" || line[0] == '#' {
			break
		}
		found := false
		for i, p := range prefixes {
			if !may(i, line) {
				continue
			}
			m := p.FindStringSubmatchIndex(line)
			if m == nil {
				continue
			}
			if id := line[m[2]:m[3]]; id != "" {
				who += id + "/"
			}
			line = line[m[1]:]
			found = true
			break
		}
		if !found {
			break
		}
	}
	return who, line
}
