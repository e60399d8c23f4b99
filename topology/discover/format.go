package discover

import (
	"bytes"
	"fmt"
	"io"

	"github.com/klauspost/compress/gzip"
)

// Format names what a file is.
type Format string

// The formats read here. None is "", which [Detect] returns for all others.
const (
	None      Format = ""
	SMIMatrix Format = "nvidia-smi topo -m"
	SMIQuery  Format = "nvidia-smi -q -x"
	NCCLTopo  Format = "NCCL topology XML"
	NCCLGraph Format = "NCCL graph XML"
	Lstopo    Format = "lstopo XML"
)

// MaxSize is how many bytes of content, uncompressed, are read.
const MaxSize = 64 << 20

// Detect finds the format by the content, never by a name. Gzip is looked
// into.
func Detect(content []byte) Format {
	content, err := Unwrap("", content)
	if err != nil {
		return None
	}
	return detect(content)
}

func detect(content []byte) Format {
	switch rootElement(content) {
	case "system":
		return NCCLTopo
	case "graphs":
		return NCCLGraph
	case "topology":
		return Lstopo
	case "nvidia_smi_log":
		return SMIQuery
	case "":
		if looksLikeMatrix(content) {
			return SMIMatrix
		}
	}
	return None
}

// Read reads a file of any format that [Detect] knows. name is for messages
// only. An error is an [*Error], or several joined.
func Read(name string, content []byte) (*Dump, error) {
	content, err := Unwrap(name, content)
	if err != nil {
		return nil, err
	}
	switch f := detect(content); f {
	case SMIMatrix:
		return readMatrix(name, content)
	case SMIQuery:
		return readQuery(name, content)
	case NCCLTopo:
		return readNCCL(name, content)
	case NCCLGraph:
		return readGraphs(name, content)
	case Lstopo:
		return readLstopo(name, content)
	}
	return nil, unrecognised(name, content)
}

// Unwrap returns the content itself, or what is in it if it is gzip.
func Unwrap(name string, content []byte) ([]byte, error) {
	fail := func(err error, format string, args ...any) ([]byte, error) {
		return nil, &Error{Doing: "read", Source: name, Text: fmt.Sprintf(format, args...), Err: err}
	}
	if bytes.HasPrefix(content, []byte{0x1f, 0x8b}) {
		z, err := gzip.NewReader(bytes.NewReader(content))
		if err != nil {
			return fail(ErrSyntax, "begins as gzip does, but is none: %v", err)
		}
		content, err = io.ReadAll(io.LimitReader(z, MaxSize+1))
		if err != nil {
			return fail(ErrSyntax, "gzip ends early or is damaged after %d bytes: %v", len(content), err)
		}
	}
	if len(content) > MaxSize {
		return fail(ErrTooLarge, "more than %d MiB, where a machine's description has some KiB", MaxSize>>20)
	}
	return content, nil
}

// unrecognised says what the content looks like instead.
func unrecognised(name string, content []byte) error {
	e := &Error{Doing: "read machine", Source: name, Err: ErrUnrecognised,
		Hint: "known are the outputs of `nvidia-smi topo -m`, `nvidia-smi -q -x`, NCCL_TOPO_DUMP_FILE, NCCL_GRAPH_DUMP_FILE and `lstopo --of xml`"}
	head := bytes.TrimSpace(content[:min(len(content), 512)])
	lower := bytes.ToLower(head)
	root := rootElement(content)
	switch {
	case len(head) == 0:
		e.Text = "the file is empty"
	case bytes.HasPrefix(head, []byte("\x89PNG")), bytes.HasPrefix(head, []byte("\xff\xd8\xff")), bytes.HasPrefix(head, []byte("GIF8")):
		e.Text = "this is a picture"
		e.Hint = "save the text that the command prints, not a picture of it"
	case root == "html", bytes.HasPrefix(lower, []byte("<!doctype html")):
		e.Text = "this is a web page"
		e.Hint = "download the raw file"
	case root == "algo":
		e.Text = "this is an MSCCL algorithm, not a machine"
	case root != "":
		e.Text = fmt.Sprintf("XML with root element %s, expected system, graphs, topology or nvidia_smi_log", clip(root))
	case bytes.IndexByte(head, 0) >= 0:
		e.Text = fmt.Sprintf("binary content, beginning with % x", head[:min(len(head), 8)])
	default:
		line, _, _ := bytes.Cut(head, []byte("\n"))
		e.Text = fmt.Sprintf("nothing known begins with %s", clip(string(line)))
	}
	return e
}
