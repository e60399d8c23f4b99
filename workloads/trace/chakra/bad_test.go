package chakra

import (
	"bytes"
	"errors"
	"io/fs"
	"math"
	"runtime"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-sim/weft/sim"
	"github.com/weft-sim/weft/workloads"
)

// wantError holds an error against the parts that its message must have, and
// against its type.
func wantError(t *testing.T, err error, parts ...string) {
	t.Helper()
	require.Error(t, err)
	var e *Error
	require.True(t, errors.As(err, &e), "%T: %v", err, err)
	for _, p := range parts {
		assert.Contains(t, err.Error(), p)
	}
}

func TestDecodeRefuses(t *testing.T) {
	whole := trace(comp(1, 5), comp(2, 5, 1))
	g2 := text(number(text(number(nil, 1, 1), 2, "x"), 3, 3), 11, string(text(nil, 1, "a")))
	g3 := text(nil, 1, string(number(text(nil, 1, "version"), 8, 1)))
	records := record
	for _, c := range []struct {
		name  string
		data  []byte
		parts []string
	}{
		{"empty", nil, []string{"read trace f", "empty file"}},
		{"empty gzip", gzipped(nil), []string{"empty file"}},
		{"text", []byte("hello world\n"), []string{"text", "expected a Chakra trace", `"hello world\n"`}},
		{"html", []byte("<!DOCTYPE html><html>"), []string{"HTML"}},
		{"png", []byte("\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR"), []string{"PNG"}},
		{"zip", []byte("PK\x03\x04\x00\x00"), []string{"ZIP"}},
		{"blanks", []byte("  \n"), []string{"blanks"}},
		{"random", []byte("\xf3\x91\x02\x88\x17\xa9\x00\x10\xbe"), []string{"record 1 at byte 0", "no Chakra trace"}},
		{"length of more than the file", []byte("\xff\xff\xff\xff\x07\x00\x01"), []string{"a record of 2147483647 bytes", "holds 2"}},
		{"length of 2^63", []byte("\xff\xff\xff\xff\xff\xff\xff\xff\x7f\x00"), []string{"a record of 9223372036854775807 bytes"}},
		{"length of 11 bytes", []byte("\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01"), []string{"more than 64 bits"}},
		{"metadata only", trace(), []string{"no node at all"}},
		{"zeros", make([]byte, 50), []string{"record 2 at byte 1", "an empty record", "expected a node"}},
		{"cut in the first node", whole[:12], []string{"no node is complete", "record 2"}},
		{"bad record after good ones", append(append([]byte{}, whole...), 3, 0x12, 0x7f, 0), []string{"record 4 at byte", "field 2 at its byte 0 does not end"}},
		{"name as a number", records(text(nil, 1, "0.0.4"), number(number(nil, 1, 4), 2, 9)), []string{"record 2", "field 2: wire type 0, not 2"}},
		{"duplicate id", trace(comp(1, 5), comp(7, 5), comp(1, 5)), []string{"id 1 again", "record 2 at byte", "record 4"}},
		{"G2", records(g2), []string{"G2", "convert it again"}},
		{"G2 after plain nodes", records(number(number(nil, 1, 1), 3, 3), g2), []string{"G2"}},
		{"G3", records(g3, g2), []string{"G3", "convert it again"}},
		{"attribute of 2^64-1", records(text(nil, 1, "v"), text(number(nil, 3, 7), 10, string(number(text(nil, 1, "comm_size"), 13, math.MaxUint64)))),
			[]string{"comm_size", "18446744073709551615", "2^63-1"}},
		{"attribute of a fraction", records(text(nil, 1, "v"), text(number(nil, 3, 7), 10, string(double(text(nil, 1, "comm_size"), 3, 1.5)))), []string{"comm_size", "1.5"}},
		{"json without graph", []byte(`{"a": 1}`), []string{"workload_graph"}},
		{"json list", []byte(`[1]`), []string{`"["`}},
		{"json of nothing", []byte(`{"workload_graph": []}`), []string{"no node at all"}},
		{"json cut in the first node", []byte(`{"workload_graph": [{"Id": 1, "Name`), []string{"end of the file", "record 1"}},
		{"json malformed", []byte(`{"workload_graph": [{"Id": 1, "NodeType": 4}, {"Id": ]`), []string{"malformed JSON", "record 2"}},
		{"json id", []byte(`{"workload_graph": [{"Id": "x", "NodeType": 4}]}`), []string{`key "Id"`, "no id"}},
		{"json deps", []byte(`{"workload_graph": [{"Id": 1, "data_deps": 4}]}`), []string{`key "data_deps"`, "no list of ids"}},
		{"gzip cut in its header", gzipped(whole)[:5], []string{"gzip"}},
		{"gzip in gzip", gzipped(gzipped(whole)), []string{"gzip inside gzip"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := Decode(bytes.NewReader(c.data), "f", 0)
			wantError(t, err, c.parts...)
		})
	}
}

