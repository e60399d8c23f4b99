package configs

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"path/filepath"
	"strings"

	"github.com/weft-sim/weft/configs/catalog"
	"github.com/weft-sim/weft/configs/strict"
	"github.com/weft-sim/weft/topology/discover"
	"github.com/weft-sim/weft/topology/discover/netfile"
)

// IsMachine reports whether content describes a machine by itself: what a
// tool prints about a server, a network file, or a catalogue file.
func IsMachine(content []byte) bool {
	return discover.Detect(content) != discover.None || netfile.Detect(content) != netfile.None || catalogueFile(content) != nil
}

// IsScenario reports whether content is, or tries to be, a scenario: a mapping
// with one of the keys that every scenario has.
func IsScenario(content []byte) bool {
	if len(content) > 1<<20 {
		return false
	}
	root, _ := strict.Parse(strict.NewSource("", content), content)
	return root != nil && (root.Child("workload") != nil || root.Child("system") != nil || root.Child("name") != nil)
}

// catalogueFile returns the tree of a file of the catalogue's form, nil for
// any other.
func catalogueFile(content []byte) *strict.Node {
	if len(content) > 1<<20 {
		return nil
	}
	root, _ := strict.Parse(strict.NewSource("", content), content)
	if root == nil || root.Child("systems") == nil {
		return nil
	}
	return root
}

// file makes the hardware of a file, found out by its content.
func (s *Scenario) file(cat *catalog.Catalog, name string) (*Hardware, error) {
	shown, content, err := s.read(cat, name)
	if err != nil {
		return nil, err
	}
	if discover.Detect(content) != discover.None || strings.HasPrefix(strings.TrimSpace(string(content[:min(len(content), 64)])), "<") {
		d, err := discover.Read(shown, content)
		if err != nil {
			return nil, err
		}
		if err := s.setFigures(cat); err != nil {
			return nil, err
		}
		return s.dump(cat, d)
	}
	if netfile.Detect(content) != netfile.None {
		n, err := netfile.Read(shown, content, netfile.Assume{})
		if err != nil {
			return nil, err
		}
		if err := s.setFigures(cat); err != nil {
			return nil, err
		}
		return s.net(cat, n)
	}
	if ext := path.Ext(name); catalogueFile(content) != nil || ext == ".yaml" || ext == ".yml" {
		return s.catalogueFile(cat, shown, content)
	}
	_, err = netfile.Read(shown, content, netfile.Assume{})
	var e *netfile.Error
	if errors.As(err, &e) && e.Err == netfile.ErrUnrecognised {
		e.Want = "what nvidia-smi topo -m, nvidia-smi -q -x, NCCL_TOPO_DUMP_FILE or lstopo print, or " + e.Want
	}
	return nil, err
}

// read returns the file of the system.
func (s *Scenario) read(cat *catalog.Catalog, name string) (shown string, content []byte, err error) {
	if s.content != nil {
		return name, s.content, nil
	}
	fsys, shown := s.open("system", name)
	if shown, content, err = readFile(fsys, shown); err == nil {
		return shown, content, nil
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return "", nil, s.tree.ErrorAt("system", fmt.Sprintf("read machine: %v", err), "")
	}
	if strings.ContainsAny(name, `/\.`) {
		base := strings.TrimSuffix(path.Base(filepath.ToSlash(name)), path.Ext(name))
		return "", nil, s.tree.ErrorAt("system", fmt.Sprintf("read machine: %v", err), strict.DidYouMean(base, cat.Systems()))
	}
	_, err = cat.System(name)
	return "", nil, s.hardwareError(err)
}

// readFile reads a file that is not larger than a machine's can be.
func readFile(fsys fs.FS, name string) (string, []byte, error) {
	f, err := fsys.Open(name)
	if err != nil {
		return name, nil, err
	}
	defer f.Close()
	content, err := io.ReadAll(io.LimitReader(f, discover.MaxSize+1))
	return name, content, err
}

// catalogueFile lays a catalogue file over the catalogue and makes the
// hardware of its system.
func (s *Scenario) catalogueFile(cat *catalog.Catalog, name string, content []byte) (*Hardware, error) {
	root, err := strict.Parse(strict.NewSource(name, content), content)
	if err != nil {
		return nil, err
	}
	systems := root.Child("systems")
	if systems == nil || len(systems.Keys) != 1 {
		return nil, root.ErrorAt("systems", "expected one system under the key systems, as the catalogue has them", "")
	}
	if err := cat.MergeNode(root); err != nil {
		return nil, err
	}
	return s.named(cat, systems.Keys[0].Name)
}
