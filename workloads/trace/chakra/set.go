package chakra

import (
	"bufio"
	"cmp"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/weft-sim/weft/workloads"
)

// Set is the traces of a job, one a rank, in rank order.
type Set struct {
	Name   string // the common part of the file names
	Traces []*Trace
	Groups []Group // of the group file
	// GroupFile is where the groups came from, "" when there was no file.
	GroupFile string
	Skipped   []Skipped
}

// Skipped is a file of the folder that was not read as a trace.
type Skipped struct {
	File, Why string
}

// Read reads a trace file, or a folder of one file a rank. Ranks come from the
// file names and sort as numbers. The content decides what a file is; others
// than traces and a group file are skipped and listed, except that a file
// named .et or .eg must be a trace.
func Read(fsys fs.FS, name string, opt Options) (*Set, error) {
	if err := opt.Validate(); err != nil {
		return nil, err
	}
	name = path.Clean(name)
	info, err := fs.Stat(fsys, name)
	if err != nil {
		e := readError(name, 0, -1, "a path that cannot be opened", "a trace file, or a folder of them")
		e.Err = err
		return nil, e
	}
	if !info.IsDir() && !readable(info) {
		return nil, readError(name, 0, -1, special(info), "a trace file, a folder of them, or a pipe")
	}
	s := &Set{Name: path.Base(name)}
	dir, only := name, ""
	if !info.IsDir() {
		dir, only = path.Dir(name), name
	}
	files, err := s.list(fsys, dir, only, opt)
	if err != nil {
		return nil, err
	}
	for _, f := range files {
		t, err := decodeFile(fsys, f, opt.MaxBytes)
		if err != nil {
			return nil, err
		}
		s.Traces = append(s.Traces, t)
	}
	if len(s.Traces) == 0 {
		return nil, readError(dir, 0, -1, "a folder without a trace in it", "files <name>.<rank>.et, one a rank")
	}
	if err := s.rank(); err != nil {
		return nil, err
	}
	if len(s.Traces) > 1 && s.Traces[0].Rank != 0 && opt.World == 0 {
		first, last := s.Traces[0], s.Traces[len(s.Traces)-1]
		return nil, importError(dir, fmt.Sprintf("no file of rank 0: the files are of ranks %d (%s) to %d", first.Rank, path.Base(first.File), last.Rank),
			"ranks from 0", "give "+opt.say("world", fmt.Sprint(last.Rank+1))+" if the file of rank 0 is missing on purpose, else number the files from 0")
	}
	if opt.GroupFile != "" {
		s.GroupFile = path.Clean(opt.GroupFile)
	}
	if s.GroupFile != "" {
		if info, err := fs.Stat(fsys, s.GroupFile); err == nil && !readable(info) {
			return nil, readError(s.GroupFile, 0, -1, special(info), `a group file: {"<group>": [ranks]}`)
		}
		f, err := fsys.Open(s.GroupFile)
		if err != nil {
			e := readError(s.GroupFile, 0, -1, "a group file that cannot be opened", `{"<group>": [ranks]}`)
			e.Err = err
			return nil, e
		}
		defer f.Close()
		if s.Groups, err = ReadGroups(f, s.GroupFile); err != nil {
			return nil, err
		}
	}
	return s, nil
}

func decodeFile(fsys fs.FS, name string, maxBytes int64) (*Trace, error) {
	f, err := fsys.Open(name)
	if err != nil {
		e := readError(name, 0, -1, "a file that cannot be opened", "a Chakra trace")
		e.Err = err
		return nil, e
	}
	defer f.Close()
	return Decode(f, name, maxBytes)
}

// readable reports whether a file ends: a regular one, or a pipe, whose bytes
// are bounded like those of any other. A device may go on for ever.
func readable(info fs.FileInfo) bool {
	return info.Mode().IsRegular() || info.Mode()&fs.ModeNamedPipe != 0
}

// special says what a file is that is not readable.
func special(info fs.FileInfo) string {
	switch {
	case info.IsDir():
		return "a folder"
	case info.Mode()&fs.ModeDevice != 0:
		return "a device"
	case info.Mode()&fs.ModeSocket != 0:
		return "a socket"
	}
	return "a special file"
}

// named reports whether the name claims to be a trace.
func named(file string) bool {
	base := strings.TrimSuffix(strings.ToLower(file), ".gz")
	return strings.HasSuffix(base, ".et") || strings.HasSuffix(base, ".eg")
}