func TestTruncatedFileYieldsCompleteNodes(t *testing.T) {
	whole := trace(comp(1, 5), comp(2, 6, 1), comp(3, 7, 2))
	js := asJSON(comp(1, 5), comp(2, 6, 1), comp(3, 7, 2))
	zipped := gzipped(bytes.Repeat(whole, 1))
	for _, c := range []struct {
		name string
		data []byte
	}{{"protobuf", whole[:len(whole)-3]}, {"json", js[:bytes.LastIndex(js, []byte(`"runtime"`))]}} {
		t.Run(c.name, func(t *testing.T) {
			tr, err := Decode(bytes.NewReader(c.data), "f.0.et", 0)
			require.NoError(t, err)
			require.NotNil(t, tr.Truncated)
			assert.Len(t, tr.Nodes, 2)
			assert.Contains(t, tr.Truncated.Error(), "the 2 nodes before it are complete")

			fsys := fstest.MapFS{"t.0.et": {Data: c.data}}
			say := func(option, value string) string { return "--set workload." + option + "=" + value }
			_, _, err = Load(fsys, "t.0.et", Options{Say: say})
			wantError(t, err, "read trace t.0.et: record", "at byte", "the 2 nodes before it are complete", "or give --set workload.truncated=accept")

			p, rep, err := Load(fsys, "t.0.et", Options{AcceptTruncated: true})
			require.NoError(t, err)
			assert.Len(t, p.Classes[0].Ops, 2)
			assert.Contains(t, strings.Join(rep.Warnings, "\n"), "2 nodes before it are complete")
		})
	}
	// The same through gzip: the checksum at the end is what is missing.
	tr, err := Decode(bytes.NewReader(zipped[:len(zipped)-4]), "f", 0)
	require.NoError(t, err)
	require.NotNil(t, tr.Truncated)
	assert.Contains(t, tr.Truncated.Error(), "the end of the compressed data where a record should begin")

	_, _, err = Load(folder(whole[:len(whole)-3], whole[:len(whole)-5], whole), "job", Options{})
	wantError(t, err, "job/t.0.et", "are complete, and one more file is cut off;")
}

func TestBoundOnDecompressedSize(t *testing.T) {
	bomb := gzipped(append(trace(comp(1, 1)), bytes.Repeat([]byte("\x02\x18\x04"), 1<<20)...))
	_, err := Decode(bytes.NewReader(bomb), "f", 1<<16)
	wantError(t, err, "bound on the decompressed size", "MaxBytes")
	_, err = Decode(bytes.NewReader(asJSON(comp(1, 1), comp(2, 2))), "f", 40)
	wantError(t, err, "bound on the decompressed size")
}

// A false length must not be believed: a file of a few bytes stays cheap.
func TestFalseLengthCostsNothing(t *testing.T) {
	data := []byte("\xfe\xff\xff\xff\x07\x12\x00")
	const runs = 10
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range runs {
		_, err := Decode(bytes.NewReader(data), "f", 0)
		require.Error(t, err)
	}
	runtime.ReadMemStats(&after)
	assert.Less(t, (after.TotalAlloc-before.TotalAlloc)/runs, uint64(4<<20), "bytes a run")
}

