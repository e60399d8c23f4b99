package chakra

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
)

// decodeJSON reads the JSON form: {"workload_graph": [node, ...], ...}. Keys
// are matched without case and underscores, since both NodeType and data_deps
// occur.
func (t *Trace) decodeJSON(br *bufio.Reader) error {
	t.Schema = JSON
	g := &guard{r: br}
	dec := json.NewDecoder(g)
	g.dec = dec
	d := &decoder{t: t, names: map[string]string{}}
	defer d.done()
	if err := d.token(dec, json.Delim('{'), "{"); err != nil {
		return err
	}
	found := false
	for dec.More() {
		tok, err := dec.Token()
		if err != nil {
			return d.jsonError(dec, err)
		}
		key, _ := tok.(string)
		if key == "workload_graph" {
			found = true
			cut, err := d.graph(dec)
			if err != nil || cut {
				return err
			}
			continue
		}
		var skip json.RawMessage
		if err := dec.Decode(&skip); err != nil {
			return d.jsonError(dec, err)
		}
		if key == "ngpus" {
			if v, err := strconv.ParseInt(strings.Trim(string(skip), `"`), 10, 64); err == nil {
				t.NGPUs = v
			}
		}
	}
	if !found {
		return readError(t.File, 0, -1, "JSON without a workload_graph", `a Chakra trace: {"workload_graph": [...]}`)
	}
	if err := d.token(dec, json.Delim('}'), "}"); err != nil && t.Truncated == nil {
		return err
	}
	return nil
}

// graph reads the list of nodes; cut says that the file ended in it.
func (d *decoder) graph(dec *json.Decoder) (cut bool, err error) {
	t := d.t
	if err := d.token(dec, json.Delim('['), "a list of nodes"); err != nil {
		return t.Truncated != nil, err
	}
	for dec.More() {
		at := dec.InputOffset()
		var m map[string]json.RawMessage
		if err := dec.Decode(&m); err != nil {
			err = d.jsonError(dec, err)
			return t.Truncated != nil, err
		}
		n := Node{Offset: at, Record: d.count + 1}
		if d.count >= maxNodes {
			return false, readError(t.File, n.Record, at, fmt.Sprintf("more than %d nodes", maxNodes), "fewer, or a part of the trace")
		}
		if err := d.nodeJSON(m, &n); err != nil {
			return false, readError(t.File, n.Record, at, err.Error(), "a node of the JSON form")
		}
		d.keep(n)
	}
	err = d.token(dec, json.Delim(']'), "]")
	return t.Truncated != nil, err
}

// maxValue bounds one value of the JSON form, a node for example.
const maxValue = 16 << 20

// guard fails rather than let the decoder gather one value without end.
type guard struct {
	r    io.Reader
	dec  *json.Decoder
	read int64
}

var errLongValue = errors.New("a value that does not end")

func (g *guard) Read(p []byte) (int, error) {
	if g.read-g.dec.InputOffset() > maxValue {
		return 0, errLongValue
	}
	n, err := g.r.Read(p)
	g.read += int64(n)
	return n, err
}

// token reads a delimiter.
func (d *decoder) token(dec *json.Decoder, want json.Delim, name string) error {
	at := dec.InputOffset()
	tok, err := dec.Token()
	if err != nil {
		return d.jsonError(dec, err)
	}
	if tok != want {
		return readError(d.t.File, 0, at, fmt.Sprintf("%.40q", fmt.Sprint(tok)), name)
	}
	return nil
}

// jsonError turns an error of the decoder into the trace's truncation, when
// nodes were complete, or into an error.
func (d *decoder) jsonError(dec *json.Decoder, err error) error {
	t := d.t
	e := readError(t.File, d.count+1, dec.InputOffset(), "malformed JSON", "a node")
	var syntax *json.SyntaxError
	switch {
	case errors.Is(err, errLongValue):
		e.Read, e.Want = fmt.Sprintf("a value that does not end within %d MiB", maxValue>>20), "shorter values"
	case errors.Is(err, errTooLarge):
		e.Read, e.Want = "more data than the bound on the decompressed size", "a smaller file, or a larger bound (MaxBytes)"
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF),
		errors.As(err, &syntax) && strings.Contains(syntax.Error(), "unexpected end"):
		e.Read = "the end of the file inside the JSON"
		if d.count > 0 {
			e.Hint = complete(d.count)
			t.Truncated = e
			return nil
		}
	default:
		e.Err = err
	}
	return e
}

