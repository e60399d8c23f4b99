package catalog_test

import (
	"fmt"

	"github.com/weft-sim/weft/configs/catalog"
)

func Example() {
	c, err := catalog.Load()
	if err != nil {
		panic(err)
	}
	m, err := c.Machine("hgx-h100-4", catalog.Options{})
	if err != nil {
		panic(err)
	}
	link := m.Spec.Host.NVLink.Link
	fmt.Printf("%d x %s, %s each way\n", m.GPU.NVLink.Count.Value(), link.Class.Raw, link.Class.Name)
	fmt.Println(link.Class.Note)
	for _, p := range m.Provenance[1:3] {
		fmt.Printf("%s = %s (%s, %s)\n", p.Path, p.Value, p.Status, p.Source)
	}
	// Output:
	// 18 x 25GB/s, nvlink4 each way
	// 26.5625GB/s raw x 0.9412 line code (derived, stas-net) x 0.9412 packet (assumed, weft) x 0.936 calibration (measured, stas-net)
	// systems.hgx-h100-4.nvlink.edges = 0-1:6 0-2:6 0-3:6 1-2:6 1-3:6 2-3:6 (derived, cs-392)
	// links.nvlink4.rate = 25GB/s (datasheet, stas-net)
}

func ExampleCatalog_System() {
	c, err := catalog.Load()
	if err != nil {
		panic(err)
	}
	_, err = c.System("dgx-h10")
	fmt.Println(err)
	// Output:
	// catalogue: no system is called "dgx-h10"; did you mean "dgx-h100"?
}
