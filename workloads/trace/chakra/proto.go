package chakra

import (
	"bufio"
	"fmt"
	"io"
	"math"

	"google.golang.org/protobuf/encoding/protowire"
)

// decodeProto reads length-prefixed records of G4 or G0.
func (t *Trace) decodeProto(br *bufio.Reader) error {
	s := &records{r: br}
	d := &decoder{t: t, names: map[string]string{}}
	for {
		rec, at, claimed, err := s.next()
		if err == io.EOF {
			break
		}
		if err != nil {
			d.done()
			return t.cut(s, rec, at, claimed, err)
		}
		if s.n == 1 {
			meta, err := d.first(s, rec, at)
			if err != nil {
				return err
			}
			if meta {
				continue
			}
		}
		if len(rec) == 0 || d.count >= maxNodes {
			read, want := "an empty record", "a node"
			if len(rec) > 0 {
				read, want = fmt.Sprintf("more than %d nodes", maxNodes), "fewer, or a part of the trace"
			}
			return readError(t.File, s.n, at, read, want)
		}
		n := Node{Offset: at, Record: s.n}
		if t.Schema == G0 {
			err = d.nodeG0(rec, &n)
		} else {
			err = d.nodeG4(rec, &n)
		}
		if err != nil {
			e := readError(t.File, s.n, at, err.Error(), "a node of "+t.Schema.String())
			if d.count == 0 {
				e.Hint = "no node is complete: this is no Chakra trace"
			}
			return e
		}
		d.keep(n)
	}
	d.done()
	return nil
}

// keep adds a node. Nodes gather in chunks, because one slice that grows by
// copying cost three times the memory.
func (d *decoder) keep(n Node) {
	last := len(d.chunks) - 1
	if last < 0 || len(d.chunks[last]) == cap(d.chunks[last]) {
		d.chunks = append(d.chunks, make([]Node, 0, min(max(16, 2*d.count), 8192)))
		last++
	}
	d.chunks[last] = append(d.chunks[last], n)
	d.count++
}

// done hands what was gathered to the trace.
func (d *decoder) done() {
	d.t.Nodes = make([]Node, 0, d.count)
	for i, c := range d.chunks {
		d.t.Nodes = append(d.t.Nodes, c...)
		d.chunks[i] = nil
	}
	d.t.Ignored = d.ignored
}

// decoder is the state of decoding one file.
type decoder struct {
	t       *Trace
	names   map[string]string // one copy of equal names
	chunks  [][]Node
	count   int
	ids     []uint64 // the chunk that dependencies are cut from
	edges   int      // dependencies read
	ignored []Count
	ignore  map[string]int // position in ignored, by name
}

// first reads the first record: it tells the generations apart and reports
// whether the record was metadata.
func (d *decoder) first(s *records, rec []byte, at int64) (bool, error) {
	t := d.t
	switch kind := metaKind(rec); kind {
	case "G4":
		t.HasMeta = true
		return true, d.metadata(rec)
	case "G3":
		return false, refuse(t.File, s.n, at, "a metadata record of July or August 2023 (generation G3)")
	}
	schema := generation(rec)
	if schema == "" {
		// What follows decides. The window is not consumed.
		ahead, _ := s.r.Peek(s.r.Buffered())
		for p := s.skip; schema == "" && p < len(ahead); {
			size, n := protowire.ConsumeVarint(ahead[p:])
			if n < 0 || size > uint64(len(ahead)-p-n) {
				break
			}
			schema = generation(ahead[p+n : p+n+int(size)])
			p += n + int(size)
		}
	}
	switch schema {
	case "G0":
		t.Schema = G0
	case "G2":
		return false, refuse(t.File, s.n, at, "nodes of July or August 2023 (generation G2 or G3)")
	}
	return false, nil
}

func refuse(file string, record int, at int64, read string) error {
	e := readError(file, record, at, read, "a trace of October 2023 or later, or one of February 2023 (.eg)")
	e.Hint = "convert it again with a current chakra_converter"
	return e
}

