package catalog

import (
	"fmt"
	"io"
	"strings"

	"github.com/weft-sim/weft/configs/strict"
)

// Merge lays a file of the catalogue's own form over the catalogue: its
// records are added, or replace those of the same name whole. The name stands
// in error messages. Records of the file are decoded at once, so that all
// errors of the file are reported here together; after an error the catalogue
// is as it was before.
func (c *Catalog) Merge(r io.Reader, name string) error {
	b, err := io.ReadAll(r)
	if err != nil {
		return fmt.Errorf("catalogue: read %s: %w", name, err)
	}
	root, err := strict.Parse(strict.NewSource(name, b), b)
	if err != nil {
		return err
	}
	return c.MergeNode(root)
}

// MergeNode is [Catalog.Merge] for a tree that was already parsed, such as a
// part of a scenario.
func (c *Catalog) MergeNode(root *strict.Node) error {
	want := "one of " + strings.Join(families, ", ")
	if root.Kind != strict.Mapping {
		return strict.Join(root.ErrorAt("", "expected a mapping with keys "+want, ""))
	}
	next := c.clone()
	var errs []error
	for i, key := range root.Keys {
		group, f := root.Items[i], next.family(key.Name)
		switch {
		case f == nil:
			errs = append(errs, &strict.Error{Pos: key.Pos, Msg: fmt.Sprintf("unknown key %q, expected %s", key.Name, want),
				Hint: strict.DidYouMean(key.Name, families)})
		case group.Kind != strict.Mapping:
			errs = append(errs, root.ErrorAt(key.Name, "expected a mapping of names to records", ""))
		default:
			for j, rec := range group.Keys {
				f.add(rec.Name, entry{node: group.Items[j]})
			}
		}
	}
	for i, key := range root.Keys {
		f := next.family(key.Name)
		if f == nil || root.Items[i].Kind != strict.Mapping {
			continue
		}
		for _, rec := range root.Items[i].Keys {
			if err := f.load(next, rec.Name, nil); err != nil {
				errs = append(errs, err)
			}
		}
	}
	if err := strict.Join(errs...); err != nil {
		return err
	}
	*c = *next
	return nil
}

// Set puts a quantity in place of a figure, given by the path that
// [Provenance] shows: "links.nvlink4.calibration". It must come before the
// machine is made. The figure then counts as the user's own assumption.
func (c *Catalog) Set(path, value string) error {
	key, rest, _ := strings.Cut(path, ".")
	f := c.family(key)
	if f == nil {
		return fmt.Errorf("catalogue: set %s: no family %q; %s", path, key, hintOf(key, families))
	}
	var known []string // figures of the record, or records
	for _, name := range f.list() {
		known = append(known, key+"."+name)
		if !strings.HasPrefix(rest, name+".") {
			continue
		}
		var target anyFigure
		known = known[:0]
		err := f.load(c, name, func(fig anyFigure) {
			at := fig.Provenance().Path
			known = append(known, at)
			if at == path {
				target = fig
			}
		})
		if err != nil {
			return err
		}
		if target != nil {
			if err := target.override(value); err != nil {
				return fmt.Errorf("catalogue: set %s: %w", path, err)
			}
			return nil
		}
		break
	}
	return fmt.Errorf("catalogue: set %s: no such figure; %s", path, hintOf(path, known))
}

// hintOf names the nearest of the known words, or all.
func hintOf(word string, known []string) string {
	if h := strict.DidYouMean(word, known); h != "" {
		return h
	}
	return "expected one of " + strings.Join(known, ", ")
}
