package chakra

import (
	"slices"
	"strings"

	"github.com/weft-sim/weft/workloads"
)

// names are the words by which the user may mean a group: its id, and its name
// in reports.
func (g *group) names() []string {
	var out []string
	for _, n := range []string{g.ID, g.name, strings.ToLower(g.Desc)} {
		if n != "" && !slices.Contains(out, n) {
			out = append(out, n)
		}
	}
	return out
}

// dim returns the parallel dimension of a group: what the user says, else what
// its description does.
func (im *importer) dim(g int32) workloads.Dim {
	for _, n := range im.groups[g].names() {
		if d, ok := im.opt.GroupDims[n]; ok {
			return d
		}
	}
	return dimOf(im.groups[g].Desc)
}

// checkDims refuses a dimension for a group that no collective uses.
func (im *importer) checkDims() error {
	if len(im.opt.GroupDims) == 0 {
		return nil
	}
	var known []string
	for i := range im.groups {
		for _, n := range im.groups[i].names() {
			if !slices.Contains(known, n) {
				known = append(known, n)
			}
		}
	}
	asked := make([]string, 0, len(im.opt.GroupDims))
	for n := range im.opt.GroupDims {
		asked = append(asked, n)
	}
	slices.SortFunc(asked, compareNames)
	for _, n := range asked {
		if !slices.Contains(known, n) {
			slices.SortFunc(known, compareNames)
			return importError(im.set.Name, "a dimension for group \""+n+"\", in which the trace has no collective", "one of "+strings.Join(known, ", "), "")
		}
	}
	return nil
}