// metaKind says whether a record is metadata: that of G4 has field 1 as text
// and field 2 as attributes and nothing else; that of G3 has attributes in
// field 1. "" is a node.
func metaKind(rec []byte) string {
	if len(rec) == 0 {
		return "G4" // an empty metadata message; a node of defaults is none
	}
	kind := ""
	for len(rec) > 0 {
		num, typ, n := protowire.ConsumeTag(rec)
		if n < 0 || typ != protowire.BytesType || num > 2 {
			return ""
		}
		v, m := protowire.ConsumeBytes(rec[n:])
		if m < 0 {
			return ""
		}
		rec = rec[n+m:]
		name, _, err := attribute(v)
		isAttr := err == nil && len(name) > 0
		switch {
		case num == 2 && !isAttr:
			return ""
		case num == 1 && isAttr:
			kind = "G3"
		case kind == "":
			kind = "G4"
		}
	}
	return kind
}

// generation guesses that of a node by what only one of them has; "" where
// nothing tells.
func generation(rec []byte) string {
	for len(rec) > 0 {
		num, typ, n := protowire.ConsumeTag(rec)
		if n < 0 {
			return ""
		}
		m := protowire.ConsumeFieldValue(num, typ, rec[n:])
		if m < 0 {
			return ""
		}
		rec = rec[n+m:]
		switch {
		case num == 11 && typ == protowire.BytesType:
			return "G2" // attributes moved to 10 in G4; G0 has a number here
		case num == 10 && typ == protowire.BytesType, (num == 4 || num == 5 || num == 8 || num == 9) && typ == protowire.BytesType:
			return "G4"
		case num >= 10 && num <= 20 && typ == protowire.VarintType:
			return "G0"
		}
	}
	return ""
}

// metadata keeps the version and the schema of the metadata record.
func (d *decoder) metadata(rec []byte) error {
	for len(rec) > 0 {
		num, _, n := protowire.ConsumeTag(rec) // checked by metaKind
		v, m := protowire.ConsumeBytes(rec[n:])
		rec = rec[n+m:]
		if num == 1 {
			d.t.Version = string(v)
			continue
		}
		if name, val, err := attribute(v); err == nil && string(name) == "schema" {
			d.t.SchemaAttr = string(val.s)
		}
	}
	return nil
}

// fieldError describes a field that is not what the schema says.
func fieldError(num protowire.Number, what string) error {
	return fmt.Errorf("field %d: %s", num, what)
}

// fields calls f with each field of a message: the number of a varint, or the
// bytes of a length-delimited field. Other fields are skipped.
func fields(b []byte, f func(num protowire.Number, typ protowire.Type, v uint64, s []byte) error) error {
	for at := 0; at < len(b); {
		num, typ, n := protowire.ConsumeTag(b[at:])
		if n < 0 {
			return fmt.Errorf("a malformed field key at its byte %d", at)
		}
		var v uint64
		var s []byte
		var m int
		switch typ {
		case protowire.VarintType:
			v, m = protowire.ConsumeVarint(b[at+n:])
		case protowire.BytesType:
			s, m = protowire.ConsumeBytes(b[at+n:])
		case protowire.Fixed32Type:
			var x uint32
			x, m = protowire.ConsumeFixed32(b[at+n:])
			v = uint64(x)
		case protowire.Fixed64Type:
			v, m = protowire.ConsumeFixed64(b[at+n:])
		default:
			m = protowire.ConsumeFieldValue(num, typ, b[at+n:])
		}
		if m < 0 {
			return fmt.Errorf("field %d at its byte %d does not end", num, at)
		}
		at += n + m
		if err := f(num, typ, v, s); err != nil {
			return err
		}
	}
	return nil
}