// nodeJSON decodes one node.
func (d *decoder) nodeJSON(m map[string]json.RawMessage, n *Node) error {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys) // so that messages and counts do not depend on map order
	for _, key := range keys {
		raw := m[key]
		if bytes.Equal(raw, []byte("null")) {
			continue
		}
		var err error
		switch k := strings.ToLower(strings.ReplaceAll(key, "_", "")); k {
		case "id":
			err = jsonID(raw, &n.ID)
		case "name":
			var s string
			err = json.Unmarshal(raw, &s)
			n.Name = d.name([]byte(s))
		case "nodetype", "type":
			var v int64
			v, err = jsonInt(raw)
			n.Type = NodeType(v)
			if int64(n.Type) != v && err == nil {
				err = fmt.Errorf("%d, which no enumeration holds", v)
			}
		case "ctrldeps":
			n.CtrlDeps, err = jsonIDs(raw)
		case "datadeps":
			n.DataDeps, err = jsonIDs(raw)
		case "runtime", "durationmicros":
			n.Duration, err = jsonMicros(raw)
		case "inputs":
			if !bytes.HasPrefix(raw, []byte("[")) {
				n.Inputs = string(raw)
			}
		default:
			err = d.set(n, jsonAttr(k, key), jsonValue(raw))
		}
		if err != nil {
			return fmt.Errorf("key %q: %w", key, err)
		}
	}
	if n.Type != Metadata {
		n.Inputs = ""
	}
	return nil
}

// jsonAttr returns the attribute that a folded key names.
func jsonAttr(folded, key string) []byte {
	for _, a := range []string{"comm_type", "comm_size", "comm_src", "comm_dst", "comm_tag", "num_ops",
		"tensor_size", "stream", "tid", "is_cpu_op", "pg_name", "involved_dim"} {
		if strings.ReplaceAll(a, "_", "") == folded {
			return []byte(a)
		}
	}
	return []byte(key)
}

// jsonValue reads a scalar or a list of truths.
func jsonValue(raw json.RawMessage) value {
	switch s := string(raw); {
	case s == "true":
		return value{i: 1, isInt: true}
	case s == "false":
		return value{isInt: true}
	case strings.HasPrefix(s, `"`):
		var text string
		_ = json.Unmarshal(raw, &text) // the decoder has checked the syntax
		return value{s: []byte(text), isText: true}
	case strings.HasPrefix(s, "["):
		var list []any
		_ = json.Unmarshal(raw, &list)
		var b []byte
		for _, x := range list {
			bit := byte(1)
			if x == false || x == float64(0) {
				bit = 0
			}
			b = append(b, 1<<3, bit) // the list message of protobuf
		}
		return value{s: b, isList: true}
	default:
		if v, err := strconv.ParseInt(s, 10, 64); err == nil {
			return value{i: v, isInt: true}
		}
		f, err := strconv.ParseFloat(s, 64)
		return value{f: f, isReal: err == nil}
	}
}

// jsonInt reads a whole number that may be written 5, 5.0 or "5".
func jsonInt(raw json.RawMessage) (int64, error) {
	v := jsonValue(raw)
	if v.isText {
		v = jsonValue(v.s)
	}
	return v.integer()
}

func jsonID(raw json.RawMessage, id *uint64) error {
	s := strings.Trim(string(raw), `"`)
	v, err := strconv.ParseUint(s, 10, 64)
	if err != nil {
		return fmt.Errorf("%.40q, which is no id (a whole number)", s)
	}
	*id = v
	return nil
}

func jsonIDs(raw json.RawMessage) ([]uint64, error) {
	var list []json.RawMessage
	if err := json.Unmarshal(raw, &list); err != nil {
		return nil, fmt.Errorf("%.40q, which is no list of ids", raw)
	}
	ids := make([]uint64, len(list))
	for i, r := range list {
		if err := jsonID(r, &ids[i]); err != nil {
			return nil, err
		}
	}
	return ids, nil
}