// list returns the files of a folder that are traces, and notes the group
// file and those that are skipped. With only set, that is the one trace.
func (s *Set) list(fsys fs.FS, dir, only string, opt Options) ([]string, error) {
	entries, err := fs.ReadDir(fsys, dir)
	if err != nil && only == "" {
		e := readError(dir, 0, -1, "a folder that cannot be read", "a folder of traces")
		e.Err = err
		return nil, e
	}
	var traces, maybe, groups []string
	claimed := slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return named(e.Name()) })
	for _, e := range entries {
		file := path.Join(dir, e.Name())
		if e.IsDir() || file == only || (only != "" && !strings.HasSuffix(e.Name(), ".json")) {
			continue
		}
		if !e.Type().IsRegular() { // a link, or what a read may never return from
			info, err := fs.Stat(fsys, file)
			if err == nil && info.IsDir() {
				continue
			}
			if err != nil || !info.Mode().IsRegular() {
				s.Skipped = append(s.Skipped, Skipped{file, "no regular file"})
				continue
			}
		}
		if named(e.Name()) {
			traces = append(traces, file)
			continue
		}
		switch kind := contentOf(fsys, file, opt.MaxBytes); {
		case kind == "groups":
			groups = append(groups, file)
		case only != "":
		case kind == "trace":
			traces = append(traces, file)
		case kind == "protobuf" && !claimed:
			maybe = append(maybe, file)
		default:
			s.Skipped = append(s.Skipped, Skipped{file, kind})
		}
	}
	if only != "" {
		traces = []string{only}
	} else if len(traces) == 0 {
		traces = maybe
	}
	if opt.GroupFile == "" {
		switch {
		case len(groups) == 1:
			s.GroupFile = groups[0]
		case len(groups) > 1 && only == "":
			return nil, importError(dir, "several group files: "+strings.Join(groups, ", "), "one", "give "+opt.say("groups", groups[0]))
		}
	}
	return traces, nil
}

// contentOf says what a file is: "groups", "trace" (the JSON form),
// "protobuf", or a description of something else.
func contentOf(fsys fs.FS, name string, maxBytes int64) string {
	f, err := fsys.Open(name)
	if err != nil {
		return "unreadable"
	}
	defer f.Close()
	br, err := open(f, name, maxBytes)
	if err != nil {
		return "a damaged gzip file"
	}
	kind := sniff(br)
	if kind != "JSON" {
		return kind
	}
	return jsonKind(br)
}

// jsonKind tells a trace from a group file by the first key and value.
func jsonKind(br *bufio.Reader) string {
	b, _ := br.Peek(window) // the graph need not come first
	switch {
	case strings.Contains(string(b), `"workload_graph"`):
		return "trace"
	case groupsStart.Match(b):
		return "groups"
	}
	return "JSON of another kind"
}

var groupsStart = regexp.MustCompile(`^\s*\{\s*"[^"]*"\s*:\s*\[\s*[-\d\]]`)

// The places of the rank in a file name, best first.
var rankIn = []*regexp.Regexp{
	regexp.MustCompile(`(?i)\.(\d+)$`),                   // name.3.et
	regexp.MustCompile(`(?i)(?:rank|worker)[-_.]?(\d+)`), // rank-3.et
	regexp.MustCompile(`(\d+)$`),                         // et_3.et
}

// rankOf returns the rank in a file name, -1 when there is none.
func rankOf(file string) int32 {
	stem := path.Base(file)
	for _, ext := range []string{".gz", ".et", ".eg", ".json"} {
		if strings.HasSuffix(strings.ToLower(stem), ext) {
			stem = stem[:len(stem)-len(ext)]
		}
	}
	for _, re := range rankIn {
		if m := re.FindStringSubmatch(stem); m != nil {
			if v, err := strconv.ParseInt(m[1], 10, 32); err == nil {
				return int32(v)
			}
		}
	}
	return -1
}

// rank gives each trace the rank in its file name, and sorts by it.
func (s *Set) rank() error {
	for _, t := range s.Traces {
		t.Rank = rankOf(t.File)
		if t.Rank < 0 {
			if len(s.Traces) > 1 {
				return importError(t.File, "a file name without a rank", "<name>.<rank>.et, like trace.0.et", "")
			}
			t.Rank = 0
		}
	}
	slices.SortFunc(s.Traces, func(a, b *Trace) int { return cmp.Compare(a.Rank, b.Rank) })
	for i := 1; i < len(s.Traces); i++ {
		if a, b := s.Traces[i-1], s.Traces[i]; a.Rank == b.Rank {
			return importError(b.File, fmt.Sprintf("rank %d, which %s has too", b.Rank, a.File), "one file a rank",
				"keep the files of one job in a folder")
		}
	}
	return nil
}

// Load reads a trace file or folder and imports it.
func Load(fsys fs.FS, name string, opt Options) (*workloads.Program, *Report, error) {
	s, err := Read(fsys, name, opt)
	if err != nil {
		return nil, nil, err
	}
	return Import(s, opt)
}
