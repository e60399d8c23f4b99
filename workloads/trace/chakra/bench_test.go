package chakra

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"
)

// large is a trace of a training step in a loop: 4 layers of compute and a
// collective, with forward references as STAGE writes them.
func large(nodes int) []byte {
	var w writer
	w.meta("", "")
	for i := range nodes {
		n := Node{ID: uint64(i), Name: "mb0.transformer.mha.qkv@0_COMP", Type: Comp, Has: HasNumOps | HasTensorSize, NumOps: 1 << 36, TensorSize: 25165824}
		if i%4 == 3 {
			n = Node{ID: uint64(i), Name: "mb0.transformer.mha.qkv@0_X1COMM", Type: CommColl, Has: HasCommType | HasCommSize | HasCPUOp, CommType: AllGather, CommSize: 8388608}
		}
		for d := 1; d <= 3 && d <= i; d++ {
			n.DataDeps = append(n.DataDeps, uint64(i-d))
		}
		w.node(n)
	}
	return w.Bytes()
}

func BenchmarkDecode(b *testing.B) {
	data := large(100_000)
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	n := 0
	for b.Loop() {
		t, err := Decode(bytes.NewReader(data), "large.0.et", 0)
		require.NoError(b, err)
		n += len(t.Nodes)
	}
	b.ReportMetric(float64(n)/b.Elapsed().Seconds(), "nodes/s")
}

func BenchmarkSummary(b *testing.B) {
	t, err := Decode(bytes.NewReader(large(100_000)), "large.0.et", 0)
	require.NoError(b, err)
	b.ReportAllocs()
	n := 0
	for b.Loop() {
		n += t.Summary().Nodes
	}
	b.ReportMetric(float64(n)/b.Elapsed().Seconds(), "nodes/s")
}

func BenchmarkImport(b *testing.B) {
	data := large(100_000)
	t, err := Decode(bytes.NewReader(data), "large.0.et", 0)
	require.NoError(b, err)
	b.ReportAllocs()
	n := 0
	for b.Loop() {
		p, _, err := Import(&Set{Name: "large", Traces: []*Trace{t}}, Options{World: 8})
		require.NoError(b, err)
		n += len(p.Classes[0].Ops)
	}
	b.ReportMetric(float64(n)/b.Elapsed().Seconds(), "nodes/s")
}
