package catalog

import (
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-sim/weft/configs/strict"
	"github.com/weft-sim/weft/sim"
)

func load(t testing.TB) *Catalog {
	t.Helper()
	c, err := Load()
	require.NoError(t, err)
	return c
}

// figures visits every figure of every record.
func figures(t *testing.T, c *Catalog, visit func(anyFigure)) {
	t.Helper()
	for _, key := range families {
		for _, name := range c.family(key).list() {
			require.NoError(t, c.family(key).load(c, name, visit), "%s.%s", key, name)
		}
	}
}

func TestEveryFigureHasSourceAndStatus(t *testing.T) {
	c := load(t)
	n := 0
	cited := map[string]bool{userSource: true} // for figures of a run
	figures(t, c, func(f anyFigure) {
		if !f.Known() {
			return
		}
		n++
		p := f.Provenance()
		cited[p.Source] = true
		assert.NotEmpty(t, p.Source, p.Path)
		assert.NotZero(t, p.Status, p.Path)
		if p.Status == Assumed {
			assert.NotEmpty(t, p.Note, "%s is assumed: the reason must be given", p.Path)
		}
		_, err := c.Source(p.Source)
		assert.NoError(t, err, p.Path)
	})
	assert.Greater(t, n, 300, "the walk should have met the whole catalogue")
	for _, key := range families[1:] {
		for _, name := range c.family(key).list() {
			cited[c.family(key).(inner).originOf(name).Source] = true
		}
	}
	for _, s := range c.Sources() {
		assert.True(t, cited[s], "source %s is not cited by anything", s)
	}
}

// inner shows what a test needs of a family of whatever record.
type inner interface {
	entryOf(name string) entry
	originOf(name string) Origin
}

func (f *family[T]) entryOf(name string) entry { return f.found[name] }

func (f *family[T]) originOf(name string) Origin {
	return reflect.ValueOf(f.done[name]).Elem().FieldByName("Origin").Interface().(Origin)
}

// A record can hold texts, names of other records and figures. A bare number
// in a record type would come without a source.
func TestNoRecordHasBareNumbers(t *testing.T) {
	var check func(typ reflect.Type, path string)
	check = func(typ reflect.Type, path string) {
		if typ.Kind() == reflect.Pointer {
			typ = typ.Elem()
		}
		if reflect.PointerTo(typ).Implements(reflect.TypeFor[anyFigure]()) || typ == reflect.TypeFor[Origin]() {
			return
		}
		switch typ.Kind() {
		case reflect.String, reflect.Bool:
		case reflect.Struct:
			for i := range typ.NumField() {
				check(typ.Field(i).Type, path+"."+typ.Field(i).Name)
			}
		default:
			t.Errorf("%s is a %s: make it a Figure", path, typ)
		}
	}
	for _, typ := range []reflect.Type{
		reflect.TypeFor[Source](), reflect.TypeFor[GPU](), reflect.TypeFor[Link](), reflect.TypeFor[Switch](),
		reflect.TypeFor[NIC](), reflect.TypeFor[CPU](), reflect.TypeFor[System](), reflect.TypeFor[Fabric](),
	} {
		check(typ, typ.Name())
	}
}

// The fast cut of the embedded files into records must find what a YAML
// parser finds, and where.
func TestIndexEqualsFullParse(t *testing.T) {
	c := load(t)
	list, err := files.ReadDir(".")
	require.NoError(t, err)
	found := map[string][]string{}
	for _, f := range list {
		b, err := files.ReadFile(f.Name())
		require.NoError(t, err)
		root, err := strict.Parse(strict.NewSource(f.Name(), b), b)
		require.NoError(t, err)
		for i, key := range root.Keys {
			require.Contains(t, families, key.Name, f.Name())
			for j, rec := range root.Items[i].Keys {
				found[key.Name] = append(found[key.Name], rec.Name)
				whole := root.Items[i].Items[j]
				alone, err := c.family(key.Name).(inner).entryOf(rec.Name).tree(nil)
				require.NoError(t, err)
				assert.Equal(t, whole.Pos.String(), alone.Pos.String(), "%s.%s", key.Name, rec.Name)
				assert.Equal(t, len(whole.Keys), len(alone.Keys), "%s.%s", key.Name, rec.Name)
			}
		}
	}
	for _, key := range families {
		assert.Equal(t, found[key], c.family(key).list(), key)
	}
}

// Datasheets give NVLink as the sum of both directions: 300, 600, 900 and
// 1,800 GB/s a GPU. The catalogue holds one way.
func TestNominalNVLinkOfGPUs(t *testing.T) {
	c := load(t)
	for name, want := range map[string]sim.Rate{
		"v100-sxm2-32gb": 150e9, "a100-sxm4-80gb": 300e9, "h100-sxm5-80gb": 450e9, "h200-sxm5-141gb": 450e9,
		"b200-sxm6-180gb": 900e9, "gb200": 900e9, "p100-sxm2-16gb": 80e9, "a800-sxm4-80gb": 200e9, "h800-sxm5-80gb": 200e9,
		"h100-nvl-94gb": 300e9, "h200-nvl-141gb": 450e9, "rtx-3090": 56.25e9, "rubin": 1800e9,
	} {
		g, err := c.GPU(name)
		require.NoError(t, err)
		l, err := c.Link(g.NVLink.Link)
		require.NoError(t, err)
		assert.Equal(t, want, l.Nominal()*sim.Rate(g.NVLink.Count.Value()), name)
	}
}

