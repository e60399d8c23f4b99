package configs

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/weft-sim/weft/configs/catalog"
	"github.com/weft-sim/weft/sim"
	"github.com/weft-sim/weft/topology"
)

// parts takes single links from the catalogue and remembers every figure that
// it took.
type parts struct {
	cat  *catalog.Catalog
	used []catalog.Provenance
}

// take returns the value of a figure and adds it to what was used.
func take[T catalog.Quantity](p *parts, f catalog.Figure[T]) T {
	if f.Known() && !slices.ContainsFunc(p.used, func(u catalog.Provenance) bool { return u.Path == f.Provenance().Path }) {
		p.used = append(p.used, f.Provenance())
	}
	return f.Value()
}

// wire returns n parallel links, or lanes, as one wire.
func (p *parts) wire(l *catalog.Link, n int) topology.Wire {
	terms := []string{l.Rate.String() + " nominal"}
	factor := func(x float64, what string, from catalog.Provenance) {
		terms = append(terms, fmt.Sprintf("%s %s (%s, %s)", strconv.FormatFloat(x, 'g', 4, 64), what, from.Status, from.Source))
	}
	if take(p, l.Rate); l.Raw.Known() {
		take(p, l.Raw)
		terms[0] = l.Raw.String() + " raw"
		if l.LineCode.Known() {
			factor(float64(take(p, l.LineCode)), "line code", l.LineCode.Provenance())
		}
	}
	if k := l.Packet; k != nil {
		take(p, k.Payload)
		take(p, k.Overhead)
		factor(k.Efficiency(), "packet", k.Payload.Provenance())
	}
	if l.Calibration.Known() {
		factor(float64(take(p, l.Calibration)), "calibration", l.Calibration.Provenance())
	}
	return topology.Wire{
		Rate:    l.Usable() * sim.Rate(n),
		Latency: take(p, l.Latency),
		Class:   topology.Class{Name: l.Name, Raw: l.Nominal(), Note: strings.Join(terms, " x ")},
		Width:   int32(n),
	}
}

// lanes returns a PCIe connection of any generation as one wire. Those that
// the catalogue does not have are scaled from the nearest.
func (p *parts) lanes(gen, n int) (topology.Wire, error) {
	scale, have := 1.0, gen
	switch gen {
	case 1: // 2.5 GT/s with 8b/10b, where generation 3 has 8 GT/s with 128b/130b
		scale, have = 2.5*0.8/(8*128.0/130), 3
	case 2:
		scale, have = 5*0.8/(8*128.0/130), 3
	}
	l, err := p.cat.Link("pcie" + strconv.Itoa(have))
	if err != nil {
		return topology.Wire{}, err
	}
	w := p.wire(l, n)
	w.Rate *= sim.Rate(scale)
	w.Class.Raw *= sim.Rate(scale) * sim.Rate(n)
	w.Class.Name = fmt.Sprintf("pcie%dx%d", gen, n)
	if have != gen {
		w.Class.Note += fmt.Sprintf(" x %.4g (rate of generation %d to 3)", scale, gen)
	}
	return w, nil
}

// generation returns the generation of a PCIe link of the catalogue, 0 of
// another.
func generation(link string) int {
	gen, _ := strconv.Atoi(strings.TrimPrefix(link, "pcie"))
	return gen
}

// assumed says which of the figures are assumed, one sentence for a reason.
func assumed(used []catalog.Provenance) []string {
	var reasons []string
	by := map[string][]string{}
	for _, p := range used {
		if p.Status != catalog.Assumed || p.Source == "user" {
			continue
		}
		if by[p.Note] == nil {
			reasons = append(reasons, p.Note)
		}
		by[p.Note] = append(by[p.Note], p.Path+" = "+p.Value)
	}
	var out []string
	for _, reason := range reasons {
		out = append(out, "assumed: "+strings.Join(by[reason], ", ")+" ("+reason+")")
	}
	return out
}
