package netfile

import (
	"bytes"
	"fmt"
	"io"
	"strings"

	"github.com/klauspost/compress/gzip"
)

// Format names what a file is.
type Format string

// The formats that are read, and below them those that are known and refused,
// since they describe no wires. None is what [Detect] returns for all others.
const (
	None           Format = ""
	SimAI          Format = "SimAI topology"
	NS3            Format = "ns-3 topology"
	ASTRANetwork   Format = "ASTRA-sim network"
	ASTRANetwork1  Format = "ASTRA-sim 1.0 network"
	HTSim          Format = "htsim topology"
	IBNetDiscover  Format = "ibnetdiscover output"
	TopographModel Format = "topograph model"
	EdgeList       Format = "edge list"
	Graph          Format = "weft graph"

	ASTRADims    Format = "ASTRA-sim logical dimensions"
	ASTRASystem  Format = "ASTRA-sim system"
	ASTRAMemory  Format = "ASTRA-sim remote memory"
	HTSimTraffic Format = "htsim connection matrix"
	IBStat       Format = "ibstat output"
)

// refusals say what a file is that describes no wires, and what to do.
var refusals = map[Format][2]string{
	ASTRADims:    {"the sizes of the dimensions that collectives use (logical-dims), and no links", "give the topology file of the ns-3 backend"},
	ASTRASystem:  {"the way ASTRA-sim runs collectives (algorithms, chunks, scheduling), and no links", "give the network file that goes with it"},
	ASTRAMemory:  {"the remote memory of ASTRA-sim, and no links", "give the network file that goes with it"},
	HTSimTraffic: {"traffic (who sends how many bytes to whom), and no links", "give the .topo file that it runs on"},
	IBStat:       {"the adapters of servers, and no cables", "give the output of ibnetdiscover"},
}

// MaxSize is how many bytes of content, uncompressed, are read.
const MaxSize = 64 << 20

// Detect finds the format by the content, never by a name. Gzip is looked
// into.
func Detect(content []byte) Format {
	content, err := unwrap(&source{}, content)
	if err != nil {
		return None
	}
	return detect(content)
}

// Read reads a file of any format that [Detect] knows. name is for messages
// and for the network's name. An error is an [*Error], or several joined.
func Read(name string, content []byte, a Assume) (*Net, error) {
	s := &source{name: name}
	content, err := unwrap(s, content)
	if err != nil {
		return nil, err
	}
	s.format = detect(content)
	switch s.format {
	case SimAI, NS3:
		return readLinkTable(s, content)
	case ASTRANetwork, ASTRANetwork1:
		return readAnalytical(s, content)
	case HTSim:
		return readHTSim(s, content)
	case IBNetDiscover:
		return readIBNet(s, content, a.withDefaults())
	case TopographModel:
		return readTopograph(s, content, a.withDefaults())
	case EdgeList:
		return readEdges(s, content)
	case Graph:
		return readGraph(s, content)
	}
	if r, ok := refusals[s.format]; ok {
		return nil, s.fail(ErrNoTopology, 0, 0, "the file holds "+r[0], "a topology", r[1])
	}
	return nil, s.unrecognised(content)
}

// unwrap returns the content itself, or what is in it if it is gzip.
func unwrap(s *source, content []byte) ([]byte, error) {
	if bytes.HasPrefix(content, []byte{0x1f, 0x8b}) {
		z, err := gzip.NewReader(bytes.NewReader(content))
		if err != nil {
			return nil, s.fail(ErrSyntax, 0, 0, "a gzip header that is broken: "+err.Error(), "", "")
		}
		content, err = io.ReadAll(io.LimitReader(z, MaxSize+1))
		if err != nil {
			return nil, s.fail(ErrSyntax, 0, 0, "gzip data that is broken: "+err.Error(), "", "is the file cut short?")
		}
	}
	if len(content) > MaxSize {
		return nil, s.fail(ErrTooLarge, 0, 0, fmt.Sprintf("more than %d MiB", MaxSize>>20), "less", "")
	}
	content = bytes.TrimPrefix(content, []byte("\ufeff"))
	if bytes.HasPrefix(content, []byte("\xff\xfe")) || bytes.HasPrefix(content, []byte("\xfe\xff")) {
		return nil, s.fail(ErrSyntax, 0, 0, "text in UTF-16", "UTF-8", "the > of older PowerShells writes UTF-16; `| Out-File -Encoding utf8 FILE` does not")
	}
	if i := bytes.IndexByte(content, 0); i >= 0 {
		line := 1 + bytes.Count(content[:i], []byte("\n"))
		return nil, s.fail(ErrUnrecognised, line, i-bytes.LastIndexByte(content[:i], '\n'), "a zero byte", "text", "")
	}
	return content, nil
}