// The usable rates are those of the published copies, in GB/s one way.
func TestUsableRates(t *testing.T) {
	c := load(t)
	for _, tc := range []struct {
		link   string
		n      int
		copied float64
	}{
		{"nvlink1", 1, 18.41}, // P100, one link
		{"nvlink2", 1, 24.22}, // V100, one link
		{"nvlink3", 12, 276.3},
		{"nvlink4", 18, 396.4},
		{"nvlink4", 6, 132.1}, // 260.9 both ways measured on the 4-GPU board, 130.4 one way
		{"nvlink5", 18, 746.7},
		{"pcie3", 16, 12.15}, // to the device; 12.89 from it
		{"pcie4", 16, 26.0},
		{"pcie5", 16, 55.43},
		{"infiniband-hdr", 1, 24.25},
		{"infiniband-ndr", 1, 49.2},
		{"efa-200", 1, 24.215},
	} {
		l, err := c.Link(tc.link)
		require.NoError(t, err)
		got := float64(l.Usable()) * float64(tc.n) / 1e9
		assert.InEpsilon(t, tc.copied, got, 0.002, "%d x %s", tc.n, tc.link)
	}
}

func TestRawTimesLineCodeIsNominal(t *testing.T) {
	c := load(t)
	for _, name := range c.Links() {
		l, err := c.Link(name)
		require.NoError(t, err)
		assert.Less(t, l.Usable(), l.Nominal()*1.000001, name)
		if l.Raw.Known() && l.Rate.Known() && name != "nvlink2" { // NVLink 2 signals 3 % above its nominal rate
			assert.InEpsilon(t, float64(l.Nominal()), float64(l.Raw.Value())*l.lineCode(), 1e-9, name)
		}
	}
}

func TestUnknownNames(t *testing.T) {
	c := load(t)
	_, err := c.System("dgx-h10")
	assert.EqualError(t, err, `catalogue: no system is called "dgx-h10"; did you mean "dgx-h100"?`)
	var unknown *UnknownError
	assert.ErrorAs(t, err, &unknown)
	_, err = c.Fabric("token-ring")
	assert.EqualError(t, err, `catalogue: no fabric is called "token-ring"; expected one of ib-edr, ib-edr-fat-tree, ib-hdr, ib-hdr-fat-tree, `+
		`ib-ndr, ib-ndr-3-tier, ib-ndr-fat-tree, ib-xdr, ib-xdr-fat-tree, roce-100, roce-100-fat-tree, roce-200 or 15 others`)
	_, err = c.System("dgx-h10")
	require.ErrorAs(t, err, &unknown)
	assert.Equal(t, "dgx-h100 dgx-a100 dgx-h200", strings.Join(unknown.Known[:3], " "), "the nearest first")
	assert.Len(t, unknown.Known, 12)
}

func TestRoofline(t *testing.T) {
	c := load(t)
	g, err := c.GPU("a100-sxm4-80gb")
	require.NoError(t, err)
	line, used, err := g.Roofline("bf16")
	require.NoError(t, err)
	assert.Len(t, used, 5)
	// 2 x 8192^3 operations at 271 TFLOP/s, plus the launch of 3 us.
	want := 2*8192.0*8192*8192/271e12 + 3e-6
	assert.InEpsilon(t, want, line.Time(2*8192.0*8192*8192, 0).Seconds(), 1e-3)

	v, err := c.GPU("v100-sxm2-32gb")
	require.NoError(t, err)
	_, _, err = v.Roofline("bf16")
	require.EqualError(t, err, `catalogue: GPU v100-sxm2-32gb has no rate for "bf16"; expected one of fp32, fp16`)
	for _, name := range c.GPUs() {
		g, err := c.GPU(name)
		require.NoError(t, err)
		_, _, err = g.Roofline("fp16")
		assert.NoError(t, err, name)
	}
}

func BenchmarkLoad(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		c := empty()
		list, _ := files.ReadDir(".")
		for _, f := range list {
			raw, _ := files.ReadFile(f.Name())
			if err := c.index(f.Name(), raw); err != nil {
				b.Fatal(err)
			}
		}
	}
}

// BenchmarkMachine is what a run pays: cut, decode what one system needs,
// resolve.
func BenchmarkMachine(b *testing.B) {
	for _, name := range []string{"dgx-h100", "gb200-nvl72", "as-8126gs-nb3rt"} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				c, err := Load()
				if err == nil {
					_, err = c.Machine(name, Options{Hosts: 2})
				}
				if err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
