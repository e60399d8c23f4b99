package catalog

import (
	"bytes"
	"embed"
	"fmt"
	"slices"
	"sync"

	"github.com/weft-sim/weft/configs/strict"
)

//go:embed *.yaml
var files embed.FS

// Catalog is the hardware that weft knows by name. It is not safe for use by
// several goroutines at once: records are decoded when first asked for.
type Catalog struct {
	sources  family[Source]
	gpus     family[GPU]
	links    family[Link]
	switches family[Switch]
	nics     family[NIC]
	cpus     family[CPU]
	systems  family[System]
	fabrics  family[Fabric]
}

func empty() *Catalog {
	return &Catalog{
		sources:  newFamily[Source]("sources", "source"),
		gpus:     newFamily[GPU]("gpus", "GPU"),
		links:    newFamily[Link]("links", "link"),
		switches: newFamily[Switch]("switches", "switch"),
		nics:     newFamily[NIC]("nics", "NIC"),
		cpus:     newFamily[CPU]("cpus", "CPU"),
		systems:  newFamily[System]("systems", "system"),
		fabrics:  newFamily[Fabric]("fabrics", "fabric"),
	}
}

// families are the top-level keys of a file.
var families = []string{"sources", "gpus", "links", "switches", "nics", "cpus", "systems", "fabrics"}

// family returns the records of a top-level key, or nil.
func (c *Catalog) family(key string) anyFamily {
	switch key {
	case "sources":
		return &c.sources
	case "gpus":
		return &c.gpus
	case "links":
		return &c.links
	case "switches":
		return &c.switches
	case "nics":
		return &c.nics
	case "cpus":
		return &c.cpus
	case "systems":
		return &c.systems
	case "fabrics":
		return &c.fabrics
	}
	return nil
}

// clone returns a catalogue of the same records, none of them decoded.
func (c *Catalog) clone() *Catalog {
	return &Catalog{
		sources: c.sources.clone(), gpus: c.gpus.clone(), links: c.links.clone(), switches: c.switches.clone(),
		nics: c.nics.clone(), cpus: c.cpus.clone(), systems: c.systems.clone(), fabrics: c.fabrics.clone(),
	}
}

var embedded = sync.OnceValues(func() (*Catalog, error) {
	c := empty()
	list, err := files.ReadDir(".")
	if err != nil {
		return nil, fmt.Errorf("catalogue: %w", err)
	}
	for _, f := range list {
		name := f.Name()
		b, err := files.ReadFile(name)
		if err != nil {
			return nil, fmt.Errorf("catalogue: %w", err)
		}
		if err := c.index(f.Name(), b); err != nil {
			return nil, err
		}
	}
	return c, nil
})

// Load returns the catalogue that comes with weft. The files are only cut
// into records here, once in a process; each caller gets a Catalog of its own.
func Load() (*Catalog, error) {
	e, err := embedded()
	if err != nil {
		return nil, err
	}
	return e.clone(), nil
}

// deeper is how a line begins that neither a family nor a record begins with.
var deeper = []byte("   ")

// index cuts an embedded file into records without parsing it: a family is a
// key at the margin, a record a key indented by two. A test compares the cut
// with a full parse.
func (c *Catalog) index(name string, b []byte) error {
	file := &text{src: strict.NewSource(name, b), bytes: b}
	key, record := "", ""
	var e entry
	flush := func(to int) error {
		if record == "" {
			return nil
		}
		e.to = to
		f := c.family(key)
		if f == nil {
			return fmt.Errorf("catalogue: %s: unknown family %q", name, key)
		}
		f.add(record, e)
		record = ""
		return nil
	}
	for at, line := 0, 0; at < len(b); line++ {
		end := len(b)
		if n := bytes.IndexByte(b[at:], '\n'); n >= 0 {
			end = at + n + 1
		}
		l := b[at:end]
		if bytes.HasPrefix(l, deeper) {
			at = end
			continue // inside a record, as most lines are
		}
		l = bytes.TrimRight(l, " \n")
		indent := len(l) - len(bytes.TrimLeft(l, " "))
		if len(l) > 0 && l[indent] != '#' && l[len(l)-1] == ':' {
			if err := flush(at); err != nil {
				return err
			}
			word := string(l[indent : len(l)-1])
			if indent == 0 {
				key = word
			} else {
				record, e = word, entry{file: file, from: at, line: line}
			}
		}
		at = end
	}
	return flush(len(b))
}

// Source returns the source of a key. Like all look-ups by name it returns an
// [UnknownError] with the nearest name if there is none.
func (c *Catalog) Source(name string) (*Source, error) { return c.sources.get(c, name) }

// GPU returns the GPU of a name.
func (c *Catalog) GPU(name string) (*GPU, error) { return c.gpus.get(c, name) }

// Link returns the link of a name.
func (c *Catalog) Link(name string) (*Link, error) { return c.links.get(c, name) }

// Switch returns the switch of a name.
func (c *Catalog) Switch(name string) (*Switch, error) { return c.switches.get(c, name) }

// NIC returns the network adapter of a name.
func (c *Catalog) NIC(name string) (*NIC, error) { return c.nics.get(c, name) }

// CPU returns the CPU of a name.
func (c *Catalog) CPU(name string) (*CPU, error) { return c.cpus.get(c, name) }

// System returns the system of a name.
func (c *Catalog) System(name string) (*System, error) { return c.systems.get(c, name) }

// Fabric returns the fabric of a name.
func (c *Catalog) Fabric(name string) (*Fabric, error) { return c.fabrics.get(c, name) }

// Sources returns the names of all sources in the order of their files, as do
// the methods below for their kinds. Nothing is decoded.
func (c *Catalog) Sources() []string { return slices.Clone(c.sources.names) }

// GPUs returns the names of all GPUs.
func (c *Catalog) GPUs() []string { return slices.Clone(c.gpus.names) }

// Links returns the names of all links.
func (c *Catalog) Links() []string { return slices.Clone(c.links.names) }

// Switches returns the names of all switches.
func (c *Catalog) Switches() []string { return slices.Clone(c.switches.names) }

// NICs returns the names of all network adapters.
func (c *Catalog) NICs() []string { return slices.Clone(c.nics.names) }

// CPUs returns the names of all CPUs.
func (c *Catalog) CPUs() []string { return slices.Clone(c.cpus.names) }

// Systems returns the names of all systems.
func (c *Catalog) Systems() []string { return slices.Clone(c.systems.names) }

// Fabrics returns the names of all fabrics.
func (c *Catalog) Fabrics() []string { return slices.Clone(c.fabrics.names) }
