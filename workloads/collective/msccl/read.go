package msccl

import (
	"bytes"
	"compress/gzip"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/weft-sim/weft/sim"
	"github.com/weft-sim/weft/workloads"
	"github.com/weft-sim/weft/workloads/collective/msccl/sums"
	"github.com/weft-sim/weft/workloads/collective/nccl"
)

// Bounds of a file. MSCCL itself has those of a GPU; the others keep a damaged
// file from filling memory.
const (
	mostContent  = 256 << 20 // bytes, uncompressed
	mostGPUs     = 1024
	mostBlocks   = 216 // MSCCL_MAX_NUM_THREAD_BLOCKS
	mostSteps    = 256 // MSCCL_MAX_NUM_STEPS, of a thread block
	mostCount    = 71  // below MSCCL_MAX_COUNT
	mostChannels = 64
	mostChunks   = 1 << 16
	mostAll      = 1 << 20 // steps of a file
	mostMemory   = 1 << 21 // chunks of all buffers
)

// defaultMost is the largest message where a file names none.
// Source: microsoft/msccl b23e9cd5, 128 MiB.
const defaultMost = 128 * sim.MiB

// IsXML reports whether content, as far as its first bytes tell, is XML, or
// something compressed by gzip.
func IsXML(content []byte) bool {
	if bytes.HasPrefix(content, []byte{0x1f, 0x8b}) {
		plain, err := unzip("", content)
		return err == nil && IsXML(plain)
	}
	head := bytes.TrimLeft(bytes.TrimPrefix(content, []byte("\xef\xbb\xbf")), " \t\r\n")
	return bytes.HasPrefix(head, []byte("<"))
}

// Read reads an algorithm, plain or compressed by gzip. Name is used in errors,
// which tell of all problems, each with its line. See [Algorithm.Check] for
// whether what was read makes sense.
func Read(name string, content []byte) (*Algorithm, error) {
	if bytes.HasPrefix(content, []byte{0x1f, 0x8b}) {
		var err error
		if content, err = unzip(name, content); err != nil {
			return nil, err
		}
	}
	r := &reader{a: &Algorithm{File: name}, problems: problems{File: name}}
	if err := r.document(content); err != nil {
		return nil, err
	}
	if len(r.list) == 0 {
		r.whole()
	}
	if err := r.err(); err != nil {
		return nil, err
	}
	return r.a, nil
}

func unzip(name string, content []byte) ([]byte, error) {
	z, err := gzip.NewReader(bytes.NewReader(content))
	if err != nil {
		return nil, fmt.Errorf("read MSCCL algorithm: %s: %w", name, err)
	}
	plain, err := io.ReadAll(io.LimitReader(z, mostContent+1))
	if err != nil {
		return nil, fmt.Errorf("read MSCCL algorithm: %s: uncompress: %w", name, err)
	}
	if len(plain) > mostContent {
		return nil, fmt.Errorf("read MSCCL algorithm: %s: more than %d MiB uncompressed, expected less", name, mostContent>>20)
	}
	return plain, nil
}

// reader reads the elements of a file as they come.
type reader struct {
	problems
	a      *Algorithm
	seen   bool // the root element
	expect int  // GPUs that the root element promises
	where  position
	gpu    *GPU
	block  *Block
	total  int
	depth  []string
}

type position struct{ line, col int }