func TestFolderRefuses(t *testing.T) {
	good := trace(comp(1, 5))
	file := func(b []byte) *fstest.MapFile { return &fstest.MapFile{Data: b} }
	for _, c := range []struct {
		name  string
		fsys  fstest.MapFS
		path  string
		opt   Options
		parts []string
	}{
		{"no such path", fstest.MapFS{}, "job", Options{}, []string{"job", "cannot be opened"}},
		{"empty folder", fstest.MapFS{"job": {Mode: fs.ModeDir}}, "job", Options{}, []string{"without a trace", "<name>.<rank>.et"}},
		{"only text", fstest.MapFS{"job/readme.md": file([]byte("hello"))}, "job", Options{}, []string{"without a trace"}},
		{"a bad one among good", fstest.MapFS{"job/t.0.et": file(good), "job/t.1.et": file([]byte("hello"))}, "job", Options{}, []string{"job/t.1.et", "text"}},
		{"an empty one", fstest.MapFS{"job/t.0.et": file(good), "job/t.1.et": file(nil)}, "job", Options{}, []string{"job/t.1.et", "empty file"}},
		{"rank twice", fstest.MapFS{"job/t.1.et": file(good), "job/t.0.et": file(good), "job/u.1.et": file(good)}, "job", Options{}, []string{"job/u.1.et", "rank 1", "job/t.1.et"}},
		{"no rank 0", fstest.MapFS{"job/t.1.et": file(good), "job/t.2.et": file(good)}, "job", Options{}, []string{"no file of rank 0", "give world"}},
		{"no rank in a name", fstest.MapFS{"job/a.et": file(good), "job/b.et": file(good)}, "job", Options{}, []string{"job/a.et", "without a rank"}},
		{"two group files", fstest.MapFS{"job/t.0.et": file(good), "job/a.json": file([]byte(`{"0": [0]}`)), "job/b.json": file([]byte(`{"0": [0]}`))}, "job", Options{},
			[]string{"several group files", "give groups"}},
		{"group rank outside", fstest.MapFS{"job/t.0.et": file(good), "job/a.json": file([]byte(`{"0": [0, 9]}`))}, "job", Options{World: 2}, []string{"rank 9", "a world of 2"}},
		{"negative rank", fstest.MapFS{"job/t.0.et": file(good), "job/a.json": file([]byte(`{"0": [-1]}`))}, "job", Options{}, []string{"rank -1"}},
		{"group rank twice", fstest.MapFS{"job/t.0.et": file(good), "job/a.json": file([]byte(`{"0": [0, 0]}`))}, "job", Options{}, []string{"group 0", "rank 0 twice"}},
		{"group twice", fstest.MapFS{"job/t.0.et": file(good), "job/a.json": file([]byte(`{"5": [0], "5.0": [0]}`))}, "job", Options{}, []string{"group 5 again"}},
		{"group file of words", fstest.MapFS{"job/t.0.et": file(good), "g": file([]byte(`{"5": ["a"]}`))}, "job", Options{GroupFile: "g"}, []string{"read trace g", "list of ranks"}},
		{"no group file", fstest.MapFS{"job/t.0.et": file(good)}, "job", Options{GroupFile: "nowhere"}, []string{"nowhere", "cannot be opened"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, _, err := Load(c.fsys, c.path, c.opt)
			wantError(t, err, c.parts...)
		})
	}
}

