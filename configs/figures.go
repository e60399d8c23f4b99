package configs

import (
	"fmt"
	"slices"
	"strings"

	"github.com/weft-sim/weft/configs/catalog"
	"github.com/weft-sim/weft/configs/strict"
)

// setFigures puts the scenario's figures in place of the catalogue's. It comes
// after a system's own file and before the machine is made.
func (s *Scenario) setFigures(cat *catalog.Catalog) error {
	at := s.tree.Child("figures")
	var errs []error
	for i, f := range s.Figures {
		if err := cat.Set(f.Path, string(f.Value)); err != nil {
			e := &strict.Error{Path: "figures." + f.Path, Msg: strings.TrimPrefix(err.Error(), "catalogue: set "+f.Path+": ")}
			if i < len(at.Items) {
				e.Pos = at.Items[i].Pos
			}
			errs = append(errs, e)
		}
	}
	return strict.Join(errs...)
}

// idleFigures warns of figures that were set and not used.
func (s *Scenario) idleFigures(used []catalog.Provenance) []string {
	var out []string
	for _, f := range s.Figures {
		if !slices.ContainsFunc(used, func(p catalog.Provenance) bool { return p.Path == f.Path }) {
			out = append(out, fmt.Sprintf("figure %s was set to %s and changes nothing: this machine and this work do not use it", f.Path, f.Value))
		}
	}
	return out
}