// document reads the XML.
func (r *reader) document(content []byte) error {
	d := xml.NewDecoder(bytes.NewReader(bytes.TrimPrefix(content, []byte("\xef\xbb\xbf"))))
	d.CharsetReader = func(_ string, in io.Reader) (io.Reader, error) { return in, nil } // all names are ASCII
	for {
		r.where.line, r.where.col = d.InputPos()
		t, err := d.Token()
		switch {
		case errors.Is(err, io.EOF):
			if !r.seen {
				r.problem(r.where, "no element <algo>, expected an MSCCL algorithm")
			}
			return r.err()
		case err != nil:
			r.where.line, r.where.col = d.InputPos()
			var syntax *xml.SyntaxError
			text := err.Error()
			if errors.As(err, &syntax) {
				text = syntax.Msg
			}
			if len(r.depth) > 0 && strings.Contains(text, "EOF") {
				text = fmt.Sprintf("the file ends within <%s>, expected </%s>", r.depth[len(r.depth)-1], r.depth[len(r.depth)-1])
			}
			r.problem(r.where, "not well-formed XML: %s", text)
			return r.err()
		}
		switch t := t.(type) {
		case xml.StartElement:
			r.open(t)
			r.depth = append(r.depth, t.Name.Local)
		case xml.EndElement:
			r.depth = r.depth[:len(r.depth)-1]
		case xml.CharData:
			if text := strings.TrimSpace(string(t)); text != "" && len(r.depth) > 0 {
				r.problem(r.where, "read text %.20q within <%s>, expected elements alone", text, r.depth[len(r.depth)-1])
			}
		}
		if r.full() {
			return r.err()
		}
	}
}

// nesting is which element stands in which.
var nesting = map[string]string{"algo": "", "gpu": "algo", "tb": "gpu", "step": "tb"}

func (r *reader) open(e xml.StartElement) {
	name, in := e.Name.Local, ""
	if n := len(r.depth); n > 0 {
		in = r.depth[n-1]
	}
	want, known := nesting[name]
	switch {
	case name == "msccl_algos" && in == "":
		r.problem(r.where, "<msccl_algos> lists other files, expected one algorithm, <algo>: name one of those files")
		return
	case !known:
		r.problem(r.where, "read <%s>, expected <algo>, <gpu>, <tb> or <step>", name)
		return
	case in != want || name == "algo" && r.seen:
		where := "at the beginning, once"
		if want != "" {
			where = "within <" + want + ">"
		}
		r.problem(r.where, "<%s> is out of place, expected it %s", name, where)
		return
	}
	f := fields{reader: r, element: name, at: r.where, attrs: e.Attr}
	f.twice()
	switch name {
	case "algo":
		r.seen = true
		r.algo(&f)
	case "gpu":
		r.addGPU(&f)
	case "tb":
		r.addBlock(&f)
	case "step":
		r.addStep(&f)
	}
	f.rest()
}

// colls are the names of MSCCL.
var colls = []string{"allreduce", "allgather", "reduce_scatter", "reducescatter", "reduce", "broadcast", "alltoall", "custom"}

var collOf = []workloads.Coll{
	workloads.AllReduce, workloads.AllGather, workloads.ReduceScatter, workloads.ReduceScatter, workloads.Reduce, workloads.Broadcast, workloads.AllToAll,
}

func (r *reader) algo(f *fields) {
	a := r.a
	a.Name = f.text("name", "my_allreduce")
	if c := f.word("coll", colls); c >= 0 {
		if a.Custom = c == len(collOf); !a.Custom {
			a.Coll = collOf[c]
		}
	}
	if p := f.word("proto", []string{"LL", "LL128", "Simple"}); p >= 0 {
		a.Protocol = [...]nccl.Protocol{nccl.LL, nccl.LL128, nccl.Simple}[p]
	}
	a.Channels = int(f.number("nchannels", 1, mostChannels))
	a.Chunks = int(f.number("nchunksperloop", 1, mostChunks))
	gpus := f.number("ngpus", 1, mostGPUs)
	a.GPUs = make([]GPU, 0, max(gpus, 0))
	r.expect = int(gpus)
	a.InPlace = f.optional("inplace", 0, 1, 0) == 1
	separate := int64(1)
	if a.InPlace {
		separate = 0
	}
	a.OutOfPlace = f.optional("outofplace", 0, 1, separate) == 1
	if !a.InPlace && !a.OutOfPlace {
		r.problem(f.at, "inplace and outofplace are 0, expected 1 for one of them: there is no other kind of call")
	}
	a.Least = sim.Bytes(f.optional("minBytes", 0, int64(workloads.MaxBytes), 0))
	a.Most = sim.Bytes(f.optional("maxBytes", 0, int64(workloads.MaxBytes), int64(max(defaultMost, a.Least))))
	if a.Most < a.Least {
		r.problem(f.at, "maxBytes %d is below minBytes %d, expected the larger there", a.Most, a.Least)
	}
	a.Threads = int(f.optional("nthreads", 0, 1024, 0))
	if a.Threads%32 != 0 {
		r.problem(f.at, "nthreads: read %d, expected a multiple of 32, such as %d", a.Threads, (a.Threads+31)/32*32)
	}
	if blocks, ok := f.take("nthreadblocks"); ok {
		a.Notes = append(a.Notes, fmt.Sprintf("nthreadblocks=%.20q changes nothing: the thread blocks are counted", blocks))
	}
	if red, ok := f.take("redop"); ok {
		a.Notes = append(a.Notes, fmt.Sprintf("redop=%.20q changes nothing: every reduction takes the same time", red))
	}
}

