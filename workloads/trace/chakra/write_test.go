package chakra

import (
	"bytes"
	"encoding/json"
	"math"
	"testing/fstest"

	"github.com/klauspost/compress/gzip"
	"google.golang.org/protobuf/encoding/protowire"

	"github.com/weft-sim/weft/sim"
)

// writer writes traces for tests: length-prefixed records.
type writer struct{ bytes.Buffer }

func (w *writer) record(b []byte) {
	w.Write(protowire.AppendVarint(nil, uint64(len(b))))
	w.Write(b)
}

// meta writes a metadata record of G4.
func (w *writer) meta(version, schema string) {
	var b []byte
	if version != "" {
		b = text(b, 1, version)
	}
	if schema != "" {
		b = text(b, 2, string(text(text(nil, 1, "schema"), 29, schema)))
	}
	w.record(b)
}

// node writes a node of G4.
func (w *writer) node(n Node) { w.record(encode(n)) }

// g0 writes a node of G0, whose types are one less than those of G4.
func (w *writer) g0(n Node) {
	b := number(nil, 1, n.ID)
	b = text(b, 2, n.Name)
	b = number(b, 3, uint64(n.Type-1))
	for _, d := range n.DataDeps {
		b = number(b, 4, d)
	}
	b = number(b, 6, uint64(n.TensorSize))
	b = number(b, 12, uint64(n.NumOps))
	if n.Type == CommColl {
		b = number(b, 13, map[CollType]uint64{AllReduce: 1, AllToAll: 2, AllGather: 3, ReduceScatter: 4}[n.CommType])
		for _, d := range n.InvolvedDim {
			b = number(b, 14, truth(d))
		}
		b = number(b, 18, uint64(n.CommSize))
	}
	w.record(b)
}

// encode is a node of G4.
func encode(n Node) []byte {
	var b []byte
	if n.ID != 0 {
		b = number(b, 1, n.ID)
	}
	if n.Name != "" {
		b = text(b, 2, n.Name)
	}
	b = number(b, 3, uint64(n.Type))
	b = packed(b, 4, n.CtrlDeps)
	b = packed(b, 5, n.DataDeps)
	if n.Duration != 0 {
		b = number(b, 7, uint64(n.Duration/sim.Microsecond))
	}
	if n.Inputs != "" {
		b = text(b, 8, string(text(nil, 1, n.Inputs)))
	}
	attr := func(has Attr, name string, field protowire.Number, v uint64) {
		if n.Has&has != 0 {
			b = text(b, 10, string(number(text(nil, 1, name), field, v)))
		}
	}
	attr(HasCPUOp, "is_cpu_op", 27, truth(n.CPUOp))
	attr(HasCommType, "comm_type", 9, uint64(n.CommType))
	attr(HasCommSize, "comm_size", 9, uint64(n.CommSize))
	attr(HasCommSrc, "comm_src", 7, uint64(n.CommSrc))
	attr(HasCommDst, "comm_dst", 7, uint64(n.CommDst))
	attr(HasCommTag, "comm_tag", 7, uint64(n.CommTag))
	attr(HasNumOps, "num_ops", 9, uint64(n.NumOps))
	attr(HasTensorSize, "tensor_size", 13, uint64(n.TensorSize))
	attr(HasStream, "stream", 9, uint64(n.Stream))
	attr(HasTID, "tid", 9, uint64(n.TID))
	if n.Has&HasPGName != 0 {
		b = text(b, 10, string(text(text(nil, 1, "pg_name"), 29, n.PGName)))
	}
	if n.Has&HasInvolvedDim != 0 {
		var list []byte
		for _, d := range n.InvolvedDim {
			list = append(list, byte(truth(d)))
		}
		b = text(b, 10, string(text(text(nil, 1, "involved_dim"), 28, string(text(nil, 1, string(list))))))
	}
	return b
}

func truth(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}

func number(b []byte, field protowire.Number, v uint64) []byte {
	return protowire.AppendVarint(protowire.AppendTag(b, field, protowire.VarintType), v)
}

func double(b []byte, field protowire.Number, v float64) []byte {
	return protowire.AppendFixed64(protowire.AppendTag(b, field, protowire.Fixed64Type), math.Float64bits(v))
}

func text(b []byte, field protowire.Number, s string) []byte {
	return protowire.AppendString(protowire.AppendTag(b, field, protowire.BytesType), s)
}

func packed(b []byte, field protowire.Number, list []uint64) []byte {
	if len(list) == 0 {
		return b
	}
	var p []byte
	for _, v := range list {
		p = protowire.AppendVarint(p, v)
	}
	return text(b, field, string(p))
}

// trace is a file of G4 with a metadata record.
func trace(nodes ...Node) []byte {
	var w writer
	w.meta("0.0.4", "")
	for _, n := range nodes {
		w.node(n)
	}
	return w.Bytes()
}

// record is length-prefixed records.
func record(list ...[]byte) []byte {
	var w writer
	for _, b := range list {
		w.record(b)
	}
	return w.Bytes()
}

func gzipped(b []byte) []byte {
	var buf bytes.Buffer
	z := gzip.NewWriter(&buf)
	z.Write(b)
	z.Close()
	return buf.Bytes()
}

// asJSON is the JSON form of computations.
func asJSON(nodes ...Node) []byte {
	var list []map[string]any
	for _, n := range nodes {
		list = append(list, map[string]any{"Id": n.ID, "Name": n.Name, "NodeType": n.Type, "ctrlDeps": n.CtrlDeps,
			"data_deps": n.DataDeps, "runtime": int64(n.Duration / sim.Microsecond), "is_cpu_op": n.CPUOp})
	}
	b, err := json.Marshal(map[string]any{"workload_graph": list, "ngpus": 1})
	if err != nil {
		panic(err)
	}
	return b
}

// folder is a file system of the files of ranks 0, 1, ... in "job".
func folder(files ...[]byte) fstest.MapFS {
	fsys := fstest.MapFS{}
	for i, f := range files {
		fsys["job/t."+string(rune('0'+i))+".et"] = &fstest.MapFile{Data: f}
	}
	return fsys
}

// The nodes of tests.

func comp(id uint64, micros int64, deps ...uint64) Node {
	return Node{ID: id, Name: "comp", Type: Comp, Duration: sim.Time(micros) * sim.Microsecond, DataDeps: deps}
}

func collNode(id uint64, kind CollType, size int64, pg string, deps ...uint64) Node {
	n := Node{ID: id, Name: "coll", Type: CommColl, Has: HasCommType | HasCommSize, CommType: kind, CommSize: size, DataDeps: deps}
	if pg != "" {
		n.PGName, n.Has = pg, n.Has|HasPGName
	}
	return n
}

func send(id uint64, to, tag, size int64, deps ...uint64) Node {
	return Node{ID: id, Name: "send", Type: CommSend, Has: HasCommDst | HasCommTag | HasCommSize, CommDst: to, CommTag: tag, CommSize: size, DataDeps: deps}
}

func recv(id uint64, from, tag, size int64, deps ...uint64) Node {
	return Node{ID: id, Name: "recv", Type: CommRecv, Has: HasCommSrc | HasCommTag | HasCommSize, CommSrc: from, CommTag: tag, CommSize: size, DataDeps: deps}
}
