package main

import (
	"errors"
	"strings"

	"github.com/weft-sim/weft/configs"
	"github.com/weft-sim/weft/configs/strict"
)

// spoken turns the places of errors and settings into words that the user typed. The loader knows scenarios alone: a flag reaches it as an
// override, and a trace as a scenario that nobody wrote.
type spoken struct {
	trace string            // the trace that was named in place of a scenario
	flags map[string]string // "--set system=nosuch" to "--system nosuch"
}

// madeFor is the name of the scenario of a trace, which nobody sees.
const madeFor = "scenario made for "

// place returns how a place is called for people.
func (s *spoken) place(origin string) (string, bool) {
	if flag, ok := s.flags[origin]; ok {
		return flag, true
	}
	if strings.HasPrefix(origin, madeFor) {
		return "trace " + s.trace, true
	}
	if origin == benchSource {
		return "weft bench", true
	}
	return origin, false
}

// err mends an error.
func (s *spoken) err(err error) error {
	var all strict.Errors
	var one *strict.Error
	switch {
	case errors.As(err, &all):
		for _, e := range all {
			s.strict(e)
		}
	case errors.As(err, &one):
		s.strict(one)
	}
	return err
}

func (s *spoken) strict(e *strict.Error) {
	if e.Pos.Source == nil {
		return
	}
	if strings.HasPrefix(e.Pos.Source.Name, "--set ") && e.Msg == "read a mapping, expected a list" && e.Hint == "" {
		e.Hint = "a list is replaced as a whole: its entries cannot be set one by one"
	}
	if s.trace != "" { // there is no file to write into
		e.Hint = strings.Replace(e.Hint, "write nodes: ", "write --nodes ", 1)
	}
	if name, ok := s.place(e.Pos.Source.Name); ok {
		e.Pos = strict.Pos{Source: &strict.Source{Name: name, Loose: true}}
	}
}

// settings mends where settings come from.
func (s *spoken) settings(all []configs.Setting) []configs.Setting {
	for i := range all {
		name, ok := s.place(all[i].Origin)
		if at, found := strings.CutPrefix(all[i].Origin, madeFor); found && at != "" {
			name, ok = made[all[i].Path], true
			if name == "" {
				name = "the trace"
			}
		}
		if ok {
			all[i].Origin = name
		}
	}
	return all
}

// made says why the scenario of a trace has what the trace does not say.
var made = map[string]string{
	"system": "default for traces",
	"nodes":  "as many as the ranks need",
}
