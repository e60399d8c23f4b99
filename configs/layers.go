package configs

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/viper"

	"github.com/weft-sim/weft/configs/strict"
)

// delim separates the keys of a path inside viper. No YAML key that a person
// writes holds it, so that names with dots stay whole.
const delim = "\x1f"

// setting is a value of one layer, with the keys that lead to it.
type setting struct {
	keys []strict.Key
	node *strict.Node
	rank int // of its layer; higher wins
	seq  int // place in the merged tree
}

// layers merges what the defaults, the file, the environment and the flags
// say. Viper decides which value of a path wins. It folds keys to lower case,
// so they are given to it with their capitals escaped, and the values it holds
// are settings, which keep their true keys and their places.
type layers struct {
	v    *viper.Viper
	seqs map[string]int
	rank int
}

func newLayers() *layers {
	return &layers{v: viper.NewWithOptions(viper.KeyDelimiter(delim)), seqs: map[string]int{}}
}

// fold makes a key that survives lower-casing: "Ab" becomes "^ab".
func fold(key string) string {
	var b strings.Builder
	for _, r := range key {
		low := strings.ToLower(string(r))
		if r == '^' || low != string(r) {
			b.WriteByte('^')
		}
		if low == string(r) || strings.ToUpper(low) == string(r) {
			b.WriteString(low)
		} else { // a letter whose case does not come back
			fmt.Fprintf(&b, "%x;", r)
		}
	}
	return b.String()
}

func foldPath(keys []strict.Key) string {
	parts := make([]string, len(keys))
	for i, k := range keys {
		parts[i] = fold(k.Name)
	}
	return strings.Join(parts, delim)
}

// flatten lists the leaves below n: scalars, lists and empty mappings.
func flatten(n *strict.Node, keys []strict.Key, leaf func(keys []strict.Key, n *strict.Node)) {
	if n.Kind != strict.Mapping || len(n.Items) == 0 {
		if len(keys) > 0 {
			leaf(keys, n)
		}
		return
	}
	for i, k := range n.Keys {
		flatten(n.Items[i], append(slices.Clip(keys), k), leaf)
	}
}

// setting makes a setting. Its place in the tree is that of the first mention
// of its path.
func (l *layers) setting(keys []strict.Key, n *strict.Node, rank int) (string, *setting) {
	path := foldPath(keys)
	seq, ok := l.seqs[path]
	if !ok {
		seq = len(l.seqs)
		l.seqs[path] = seq
	}
	return path, &setting{keys, n, rank, seq}
}

// defaults adds the lowest layer, which may come after the others so that the
// file's order is kept.
func (l *layers) defaults(n *strict.Node) {
	flatten(n, nil, func(keys []strict.Key, n *strict.Node) {
		path, s := l.setting(keys, n, 0)
		l.v.SetDefault(path, s)
	})
}

// file adds the scenario's own layer.
func (l *layers) file(n *strict.Node) error {
	l.rank++
	nested := map[string]any{}
	flatten(n, nil, func(keys []strict.Key, n *strict.Node) {
		path, s := l.setting(keys, n, l.rank)
		m := nested
		parts := strings.Split(path, delim)
		for _, p := range parts[:len(parts)-1] {
			sub, ok := m[p].(map[string]any)
			if !ok {
				sub = map[string]any{}
				m[p] = sub
			}
			m = sub
		}
		m[parts[len(parts)-1]] = s
	})
	return l.v.MergeConfigMap(nested)
}

// set adds a value over all that came before. A mapping goes into the one
// that is there, as everywhere; scalars and lists replace.
func (l *layers) set(keys []strict.Key, n *strict.Node) {
	l.rank++
	flatten(n, keys, func(keys []strict.Key, n *strict.Node) {
		path, s := l.setting(keys, n, l.rank)
		l.v.Set(path, s)
	})
}

// merged returns the tree of the values that won.
func (l *layers) merged(root strict.Pos) *strict.Node {
	var all []*setting
	for _, k := range l.v.AllKeys() {
		if s, ok := l.v.Get(k).(*setting); ok {
			all = append(all, s)
		}
	}
	// The strongest first, so that a weaker value at a path above or below
	// finds the place taken.
	slices.SortFunc(all, func(a, b *setting) int { return cmp.Or(b.rank-a.rank, a.seq-b.seq) })
	taken := map[string]bool{} // paths at which a value stands
	above := map[string]bool{} // paths below which one does
	var kept []*setting
	for _, s := range all {
		path, blocked := "", false
		for i, k := range s.keys {
			path = path + delim + fold(k.Name)
			blocked = blocked || i < len(s.keys)-1 && taken[path]
		}
		if blocked || above[path] {
			continue
		}
		empty := s.node.Kind == strict.Mapping && len(s.node.Items) == 0
		taken[path] = !empty
		up := ""
		for _, k := range s.keys[:len(s.keys)-1] {
			up = up + delim + fold(k.Name)
			above[up] = true
		}
		kept = append(kept, s)
	}
	slices.SortFunc(kept, func(a, b *setting) int { return a.seq - b.seq })
	out := &strict.Node{Kind: strict.Mapping, Pos: root}
	for _, s := range kept {
		insert(out, s.keys, s.node)
	}
	return out
}

// insert puts a value at a path of the tree.
func insert(at *strict.Node, keys []strict.Key, n *strict.Node) {
	for i, k := range keys {
		next := at.Child(k.Name)
		if next == nil {
			if i == len(keys)-1 {
				next = n
			} else {
				next = &strict.Node{Kind: strict.Mapping, Pos: keys[i+1].Pos}
			}
			at.Keys = append(at.Keys, k)
			at.Items = append(at.Items, next)
		} else if i < len(keys)-1 && next.Kind == strict.Mapping && len(next.Items) == 0 {
			// An empty mapping of a weaker layer: it may be shared, so it is replaced.
			next = &strict.Node{Kind: strict.Mapping, Pos: next.Pos}
			at.Items[slices.IndexFunc(at.Keys, func(h strict.Key) bool { return h.Name == k.Name })] = next
		}
		at = next
	}
}
