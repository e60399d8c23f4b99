package catalog

import (
	"fmt"
	"strings"

	"github.com/weft-sim/weft/sim"
	"github.com/weft-sim/weft/workloads/compute"
)

// DTypes are the data types for which a GPU can have a peak, widest first.
var DTypes = []string{"fp32", "tf32", "bf16", "fp16", "fp8", "fp4"}

// Of returns the dense peak of a data type of [DTypes]. It is not known if the
// part has no such rate, or if there is no such type.
func (p *Peaks) Of(dtype string) Figure[sim.FlopRate] {
	switch dtype {
	case "fp32":
		return p.FP32
	case "tf32":
		return p.TF32
	case "bf16":
		return p.BF16
	case "fp16":
		return p.FP16
	case "fp8":
		return p.FP8
	case "fp4":
		return p.FP4
	}
	return Figure[sim.FlopRate]{}
}

// Roofline returns the bound of kernels of a data type on the GPU, and the
// figures it is made of. A type that the GPU has no rate for is an error that
// names those it has.
func (g *GPU) Roofline(dtype string) (compute.Roofline, []Provenance, error) {
	peak := g.Peak.Of(dtype)
	if !peak.Known() {
		var has []string
		for _, d := range DTypes {
			if g.Peak.Of(d).Known() {
				has = append(has, d)
			}
		}
		return compute.Roofline{}, nil, fmt.Errorf("catalogue: GPU %s has no rate for %q; expected one of %s", g.Name, dtype, strings.Join(has, ", "))
	}
	r := &resolver{seen: map[string]bool{}}
	line := compute.Roofline{
		Peak:             use(r, peak),
		FLOPEfficiency:   float64(use(r, g.FLOPEfficiency)),
		Memory:           use(r, g.MemoryRate),
		MemoryEfficiency: float64(use(r, g.MemoryEfficiency)),
		Launch:           use(r, g.Launch),
	}
	return line, r.used, line.Validate()
}
