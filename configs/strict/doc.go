// Package strict reads YAML into structs and refuses everything that it does
// not understand: unknown, repeated and missing keys, wrong types, numbers
// without their unit, values out of range. All errors of a file come at once,
// sorted by line, each with file, line, column, the line itself with a caret,
// what was read, what was expected and the nearest valid spelling.
//
// [Parse] turns bytes into a tree of [Node], each of which knows its [Pos];
// [Decode] fills a struct from a Node and returns [Errors]. A struct is filled
// over its defaults: a key that is absent leaves the field as it was.
//
// # Tags and methods
//
// The key of a field is its yaml tag; a field without one, or with "-", is
// not read. A weft tag adds rules, separated by commas:
//
//	required      the key must be there; a text must not be empty
//	enum=a|b|c    the text must be one of these
//	min=1 max=8   bounds of a number, of a quantity in its base unit, or of the
//	              length of a list
//	each=1        the least that a number in a list may be
//	positive      a quantity (time, bytes, rate) above zero
//	doc=...       one sentence for the JSON schema; last in the tag
//
// A slice of structs in which one string field is tagged `yaml:",key"` is
// written as a mapping, and keeps its order: the key goes into that field. The
// fields of a struct tagged `yaml:",inline"` are read as if they were those of
// the struct around it.
//
// Four methods, none of which needs an import of this package, cover the rest:
//
//   - UnmarshalText (encoding.TextUnmarshaler) reads a scalar: quantities.
//   - Short() any: where a struct may also be written as a scalar, the pointer
//     to which that scalar goes.
//   - Forms() (key string, names []string, pick func(string) any): a struct
//     with several forms; the value of key picks the pointer that the other
//     keys fill.
//   - Check(report func(key, message string)): what tags cannot say, called
//     when the struct and all in it were read without error. The key is a path
//     below the struct ("dims.tp", "ops[2]"); "" is the struct itself.
//
// A field of type *Node takes what stands there unread.
//
// Merge keys (<<) and tags (!x) are refused; anchors and aliases are followed.
package strict
