package chakra

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/encoding/protowire"
)

// The same attribute comes in many types: each that holds a whole number is
// accepted.
func TestAttributesOfAnyType(t *testing.T) {
	value := func(b []byte) []byte { return append(text(nil, 1, "comm_size"), b...) }
	fixed := func(field protowire.Number, v uint32) []byte {
		return protowire.AppendFixed32(protowire.AppendTag(nil, field, protowire.Fixed32Type), v)
	}
	for name, attr := range map[string][]byte{
		"double": double(nil, 3, 7), "int32": number(nil, 7, 7), "int64": number(nil, 9, 7), "uint32": number(nil, 11, 7),
		"uint64": number(nil, 13, 7), "sint32": number(nil, 15, 14), "sint64": number(nil, 17, 14), "fixed32": fixed(19, 7),
		"sfixed32": fixed(23, 7), "text": text(nil, 29, "7"),
	} {
		t.Run(name, func(t *testing.T) {
			var w writer
			w.meta("0.0.4", "")
			w.record(text(number(nil, 3, uint64(CommColl)), 10, string(value(attr))))
			tr, err := Decode(&w, "f", 0)
			require.NoError(t, err)
			assert.Equal(t, int64(7), tr.Nodes[0].CommSize)
			assert.Equal(t, HasCommSize, tr.Nodes[0].Has)
		})
	}
}

func TestNodeFields(t *testing.T) {
	var w writer
	w.meta("", "1.0.2-chakra.0.0.4")
	b := number(text(number(nil, 1, 1<<63), 2, "n"), 3, uint64(Comp))
	b = number(number(b, 5, 3), 5, 4)                                                // dependencies one by one
	b = text(b, 10, string(number(text(nil, 1, "is_cpu_op"), 7, 1)))                 // int32
	b = text(b, 10, string(number(text(nil, 1, "pg_name"), 9, 12)))                  // a number
	b = text(b, 10, string(number(text(nil, 1, "comm_src"), 7, 0xffffffffffffffff))) // -1 as a varint of ten bytes
	b = text(b, 10, string(text(text(nil, 1, "involved_dim"), 28, "")))              // an empty list
	b = text(b, 10, string(text(text(nil, 1, "scope"), 29, "x")))                    // of no use to an import
	b = number(b, 99, 5)                                                             // a field of the future
	w.record(b)
	tr, err := Decode(bytes.NewReader(w.Bytes()), "f", 0)
	require.NoError(t, err)
	assert.Equal(t, "1.0.2-chakra.0.0.4", tr.SchemaAttr)
	n := tr.Nodes[0]
	assert.Equal(t, uint64(1<<63), n.ID)
	assert.Equal(t, []uint64{3, 4}, n.DataDeps)
	assert.True(t, n.CPUOp)
	assert.Equal(t, "12", n.PGName)
	assert.Equal(t, int64(-1), n.CommSrc)
	assert.Equal(t, HasCPUOp|HasPGName|HasCommSrc|HasInvolvedDim, n.Has)
	assert.Equal(t, []Count{{"scope", 1}}, tr.Ignored)
}

func TestEmptyMetadataRecord(t *testing.T) {
	var w writer
	w.record(nil)
	w.node(comp(1, 1))
	tr, err := Decode(&w, "f", 0)
	require.NoError(t, err)
	assert.True(t, tr.HasMeta)
	assert.Len(t, tr.Nodes, 1)
}