// nodeG4 decodes a node of G4.
func (d *decoder) nodeG4(rec []byte, n *Node) error {
	var inputs []byte
	err := fields(rec, func(num protowire.Number, typ protowire.Type, v uint64, s []byte) error {
		want := protowire.VarintType
		switch num {
		case 2, 8, 9, 10:
			want = protowire.BytesType
		case 4, 5:
			want = typ // packed or not
		}
		if num <= 10 && typ != want {
			return fieldError(num, fmt.Sprintf("wire type %d, not %d", typ, want))
		}
		switch num {
		case 1:
			n.ID = v
		case 2:
			n.Name = d.name(s)
		case 3:
			n.Type = NodeType(v)
		case 4:
			return d.deps(&n.CtrlDeps, num, typ, v, s)
		case 5:
			return d.deps(&n.DataDeps, num, typ, v, s)
		case 6:
			n.StartMicros = int64(v)
		case 7:
			return n.micros(v)
		case 8:
			inputs = s
		case 10:
			return d.attr(s, n)
		case 11:
			if typ == protowire.BytesType {
				return fieldError(num, "an attribute where generations G2 and G3 have it (July, August 2023)")
			}
		}
		return nil
	})
	if err == nil && n.Type == Metadata && inputs != nil {
		err = fields(inputs, func(num protowire.Number, _ protowire.Type, _ uint64, s []byte) error {
			if num == 1 {
				n.Inputs = string(s)
			}
			return nil
		})
	}
	return err
}

// deps appends dependencies, packed or single.
func (d *decoder) deps(to *[]uint64, num protowire.Number, typ protowire.Type, v uint64, s []byte) error {
	switch typ {
	case protowire.VarintType:
		*to = append(*to, v)
		d.edges++
		return nil
	case protowire.BytesType:
	default:
		return fieldError(num, "neither a number nor packed numbers")
	}
	count := 0
	for _, c := range s {
		if c < 0x80 {
			count++
		}
	}
	if d.edges += count; d.edges > maxDeps {
		return fieldError(num, fmt.Sprintf("more than %d dependencies in the file", maxDeps))
	}
	if cap(d.ids)-len(d.ids) < count {
		d.ids = make([]uint64, 0, max(count, 4096))
	}
	from := len(d.ids)
	for len(s) > 0 {
		x, n := protowire.ConsumeVarint(s)
		if n < 0 {
			return fieldError(num, "packed numbers that do not end")
		}
		d.ids = append(d.ids, x)
		s = s[n:]
	}
	part := d.ids[from:len(d.ids):len(d.ids)]
	if *to == nil {
		*to = part
	} else {
		*to = append(*to, part...)
	}
	return nil
}

// name returns s as a string, one copy for equal names.
func (d *decoder) name(s []byte) string {
	if v, ok := d.names[string(s)]; ok {
		return v
	}
	v := string(s)
	d.names[v] = v
	return v
}

// value is what an attribute holds.
type value struct {
	i      int64
	f      float64
	s      []byte // text, or the bytes of a list message
	isInt  bool
	isReal bool
	isText bool
	isList bool
	large  bool // an unsigned number that int64 does not hold
}

// attribute splits an AttributeProto: name and value.
func attribute(b []byte) (name []byte, v value, err error) {
	err = fields(b, func(num protowire.Number, typ protowire.Type, x uint64, s []byte) error {
		switch {
		case num == 1 && typ == protowire.BytesType:
			name = s
		case num == 2 && typ == protowire.BytesType: // doc_string
		case num < 3 || num > 32:
			return fieldError(num, "not a field of an attribute")
		case num == 29 || num == 31:
			v.s, v.isText = s, true
		case num%2 == 0:
			v.s, v.isList = s, true
		case num == 3:
			v.f, v.isReal = math.Float64frombits(x), true
		case num == 5:
			v.f, v.isReal = float64(math.Float32frombits(uint32(x))), true
		case num == 15 || num == 17:
			v.i, v.isInt = protowire.DecodeZigZag(x), true
		case num == 23: // sfixed32
			v.i, v.isInt = int64(int32(x)), true
		default:
			v.i, v.isInt = int64(x), true
			v.large = v.i < 0 && (num == 13 || num == 21)
		}
		return nil
	})
	return name, v, err
}
