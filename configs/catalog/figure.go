package catalog

import (
	"fmt"
)

// Status says how a figure came to be known.
type Status uint8

// The statuses, from the firmest down. The zero Status is none, which no
// loaded figure has.
const (
	Datasheet Status = iota + 1 // a vendor's or a standard's own figure
	Measured                    // somebody measured it and published it
	Derived                     // arithmetic on other figures
	Assumed                     // nobody published it; the note gives the reason
)

var statusNames = [...]string{"", "datasheet", "measured", "derived", "assumed"}

// String returns the status as the files spell it.
func (s Status) String() string { return statusNames[s] }

// MarshalText returns the status as the files spell it.
func (s Status) MarshalText() ([]byte, error) { return []byte(statusNames[s]), nil }

// UnmarshalText reads a status.
func (s *Status) UnmarshalText(b []byte) error {
	for i, name := range statusNames {
		if i > 0 && name == string(b) {
			*s = Status(i)
			return nil
		}
	}
	return fmt.Errorf("read %q, expected datasheet, measured, derived or assumed", b)
}

// Origin says where a figure comes from.
type Origin struct {
	Source string `yaml:"source"` // a key of the sources table
	Status Status `yaml:"status"`
	Note   string `yaml:"note"` // what the figure means, how it was derived, why it was assumed
}

// Figure is a quantity from the world together with where it comes from. In a
// file it is written as a bare quantity, which then takes the origin of its
// record, or as {value, source, status, note}. The quantity itself cannot be
// set from outside, so the ways to a Figure are the files and [NewFigure], and
// both insist on source and status. The zero Figure is "not known".
type Figure[T Quantity] struct {
	Amount amount[T] `yaml:"value" weft:"required"`
	Source string    `yaml:"source"`
	Status Status    `yaml:"status"`
	Note   string    `yaml:"note"`

	path string // e.g. "links.nvlink4.latency"
}

// amount is a quantity and its spelling.
type amount[T Quantity] struct {
	value T
	text  string
}

// UnmarshalText reads a quantity.
func (a *amount[T]) UnmarshalText(b []byte) error {
	v, err := parse[T](string(b))
	if err != nil {
		return err
	}
	*a = amount[T]{v, string(b)}
	return nil
}

// NewFigure returns a figure made in code; path names it in reports. An
// origin without source or status, or an assumption without a reason, is an
// error.
func NewFigure[T Quantity](path, text string, o Origin) (Figure[T], error) {
	f := Figure[T]{Source: o.Source, Status: o.Status, Note: o.Note}
	err := f.Amount.UnmarshalText([]byte(text))
	if err == nil {
		err = f.settle(path, Origin{})
	}
	if err != nil {
		return Figure[T]{}, fmt.Errorf("figure %s: %w", path, err)
	}
	return f, nil
}

// Short says that a figure may be written as a bare quantity.
func (f *Figure[T]) Short() any { return &f.Amount }

// Known reports whether there is a figure at all.
func (f Figure[T]) Known() bool { return f.Amount.text != "" }

// Value returns the quantity, zero if it is not known.
func (f Figure[T]) Value() T { return f.Amount.value }

// String returns the figure as its file spells it.
func (f Figure[T]) String() string { return f.Amount.text }

// Provenance returns the figure as a line of a report.
func (f Figure[T]) Provenance() Provenance {
	return Provenance{Path: f.path, Value: f.Amount.text, Source: f.Source, Status: f.Status, Note: f.Note}
}

// settle names the figure and gives it the origin of its record, unless it
// has one of its own. A source without a status, or the reverse, is not
// completed from the record: half an origin is a slip.
func (f *Figure[T]) settle(path string, record Origin) error {
	f.path = path
	if !f.Known() {
		return nil
	}
	if f.Source == "" && f.Status == 0 {
		f.Source, f.Status = record.Source, record.Status
		if f.Status == Assumed && f.Note == "" {
			f.Note = record.Note
		}
	}
	switch {
	case f.Source == "":
		return fmt.Errorf("%s has no source, expected one beside it or in the record's origin", f)
	case f.Status == 0:
		return fmt.Errorf("%s has no status, expected datasheet, measured, derived or assumed beside it or in the record's origin", f)
	case f.Status == Assumed && f.Note == "":
		return fmt.Errorf("%s is assumed without a reason, expected a note", f)
	}
	return nil
}

func (f *Figure[T]) sourceID() string { return f.Source }

// override puts a quantity of the user's in place of the catalogue's.
func (f *Figure[T]) override(text string) error {
	if err := f.Amount.UnmarshalText([]byte(text)); err != nil {
		return err
	}
	f.Source, f.Status, f.Note = userSource, Assumed, "set for this run"
	return nil
}

// userSource is the key of the source of figures that the user sets.
const userSource = "user"

// anyFigure is a Figure of whatever quantity, for the walk over a record.
type anyFigure interface {
	Known() bool
	settle(path string, record Origin) error
	sourceID() string
	override(text string) error
	Provenance() Provenance
}

// Provenance is one figure that went into an answer.
type Provenance struct {
	Path   string `json:"path"` // e.g. "links.nvlink4.latency"
	Value  string `json:"value"`
	Source string `json:"source"` // a key of the sources table
	Status Status `json:"status"`
	Note   string `json:"note,omitempty"`
}
