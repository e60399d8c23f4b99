package discover

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/weft-sim/weft/topology"
)

// maxDevices bounds the devices of a host, whose matrix is the square.
const maxDevices = 512

var (
	// escapes are what terminals are told; some pastes have lost the ESC.
	escapes   = regexp.MustCompile(`\x1b\[[0-9;?]*[@-~]|\[[0-9;]*m`)
	gpuLabel  = regexp.MustCompile(`^GPU\d+$`)
	nicLabel  = regexp.MustCompile(`^(NIC\d+|mlx\S+|hfi\S+|ib\S+|bnxt\S+|roce\S+|irdma\S+|efa\S+|rdmap\S+)$`)
	nicLegend = regexp.MustCompile(`^\s*(NIC\d+):\s*(\S+)\s*$`)
	fused     = regexp.MustCompile(`(GPU|NIC|mlx\d+_|hfi1_|rdmap)\d+`)
	words     = regexp.MustCompile(`^(X|NV\d+|PIX|PXB|PHB|NODE|SYS|SOC|\?)`)
	p2pWord   = regexp.MustCompile(`^(OK|NS|CNS|GNS|TNS|DR|U)$`)
)

// looksLikeMatrix reports whether a line begins with a GPU and a word.
func looksLikeMatrix(content []byte) bool {
	for line := range bytes.Lines(content) {
		if !bytes.Contains(line, []byte("GPU")) {
			continue
		}
		f := strings.Fields(escapes.ReplaceAllString(string(line), ""))
		if len(f) > 1 && gpuLabel.MatchString(f[0]) && (words.MatchString(f[1]) || p2pWord.MatchString(f[1])) {
			return true
		}
	}
	return false
}

// matrixReader reads a matrix line by line.
//
// Terminals, mail and issue trackers damage matrices in known ways: tabs
// become blanks, lines are wrapped, columns run together, the header or the
// last rows are lost. The diagonal, which is X, and the two halves, which are
// equal, show whether a repair is right.
type matrixReader struct {
	dump   *Dump
	lines  []string
	header []string // devices
	tail   int      // columns of affinity that the header names
	names  map[string]int
	rows   []matrixRow
	legend map[string]string
	cut    bool // the last row ends early
	noNV   bool // there is a legend, and it does not explain NV#
	headAt int
	faults []error
	lost   int // lines that are no part of the matrix
}

// matrixRow is a row as it stands, before it is placed.
type matrixRow struct {
	label string
	line  int
	cells []Cell
	tail  []string
}

func readMatrix(name string, content []byte) (*Dump, error) {
	r := &matrixReader{
		dump: &Dump{Format: SMIMatrix, Source: name}, legend: make(map[string]string), names: make(map[string]int),
		lines: strings.Split(escapes.ReplaceAllString(string(content), ""), "\n"),
	}
	r.read()
	if len(r.rows) == 0 && len(r.faults) == 0 {
		r.fault(r.headAt, 0, ErrSyntax, "", "the matrix has no row of a GPU")
	}
	if len(r.faults) == 0 {
		r.place()
	}
	switch len(r.faults) {
	case 0:
		return r.dump, nil
	case 1:
		return nil, r.faults[0]
	}
	return nil, errors.Join(r.faults...)
}

func (r *matrixReader) fault(line, col int, kind error, hint, format string, args ...any) {
	if len(r.faults) < maxFaults {
		r.faults = append(r.faults, &Error{
			Doing: "read " + string(SMIMatrix), Source: r.dump.Source, Line: line, Column: col,
			Text: fmt.Sprintf(format, args...), Hint: hint, Err: kind,
		})
	}
}

func (r *matrixReader) note(kind NoteKind, where, format string, args ...any) {
	r.dump.Notes = append(r.dump.Notes, Note{Kind: kind, Where: where, Text: fmt.Sprintf(format, args...)})
}

func (r *matrixReader) read() {
	legend := false
	for i := 0; i < len(r.lines); i++ {
		line := r.lines[i]
		f := strings.Fields(line)
		switch {
		case len(f) == 0:
		case strings.Contains(line, "Legend:"):
			legend = legend || f[0] == "Legend:"
			r.noNV = r.noNV || f[0] == "Legend:"
		case nicLegend.MatchString(line):
			m := nicLegend.FindStringSubmatch(line)
			r.legend[m[1]] = m[2]
		case len(f) > 1 && f[1] == "=":
			if f[0] == "NV#" {
				r.noNV = false
			}
		case r.isHeader(f):
			if r.header != nil {
				r.fault(i+1, 0, ErrContradiction, "give each host a file of its own", "a second header; the first is on line %d", r.headAt)
				return
			}
			if r.readHeader(i); len(r.faults) > 0 {
				return // rows without their columns would only seem wrong
			}
		case len(f) > 1 && r.isLabel(f[0]) && !r.isLabel(f[1]):
			i = r.readRow(i)
			if len(r.faults) > 0 {
				return
			}
		case legend:
		default:
			r.lost++
		}
	}
	if r.lost > 0 {
		r.note(Ignored, "", "%d lines that are no part of the matrix", r.lost)
	}
}