func (r *reader) addGPU(f *fields) {
	if len(r.a.GPUs) >= r.expect && r.expect > 0 {
		r.problem(f.at, "one <gpu> more than ngpus=%d, expected as many", r.expect)
		r.gpu = &GPU{}
	} else {
		r.a.GPUs = append(r.a.GPUs, GPU{Line: f.at.line})
		r.gpu = &r.a.GPUs[len(r.a.GPUs)-1]
	}
	f.contiguous("id", len(r.a.GPUs)-1, r.expect)
	for b, key := range []string{"i_chunks", "o_chunks", "s_chunks"} {
		r.gpu.Chunks[b] = int(f.number(key, 0, mostChunks*4))
	}
}

func (r *reader) addBlock(f *fields) {
	if r.gpu == nil {
		r.gpu = &GPU{}
	}
	if len(r.gpu.Blocks) == mostBlocks {
		r.problem(f.at, "more than %d thread blocks of one GPU, expected at most as many", mostBlocks)
		return
	}
	r.gpu.Blocks = append(r.gpu.Blocks, Block{Line: f.at.line})
	r.block = &r.gpu.Blocks[len(r.gpu.Blocks)-1]
	f.contiguous("id", len(r.gpu.Blocks)-1, mostBlocks)
	r.block.Send = int(f.number("send", -1, int64(r.expect)-1))
	r.block.Recv = int(f.number("recv", -1, int64(r.expect)-1))
	r.block.Channel = int(f.number("chan", 0, int64(max(r.a.Channels, 1))-1))
}

func (r *reader) addStep(f *fields) {
	if r.block == nil {
		r.block = &Block{}
	}
	if len(r.block.Steps) == mostSteps {
		r.problem(f.at, "more than %d steps of one thread block, expected at most as many", mostSteps)
		return
	}
	if r.total++; r.total > mostAll {
		r.problem(f.at, "more than %d steps in all, expected fewer", mostAll)
		return
	}
	s := Step{Line: f.at.line}
	id := "s"
	if _, ok := f.peek(id); !ok { // files of older tools
		id = "step"
	}
	f.contiguous(id, len(r.block.Steps), mostSteps)
	k := f.word("type", kinds)
	if k >= 0 {
		s.Kind = Kind(k)
	}
	nop := k <= 0
	least := int64(0)
	if nop {
		least = -1
	}
	s.Src.Buffer, s.Dst.Buffer = f.buffer("srcbuf"), f.buffer("dstbuf")
	s.Src.Chunk, s.Dst.Chunk = int(f.number("srcoff", least, mostChunks*4)), int(f.number("dstoff", least, mostChunks*4))
	if nop {
		s.Count = int(f.number("cnt", -1, mostCount))
	} else {
		s.Count = int(f.number("cnt", 1, mostCount))
	}
	s.Block = int(f.number("depid", -1, mostBlocks-1))
	s.After = int(f.number("deps", -1, mostSteps-1))
	f.optional("hasdep", 0, 1, 0) // what waits says so itself
	r.block.Steps = append(r.block.Steps, s)
}

