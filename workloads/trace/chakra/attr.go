package chakra

import (
	"fmt"
	"math"
	"strconv"

	"google.golang.org/protobuf/encoding/protowire"
)

// attr decodes one attribute of a node of G4.
func (d *decoder) attr(b []byte, n *Node) error {
	name, v, err := attribute(b)
	if err != nil {
		return fmt.Errorf("attribute %q: %w", name, err)
	}
	return d.set(n, name, v)
}

// set stores an attribute that an import uses, or counts it. The same
// attribute comes with different types (is_cpu_op as bool and as int32), so
// that each accepts all that hold its value.
func (d *decoder) set(n *Node, name []byte, v value) error {
	var to *int64
	var has Attr
	switch string(name) {
	case "comm_type":
		has = HasCommType
	case "comm_size":
		to, has = &n.CommSize, HasCommSize
	case "comm_src":
		to, has = &n.CommSrc, HasCommSrc
	case "comm_dst":
		to, has = &n.CommDst, HasCommDst
	case "comm_tag":
		to, has = &n.CommTag, HasCommTag
	case "num_ops":
		to, has = &n.NumOps, HasNumOps
	case "tensor_size":
		to, has = &n.TensorSize, HasTensorSize
	case "stream":
		to, has = &n.Stream, HasStream
	case "tid":
		to, has = &n.TID, HasTID
	case "is_cpu_op":
		has = HasCPUOp
	case "pg_name":
		switch {
		case v.isText:
			n.PGName = d.name(v.s)
		case v.isInt:
			n.PGName = strconv.FormatInt(v.i, 10)
		case v.isReal:
			n.PGName = strconv.FormatFloat(v.f, 'f', -1, 64)
		default:
			return fmt.Errorf("attribute pg_name: neither text nor number")
		}
		n.Has |= HasPGName
		return nil
	case "involved_dim":
		if !v.isList {
			return fmt.Errorf("attribute involved_dim: not a list")
		}
		n.InvolvedDim = bools(v.s)
		n.Has |= HasInvolvedDim
		return nil
	default:
		d.ignoreAttr(string(name))
		return nil
	}
	x, err := v.integer()
	if err != nil {
		return fmt.Errorf("attribute %s: %w", name, err)
	}
	switch {
	case to != nil:
		*to = x
	case has == HasCPUOp:
		n.CPUOp = x != 0
	default:
		if x < math.MinInt32 || x > math.MaxInt32 {
			return fmt.Errorf("attribute comm_type: %d, which no enumeration holds", x)
		}
		n.CommType = CollType(x)
	}
	n.Has |= has
	return nil
}

// integer returns the value as a whole number.
func (v value) integer() (int64, error) {
	switch {
	case v.large:
		return 0, fmt.Errorf("%d, which is more than 2^63-1", uint64(v.i))
	case v.isInt:
		return v.i, nil
	case v.isReal && v.f == math.Trunc(v.f) && math.Abs(v.f) < 1<<62:
		return int64(v.f), nil
	case v.isReal:
		return 0, fmt.Errorf("%g, which is no whole number", v.f)
	case v.isText:
		if x, err := strconv.ParseInt(string(v.s), 10, 64); err == nil {
			return x, nil
		}
		return 0, fmt.Errorf("%.40q, which is no number", v.s)
	}
	return 0, fmt.Errorf("no number")
}

// bools reads a list message of numbers, packed or not, as truths.
func bools(b []byte) []bool {
	var out []bool
	_ = fields(b, func(num protowire.Number, typ protowire.Type, v uint64, s []byte) error {
		if num != 1 {
			return nil
		}
		if typ == protowire.VarintType {
			out = append(out, v != 0)
			return nil
		}
		for len(s) > 0 {
			x, n := protowire.ConsumeVarint(s)
			if n < 0 {
				break
			}
			out = append(out, x != 0)
			s = s[n:]
		}
		return nil
	})
	return out
}

// ignoreAttr counts an attribute that an import does not use.
func (d *decoder) ignoreAttr(name string) {
	i, ok := d.ignore[name]
	if !ok {
		if d.ignore == nil {
			d.ignore = map[string]int{}
		}
		i = len(d.ignored)
		d.ignore[name] = i
		d.ignored = append(d.ignored, Count{Name: name})
	}
	d.ignored[i].N++
}
