package catalog

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/weft-sim/weft/sim"
)

// FabricPlugin is what a network costs NCCL's collectives beyond its wires,
// compared with NCCL's own transport on InfiniBand, and what comes with it.
type FabricPlugin struct {
	Base     Figure[sim.Time]  `yaml:"base"`     // once for each collective
	Step     Figure[sim.Time]  `yaml:"step"`     // each crossing
	Post     Figure[sim.Time]  `yaml:"post"`     // each chunk that a connection sends, before the next
	Eager    Figure[sim.Bytes] `yaml:"eager"`    // the largest chunk that leaves without post
	Rate     Figure[Ratio]     `yaml:"rate"`     // part of the wires' rate that it reaches; not known is all
	Settings Figure[Settings]  `yaml:"settings"` // of NCCL, by the plugin itself or its provider's guide
	Grouped  Figure[Flag]      `yaml:"grouped"`  // it shows the NICs next to a GPU as one
}

// Settings are environment variables with their values, written
// "NCCL_ALGO=Ring NCCL_PROTO=Simple".
type Settings []string

var setting = regexp.MustCompile(`^[A-Z][A-Z0-9_]*=\S+$`)

func parseSettings(text string) (Settings, error) {
	all := Settings(strings.Fields(text))
	for _, s := range all {
		if !setting.MatchString(s) {
			return nil, expected(s, "a variable and its value such as NCCL_PROTO=Simple")
		}
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("read nothing, expected variables and their values such as NCCL_PROTO=Simple")
	}
	return all, nil
}

// Plugin is a [FabricPlugin] in figures alone. The zero Plugin is NCCL's own
// transport on InfiniBand.
type Plugin struct {
	Base, Step, Post sim.Time
	Eager            sim.Bytes
	Rate             float64 // 0 is all of the wires'
	Settings         []string
	Grouped          bool
}

func (r *resolver) plugin(p *FabricPlugin) Plugin {
	if p == nil {
		return Plugin{}
	}
	return Plugin{Base: use(r, p.Base), Step: use(r, p.Step), Post: use(r, p.Post), Eager: use(r, p.Eager), Rate: float64(use(r, p.Rate)), Settings: use(r, p.Settings), Grouped: bool(use(r, p.Grouped))}
}