// whole checks what concerns more than one element.
func (r *reader) whole() {
	a := r.a
	at := position{line: 1}
	if len(a.GPUs) != r.expect {
		r.problem(at, "%d elements <gpu>, expected ngpus=%d", len(a.GPUs), r.expect)
		return
	}
	n := len(a.GPUs)
	split := !a.Custom && (a.Coll == workloads.AllGather || a.Coll == workloads.ReduceScatter || a.Coll == workloads.AllToAll)
	if split && a.Chunks%n != 0 {
		r.problem(at, "nchunksperloop=%d is no multiple of ngpus=%d, and each rank has a part in %s; expected one such as %d", a.Chunks, n, a.Op(), max(1, a.Chunks/n)*n)
		return
	}
	memory := n * a.Chunks
	for i := range a.GPUs {
		r.shape(i)
		for _, c := range a.GPUs[i].Chunks {
			memory += c
		}
	}
	if memory > mostMemory {
		r.problem(at, "the buffers of all GPUs have %d chunks, expected at most %d", memory, mostMemory)
	}
	if len(r.list) == 0 {
		r.wires()
	}
}

// shape checks a GPU by itself.
func (r *reader) shape(i int) {
	a, g := r.a, &r.a.GPUs[i]
	at := position{line: g.Line}
	if !a.Custom {
		in, out := sums.Sizes(a.Coll, len(a.GPUs), a.Chunks)
		for b, want := range []int{in, out} {
			// In place one of the two may be left out: they are the same memory.
			if g.Chunks[b] != want && !(g.Chunks[b] == 0 && a.InPlace) {
				r.problem(at, "%c_chunks: read %d, expected %d for %s with nchunksperloop=%d and ngpus=%d", "io"[b], g.Chunks[b], want, a.Op(), a.Chunks, len(a.GPUs))
			}
		}
	}
	for id := range g.Blocks {
		b := &g.Blocks[id]
		if b.Send == i || b.Recv == i {
			r.problem(position{line: b.Line}, "GPU %d sends to itself or receives from itself, expected another GPU, or cpy", i)
		}
		for k := range b.Steps {
			s := &b.Steps[k]
			at := position{line: s.Line}
			switch {
			case s.Kind.Sends() && b.Send < 0:
				r.problem(at, "step %v sends, but its thread block has send=-1; expected a rank there", s.Kind)
			case s.Kind.Receives() && b.Recv < 0:
				r.problem(at, "step %v receives, but its thread block has recv=-1; expected a rank there", s.Kind)
			}
			if s.Kind.reads() {
				r.inside(at, g, "src", s.Src, s.Count)
			}
			if s.Kind.writes() {
				r.inside(at, g, "dst", s.Dst, s.Count)
			}
			switch {
			case s.Block < 0 && s.After >= 0:
				r.problem(at, "deps=%d without depid, expected depid of 0 or more, or deps=-1", s.After)
			case s.Block < 0:
			case s.Block >= len(g.Blocks):
				r.problem(at, "depid: read %d, expected 0 to %d, a thread block of GPU %d", s.Block, len(g.Blocks)-1, i)
			case s.After < 0 || s.After >= len(g.Blocks[s.Block].Steps):
				r.problem(at, "deps: read %d, expected 0 to %d, a step of thread block %d of GPU %d", s.After, len(g.Blocks[s.Block].Steps)-1, s.Block, i)
			case s.Block == id && s.After >= k:
				r.problem(at, "waits for step %d of its own thread block, which comes later; expected an earlier step", s.After)
			}
		}
	}
}

func (r *reader) inside(at position, g *GPU, key string, p Place, count int) {
	if n := g.Chunks[p.Buffer]; p.Chunk+count > n {
		expected := fmt.Sprintf("offsets up to %d for cnt=%d", n-count, count)
		if n < count {
			expected = fmt.Sprintf("another buffer, or more %c_chunks", "ios"[p.Buffer])
		}
		r.problem(at, "%soff: chunks %d to %d of the %v, which has %d; expected %s", key, p.Chunk, p.Chunk+count-1, p.Buffer, n, expected)
	}
}
