package chakra

import (
	"fmt"

	"google.golang.org/protobuf/encoding/protowire"
)

// nodeG0 decodes a node of G0 and renumbers its enums as in G4.
func (d *decoder) nodeG0(rec []byte, n *Node) error {
	return fields(rec, func(num protowire.Number, typ protowire.Type, v uint64, s []byte) error {
		if num == 2 {
			if typ != protowire.BytesType {
				return fieldError(num, fmt.Sprintf("wire type %d, not %d", typ, protowire.BytesType))
			}
			n.Name = d.name(s)
			return nil
		}
		if num == 4 {
			return d.deps(&n.DataDeps, num, typ, v, s)
		}
		if num == 14 && typ == protowire.BytesType {
			n.InvolvedDim, n.Has = append(n.InvolvedDim, bools(s)...), n.Has|HasInvolvedDim
			return nil
		}
		if num <= 20 && typ != protowire.VarintType {
			return fieldError(num, fmt.Sprintf("wire type %d, not %d", typ, protowire.VarintType))
		}
		switch num {
		case 1:
			n.ID = v
		case 3:
			n.Type = NodeType(v)
			if n.Type != Invalid {
				n.Type++ // METADATA came between in G4
			}
		case 6:
			n.TensorSize, n.Has = int64(v), n.Has|HasTensorSize
		case 7:
			return n.micros(v)
		case 12:
			n.NumOps, n.Has = int64(v), n.Has|HasNumOps
		case 13:
			n.CommType, n.Has = collG0(v), n.Has|HasCommType
		case 14:
			n.InvolvedDim, n.Has = append(n.InvolvedDim, v != 0), n.Has|HasInvolvedDim
		case 15:
			n.PGName, n.Has = fmt.Sprint(int64(v)), n.Has|HasPGName
		case 16:
			n.CommSrc, n.Has = int64(v), n.Has|HasCommSrc
		case 17:
			n.CommDst, n.Has = int64(v), n.Has|HasCommDst
		case 18:
			n.CommSize, n.Has = int64(v), n.Has|HasCommSize
		case 19:
			n.CommTag, n.Has = int64(v), n.Has|HasCommTag
		case 5, 8, 9, 10, 11, 20: // tensor places and sizes, priority
			d.ignoreAttr(g0Ignored[num])
		}
		return nil
	})
}

var g0Ignored = map[protowire.Number]string{5: "tensor_loc", 8: "input_tensor_loc", 9: "input_tensor_size",
	10: "output_tensor_loc", 11: "output_tensor_size", 20: "comm_priority"}

// collG0 renumbers a collective of G0.
func collG0(v uint64) CollType {
	switch v {
	case 1:
		return AllReduce
	case 2:
		return AllToAll
	case 3:
		return AllGather
	case 4:
		return ReduceScatter
	}
	return -1 - CollType(v) // unknown here whatever G4 means by the number
}
