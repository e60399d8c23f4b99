package configs

import (
	"errors"
	"fmt"

	"github.com/weft-sim/weft/configs/strict"
	"github.com/weft-sim/weft/topology/fault"
)

// Fault is one thing that is wrong with the machine, as package fault reads it:
// "n0.gpu3 down", "leaf0<>spine* x0.5".
type Fault struct{ fault.Fault }

// UnmarshalText reads a fault.
func (f *Fault) UnmarshalText(text []byte) error {
	got, err := fault.Parse(string(text))
	if err != nil {
		return err
	}
	f.Fault = got
	return nil
}

// AddFault adds a fault to those of the scenario, as the flag --fault does.
func (s *Scenario) AddFault(text string) error {
	src := strict.NewSource("--fault", []byte(text))
	src.Loose = true
	n := &strict.Node{Kind: strict.String, Text: text, Pos: strict.Pos{Source: src, Line: 1, Column: 1}}
	var f Fault
	if err := f.UnmarshalText([]byte(text)); err != nil {
		return &strict.Error{Pos: n.Pos, Msg: err.Error()}
	}
	list := &strict.Node{Kind: strict.Sequence, Pos: n.Pos}
	if old := s.tree.Child("faults"); old != nil && old.Kind == strict.Sequence {
		list.Pos, list.Items = old.Pos, append(list.Items, old.Items...)
	}
	list.Items = append(list.Items, n)
	s.Faults = append(s.Faults, f)
	for i, k := range s.tree.Keys {
		if k.Name == "faults" {
			s.tree.Items[i] = list
			return nil
		}
	}
	s.tree.Keys = append(s.tree.Keys, strict.Key{Name: "faults", Pos: n.Pos})
	s.tree.Items = append(s.tree.Items, list)
	return nil
}

// damage puts the faults of the scenario into the machine, one after the
// other, so that an error stands at its fault.
func (s *Scenario) damage(hw *Hardware) error {
	for i := range s.Faults {
		m, err := fault.Apply(hw.Machine, s.Faults[i].Fault)
		if err != nil {
			for inner := errors.Unwrap(err); inner != nil; inner = errors.Unwrap(inner) {
				err = inner // the place says which fault and which machine
			}
			return s.tree.ErrorAt(at("faults", i), fmt.Sprintf("the machine cannot have this fault: %v", err), "")
		}
		hw.Machine, hw.Faulty = m, true
	}
	return nil
}