// isLabel reports whether a word can begin a row.
func (r *matrixReader) isLabel(s string) bool {
	_, known := r.names[s]
	return known || gpuLabel.MatchString(s) || nicLabel.MatchString(s)
}

// isHeader recognises GPU names in a row, or a single one before the
// affinity.
func (r *matrixReader) isHeader(f []string) bool {
	first := fused.FindStringIndex(f[0])
	if first == nil || first[0] != 0 {
		return false
	}
	return first[1] < len(f[0]) && len(r.rows) == 0 && strings.HasPrefix(f[0], "GPU") ||
		len(f) > 1 && (r.isLabel(f[1]) || f[1] == "CPU" || fused.MatchString(f[1]) && !words.MatchString(f[1]))
}

// readHeader takes the names up to the columns of affinity. Its line may be
// wrapped, and names may have run together.
func (r *matrixReader) readHeader(i int) {
	r.headAt = i + 1
	text := r.lines[i]
	if at := strings.Index(text, "CPU"); at >= 0 {
		tail := strings.Join(strings.Fields(text[at:]), " ")
		for _, c := range []string{"CPU Affinity", "NUMA Affinity", "GPU NUMA ID"} {
			if strings.Contains(tail, c) {
				r.tail++
			}
		}
		text = text[:at]
	}
	for _, f := range strings.Fields(text) {
		if r.isLabel(f) && len(fused.FindAllString(f, 2)) < 2 {
			r.header = append(r.header, f)
			continue
		}
		parts := fused.FindAllString(f, -1)
		if len(parts) < 2 || strings.Join(parts, "") != f {
			r.header = append(r.header, f)
			continue
		}
		r.note(Repaired, fmt.Sprintf("line %d", i+1), "%s are columns that ran together", f)
		r.header = append(r.header, parts...)
	}
	if len(r.header) > maxDevices {
		r.fault(i+1, 0, ErrTooLarge, "", "%d devices, at most %d are read", len(r.header), maxDevices)
		return
	}
	for j, n := range r.header {
		if w := words.FindString(n); w == n || p2pWord.MatchString(n) || n[0] < 'A' {
			r.fault(i+1, r.column(i, n), ErrSyntax, "names of devices are as GPU0, NIC0, mlx5_0", "column %d is called %s", j+1, clip(n))
			return
		}
		if k, twice := r.names[n]; twice {
			r.fault(i+1, 0, ErrContradiction, "", "column %s is there twice, as number %d and %d", clip(n), k+1, j+1)
		}
		r.names[n] = j
	}
}

// readRow reads the row that begins on line i, with the lines that it was
// wrapped into, and returns the last of them.
func (r *matrixReader) readRow(i int) int {
	f := strings.Fields(r.lines[i])
	row := matrixRow{label: f[0], line: i + 1}
	if len(r.rows) == maxDevices {
		r.fault(i+1, 0, ErrTooLarge, "", "more than %d rows", maxDevices)
		return i
	}
	for _, have := range r.rows {
		if have.label == row.label {
			r.fault(i+1, 1, ErrContradiction, "give each host a file of its own", "row %s is there twice, first on line %d", row.label, have.line)
			return i
		}
	}
	want := len(r.header) // 0: without a header, as many as there are
	rest := r.cells(&row, i, f[1:], want)
	for len(rest) == 0 && want > 0 && len(row.cells) < want && i+1 < len(r.lines) {
		next := strings.Fields(r.lines[i+1])
		if len(next) == 0 || !words.MatchString(next[0]) || len(next) > 1 && next[1] == "=" {
			break
		}
		i++
		r.note(Repaired, fmt.Sprintf("line %d", i+1), "row %s was wrapped onto it", row.label)
		rest = r.cells(&row, i, next, want)
	}
	if len(row.cells) > maxDevices {
		r.fault(i+1, 0, ErrTooLarge, "", "a row of %d cells, at most %d are read", len(row.cells), maxDevices)
		return i
	}
	row.tail = rest
	r.rows = append(r.rows, row)
	return i
}

