package catalog

import (
	"fmt"
	"slices"

	"github.com/weft-sim/weft/configs/strict"
)

// maxLike bounds a chain of records that are like each other.
const maxLike = 8

// own are the keys that a record does not take over from another.
var own = []string{"title", "power", "price", "rent", "spot"}

// inherit completes the tree of a record that is like another: keys that it
// does not have are taken over whole from there. A key that it has replaces
// the other's, with all below it. Beside the tree comes where the keys taken
// over were written, since a bare quantity has the origin of the record that
// it stands in, not of the one that takes it over.
//
// What a thing is called, costs and draws is its own: title, power and prices
// are not taken over, nor is the origin. A record that replaces one of its own
// name may be like that one, and then takes all but the origin.
//
// The keys in have are not asked for, since records on the way here have them.
func (f *family[T]) inherit(name string, e entry, have []string, depth int) (*strict.Node, map[string]Origin, error) {
	node, err := e.tree(have)
	if err != nil {
		return nil, nil, err
	}
	like := node.Child("like")
	if like == nil {
		return node, nil, nil
	}
	base, ok := f.found[like.Text]
	if like.Text == name {
		if ok = e.under != nil; ok {
			base = *e.under
		}
	}
	switch {
	case !ok:
		return nil, nil, strict.Join(node.ErrorAt("like", fmt.Sprintf("no other %s is called %q", f.noun, like.Text), strict.DidYouMean(like.Text, f.names)))
	case depth == maxLike:
		return nil, nil, strict.Join(node.ErrorAt("like", fmt.Sprintf("%d records are each like the next, expected fewer and no circle", maxLike), ""))
	}
	have = slices.Clone(have)
	for _, key := range node.Keys {
		if key.Name != "origin" && key.Name != "like" {
			have = append(have, key.Name)
		}
	}
	if like.Text != name {
		have = append(have, own...)
	}
	from, origins, err := f.inherit(like.Text, base, have, depth+1)
	if err != nil {
		return nil, nil, err
	}
	var origin Origin
	if o := from.Child("origin"); o != nil {
		if err := strict.Decode(o, &origin); err != nil {
			return nil, nil, err
		}
	}
	whole := &strict.Node{Kind: node.Kind, Pos: node.Pos, Keys: append([]strict.Key(nil), node.Keys...), Items: append([]*strict.Node(nil), node.Items...)}
	written := map[string]Origin{}
	for i, key := range from.Keys {
		if key.Name == "origin" || key.Name == "like" || slices.Contains(have, key.Name) {
			continue
		}
		whole.Keys, whole.Items = append(whole.Keys, key), append(whole.Items, from.Items[i])
		written[key.Name] = origin
		if o, ok := origins[key.Name]; ok {
			written[key.Name] = o
		}
	}
	return whole, written, nil
}