func TestImportRefuses(t *testing.T) {
	groups := func(fsys fstest.MapFS, g string) fstest.MapFS {
		fsys["job/groups.json"] = &fstest.MapFile{Data: []byte(g)}
		return fsys
	}
	ar := func(pg string) Node { return collNode(1, AllReduce, 8, pg) }
	for _, c := range []struct {
		name  string
		fsys  fstest.MapFS
		opt   Options
		parts []string
	}{
		{"cycle", folder(trace(comp(1, 1, 3), comp(2, 1, 1), comp(3, 1, 2))), Options{}, []string{"job/t.0.et", "a cycle of dependencies", `1 ("comp") needs 3 ("comp") needs 2 ("comp") needs 1 ("comp")`}},
		{"negative size", folder(trace(collNode(1, AllReduce, -8, ""))), Options{}, []string{"comm_size -8", "node 1"}},
		{"absurd size", folder(trace(collNode(1, AllReduce, 1<<60, ""))), Options{}, []string{"comm_size 1152921504606846976"}},
		{"absurd gathered size", folder(trace(collNode(1, AllGather, 1<<50, "")), trace(collNode(1, AllGather, 1<<50, ""))), Options{}, []string{"on each of 2 ranks"}},
		{"absurd duration", folder(append(trace(comp(1, 1)), record(number(number(nil, 1, 2), 7, 1<<50))...)), Options{}, []string{"duration 1125899906842624 us", "0 to 1000000000000"}},
		{"negative duration", folder(append(trace(comp(1, 1)), record(number(number(nil, 1, 2), 7, math.MaxUint64-4))...)), Options{}, []string{"duration -5 us"}},
		{"dimension of no group", folder(trace(ar("")), trace(ar(""))), Options{GroupDims: map[string]workloads.Dim{"tp": workloads.TP}}, []string{`group "tp"`, "one of world"}},
		{"group unknown", groups(folder(trace(ar("3"))), `{"0": [0]}`), Options{}, []string{`group "3"`, "one of 0"}},
		{"no groups at all", folder(trace(ar("3"))), Options{}, []string{`group "3"`, "give groups"}},
		{"rank not in group", groups(folder(trace(ar("0")), trace(ar("0"))), `{"0": [1]}`), Options{}, []string{"group 0 of ranks 1 on rank 0"}},
		{"world too small", folder(trace(ar("")), trace(ar(""))), Options{World: 1}, []string{"a world of 1 ranks", "at least 2 ranks"}},
		{"missing ranks", folder(trace(ar(""))), Options{World: 4, NoReplicate: true}, []string{"missing: ranks 1-3"}},
		{"sends cannot be copied", folder(trace(send(1, 1, 0, 8))), Options{}, []string{"missing: ranks 1", "cannot be copied"}},
		{"group that cannot be shifted", groups(folder(trace(ar("0"))), `{"0": [0, 1, 3]}`), Options{}, []string{"cannot be guessed", "ranks 0-1, 3"}},
		{"kinds differ", folder(trace(ar("")), trace(collNode(9, Broadcast, 8, ""))), Options{}, []string{"job/t.1.et", "node 9", "broadcast of 8 bytes", "expected all_reduce of 8 bytes", "rank 0, node 1"}},
		{"sizes differ", folder(trace(ar("")), trace(collNode(9, AllReduce, 16, ""))), Options{}, []string{"all_reduce of 16 bytes", "expected all_reduce of 8 bytes"}},
		{"peer outside", folder(trace(send(1, 7, 0, 8)), trace(comp(1, 1))), Options{World: 2}, []string{"a world of 2 ranks", "peer 7"}},
		{"peer is itself", folder(trace(send(1, 0, 0, 8))), Options{}, []string{"peer 0, the rank itself"}},
		{"peer beyond reason", folder(trace(send(1, 1<<40, 0, 8))), Options{}, []string{"peer 1099511627776"}},
		{"dimension left out", folder(trace(withDims(ar(""), true, false))), Options{World: 4}, []string{"involved_dim [true false]", "give dims [N,N], 2 numbers", "(4)"}},
		{"dimensions of another number", folder(trace(withDims(ar(""), true, false))), Options{World: 4, Dims: []int32{4}}, []string{"for dimensions [4]"}},
		{"dimensions of another world", folder(trace(ar(""))), Options{World: 4, Dims: []int32{3}}, []string{"dimensions [3]", "a product of 4"}},
		{"host operators only", folder(trace(host(1))), Options{}, []string{"no operation of a GPU"}},
		{"process groups of nonsense", folder(trace(Node{ID: 1, Name: processGroups, Type: Metadata, Inputs: "['nothing']"}, comp(2, 1))), Options{}, []string{"process groups", "nothing"}},
		{"bytes per element", folder(trace(comp(1, 1))), Options{BytesPerElement: 1000}, []string{"1000 bytes per element"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, _, err := Load(c.fsys, "job", c.opt)
			wantError(t, err, c.parts...)
		})
	}
}

func TestImportFindsWhatWouldWaitForever(t *testing.T) {
	for _, c := range []struct {
		name string
		fsys fstest.MapFS
		part string
	}{
		{"a send without a receive", folder(trace(send(1, 1, 0, 8)), trace(comp(1, 1))), "rank 0 waits in send 1 with tag 0"},
		{"a receive without a send", folder(trace(recv(1, 1, 4, 8)), trace(comp(1, 1))), "rank 0 waits in receive 1 with tag 4"},
		{"a collective that a rank never joins", folder(trace(collNode(1, AllReduce, 8, "")), trace(collNode(1, AllReduce, 8, "")), trace(comp(1, 1))), "for rank 2, which joins 0 of 1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, _, err := Load(c.fsys, "job", Options{})
			var u *workloads.UnmatchedError
			require.ErrorAs(t, err, &u)
			assert.Contains(t, err.Error(), c.part)
		})
	}
}

func withDims(n Node, dims ...bool) Node {
	n.InvolvedDim, n.Has = dims, n.Has|HasInvolvedDim
	return n
}

func host(id uint64, deps ...uint64) Node {
	return Node{ID: id, Name: "aten::op", Type: Comp, Has: HasCPUOp, CPUOp: true, Duration: 3 * sim.Microsecond, DataDeps: deps}
}