// cells appends the words of a line to the row, up to want of them, and
// returns what is left.
func (r *matrixReader) cells(row *matrixRow, line int, f []string, want int) []string {
	for k, text := range f {
		if want > 0 && len(row.cells) == want {
			if w := words.FindString(text); w != "" && w == text {
				r.fault(line+1, r.column(line, text), ErrSyntax, "", "row %s has a further cell %s; the header has %d columns", row.label, clip(text), want)
			}
			return f[k:]
		}
		left, n := text, 0
		for left != "" && (want == 0 || len(row.cells) < want) && len(row.cells) <= maxDevices {
			w := words.FindString(left)
			if w == "" || left == "N/A" {
				break
			}
			c, err := ParseCell(w)
			if err != nil {
				r.fault(line+1, r.column(line, text), ErrSyntax, "", "row %s, cell %d: %v", row.label, len(row.cells)+1, err)
				return nil
			}
			row.cells = append(row.cells, c)
			left = left[len(w):]
			n++
		}
		if n > 1 {
			r.note(Repaired, fmt.Sprintf("line %d", line+1), "%s are %d cells of row %s that ran together", clip(text), n, row.label)
		}
		if left == "" {
			continue
		}
		if n > 0 {
			return r.fusedTail(row, line, text, left, f[k+1:])
		}
		if want > 0 && len(row.cells) < want && text != "N/A" && !affinity(text) {
			hint := "the words are X, NV#, PIX, PXB, PHB, NODE and SYS"
			if p2pWord.MatchString(text) {
				hint = "this is the output of `nvidia-smi topo -p2p`; the wires are in that of `nvidia-smi topo -m`"
			}
			r.fault(line+1, r.column(line, text), ErrSyntax, hint, "row %s has %s where the word to %s is expected", row.label, clip(text), r.header[len(row.cells)])
			return nil
		}
		if want > 0 && len(row.cells) < want && text == "N/A" {
			row.cells = append(row.cells, Cell{})
			continue
		}
		return f[k:]
	}
	return nil
}

// fusedTail splits a last cell from the affinity that ran into it. Behind NV#
// that cannot be done, since both are digits.
func (r *matrixReader) fusedTail(row *matrixRow, line int, text, left string, rest []string) []string {
	last := row.cells[len(row.cells)-1]
	if !affinity(left) || last.Kind == topology.NVL {
		r.fault(line+1, r.column(line, text), ErrSyntax, "the words are X, NV#, PIX, PXB, PHB, NODE and SYS", "row %s has the cell %s", row.label, clip(text))
		return nil
	}
	r.note(Repaired, fmt.Sprintf("line %d", line+1), "%s is the cell %s and the CPU affinity %s, which ran together", clip(text), last, left)
	return append([]string{left}, rest...)
}

// affinity reports whether text is a list of numbers and ranges.
func affinity(text string) bool {
	return text != "" && text[0] >= '0' && text[0] <= '9' && strings.Trim(text, "0123456789,-") == ""
}

// column returns where a word begins in a line, counted from 1.
func (r *matrixReader) column(line int, text string) int {
	return 1 + strings.Index(r.lines[line], text)
}

// ParseCell reads a word of the matrix, old and new: SOC is SYS.
func ParseCell(word string) (Cell, error) {
	kinds := map[string]topology.PathKind{
		"X": topology.Self, "PIX": topology.PIX, "PXB": topology.PXB, "PHB": topology.PHB,
		"NODE": topology.NODE, "SYS": topology.SYS, "SOC": topology.SYS,
	}
	if k, ok := kinds[word]; ok {
		return Cell{Known: true, Kind: k}, nil
	}
	if word == "?" {
		return Cell{}, nil
	}
	digits, ok := strings.CutPrefix(word, "NV")
	n, err := strconv.Atoi(digits)
	if !ok || err != nil {
		return Cell{}, fmt.Errorf("%s is no word of the matrix, expected X, NV#, PIX, PXB, PHB, NODE or SYS", clip(word))
	}
	if n < 1 || n > 1024 {
		return Cell{}, fmt.Errorf("%s is a bond of %d NVLinks, expected 1 to 1024", word, n)
	}
	return Cell{Known: true, Kind: topology.NVL, Links: n}, nil
}

// devices returns the names of the columns, found from the rows if there is
// no header: GPU rows come first, and NVLink leads to GPUs only.
func (r *matrixReader) devices() []string {
	if r.header != nil {
		return r.header
	}
	n, gpus, nics, linked := 0, 0, 0, 0
	for _, row := range r.rows {
		n = max(n, len(row.cells))
		if gpuLabel.MatchString(row.label) {
			gpus++
		} else {
			nics++
		}
		for j, c := range row.cells {
			if c.Known && c.Kind == topology.NVL {
				linked = max(linked, j+1)
			}
		}
	}
	if nics == 0 {
		gpus = max(gpus, linked)
	}
	gpus = min(gpus, n)
	r.note(Repaired, "", "there is no header; the %d columns are taken as %d GPUs and %d NICs", n, gpus, n-gpus)
	names := make([]string, n)
	for j := range names {
		if names[j] = "GPU" + strconv.Itoa(j); j >= gpus {
			names[j] = "NIC" + strconv.Itoa(j-gpus)
		}
	}
	for i, row := range r.rows { // NICs have names of their own in old ones
		if i >= len(names) || gpuLabel.MatchString(row.label) {
			continue
		}
		if k := gpus + nics - (len(r.rows) - i); k >= 0 && k < n && !slices.Contains(names, row.label) {
			names[k] = row.label
		}
	}
	return names
}