func detect(content []byte) Format {
	var first, second []word
	eachLine(content, func(_ int, w []word) bool {
		if first == nil {
			first = w
			return true
		}
		second = w
		return false
	})
	if first == nil {
		return None
	}
	head := first[0].text
	switch {
	case isIBNet(content):
		return IBNetDiscover
	case len(first) == 3 && allNumbers(first):
		return NS3
	case len(first) >= 6 && len(first) <= 7 && allNumbers(first[:5]):
		return SimAI
	case strings.EqualFold(head, "nodes") && len(first) == 2:
		if second != nil && strings.EqualFold(second[0].text, "connections") {
			return HTSimTraffic
		}
		return HTSim
	case strings.EqualFold(head, "tiers") && len(first) == 2:
		return HTSim
	case head == "VM_hostname" || head == "CA" && len(first) == 2 && strings.HasPrefix(first[1].text, "'"):
		return IBStat
	}
	if f := byKeys(content); f != None {
		return f
	}
	link := firstLink(content)
	switch {
	case link == nil:
		return None
	case !allNumbers(link[:2]):
		return EdgeList
	case len(first) == 6: // a table of numbers whose head is broken
		return SimAI
	}
	return NS3
}

func allNumbers(w []word) bool {
	for _, x := range w {
		if !isDigits(x.text) {
			return false
		}
	}
	return true
}

// isIBNet looks for the head of a block of ibnetdiscover.
func isIBNet(content []byte) bool {
	if bytes.HasPrefix(content, []byte("#\n# Topology file: generated on")) {
		return true
	}
	for _, head := range []string{"Switch", "Ca"} {
		rest := content
		for {
			i := bytes.Index(rest, []byte(head))
			if i < 0 {
				break
			}
			line := rest[i:]
			if end := bytes.IndexByte(line, '\n'); end >= 0 {
				line = line[:end]
			}
			if f := bytes.Fields(line); len(f) >= 3 && isDigits(string(f[1])) && len(f[2]) > 2 && f[2][0] == '"' && f[2][2] == '-' {
				return true
			}
			rest = rest[i+len(head):]
		}
	}
	return false
}

// byKeys tells files of keys and values, JSON or YAML, by keys that only they
// have. The text is not parsed, so that a broken one is told too.
func byKeys(content []byte) Format {
	for _, f := range []struct {
		format Format
		keys   []string // all must be there
	}{
		{Graph, []string{"weft_graph"}},
		{ASTRANetwork1, []string{"topologies-per-dim"}},
		{ASTRANetwork1, []string{"dimensions-count", "units-count"}},
		{ASTRANetwork, []string{"topology", "npus_count"}},
		{ASTRANetwork, []string{"topology", "bandwidth"}},
		{ASTRADims, []string{"logical-dims"}},
		{ASTRASystem, []string{"scheduling-policy"}},
		{ASTRASystem, []string{"all-reduce-implementation"}},
		{ASTRAMemory, []string{"memory-type"}},
		{TopographModel, []string{"switches", "blocks"}},
	} {
		all := true
		for _, key := range f.keys {
			all = all && hasKey(content, key)
		}
		if all {
			return f.format
		}
	}
	return None
}

// hasKey reports whether a text has a key at the head of a line, or in a flow:
// key: or "key":.
func hasKey(content []byte, key string) bool {
	for rest := content; ; {
		i := bytes.Index(rest, []byte(key))
		if i < 0 {
			return false
		}
		before := bytes.TrimRight(rest[:i], " \t\"'")
		after := bytes.TrimLeft(rest[i+len(key):], " \t\"'")
		head := len(before) == 0 || strings.IndexByte("\n{,", before[len(before)-1]) >= 0
		if head && len(after) > 0 && after[0] == ':' {
			return true
		}
		rest = rest[i+len(key):]
	}
}

// firstLink looks for a line that has the form of a link, one word of which
// may be wrong.
func firstLink(content []byte) (link []word) {
	lines := 0
	eachLine(content, func(_ int, w []word) bool {
		lines++
		if len(w) >= 4 && len(w) <= 6 {
			s := &source{}
			_, okRate := s.rate(w[2])
			_, okTime := s.time(w[3])
			_, _, okA := kindOf(w[0].text)
			_, _, okB := kindOf(w[1].text)
			if okRate && okTime || okA && okB && (okRate || okTime) {
				link = w
			}
		}
		return link == nil && lines < 100
	})
	return link
}

func (s *source) unrecognised(content []byte) error {
	if len(bytes.TrimSpace(content)) == 0 {
		return s.fail(ErrUnrecognised, 0, 0, "an empty file", "a network", "")
	}
	line := content
	number := 1
	for len(bytes.TrimSpace(line[:max(0, lineEnd(line))])) == 0 {
		line = line[lineEnd(line)+1:]
		number++
	}
	hint := "the smallest form is lines `a b rate latency`, as n0.gpu0 leaf0 400Gbps 1us"
	trimmed := bytes.TrimSpace(content)
	switch {
	case bytes.HasPrefix(trimmed, []byte("<")):
		hint = "XML of one server (nvidia-smi, NCCL, lstopo) is read as a dump of a machine, not of a network"
	case bytes.Contains(trimmed[:min(len(trimmed), 2000)], []byte("GPU0")):
		hint = "a matrix of nvidia-smi topo -m is read as a dump of a machine, not of a network"
	}
	return s.fail(ErrUnrecognised, number, 1, clip(string(line[:lineEnd(line)])),
		"a SimAI or ns-3 topology, an ASTRA-sim network, an htsim topology, ibnetdiscover output, a topograph model, an edge list or a weft graph", hint)
}

// lineEnd returns the length of the first line.
func lineEnd(b []byte) int {
	if i := bytes.IndexByte(b, '\n'); i >= 0 {
		return i
	}
	return len(b)
}
