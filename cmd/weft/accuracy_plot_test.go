package main

import (
	"bytes"
	"fmt"
	"image/color"
	"math"
	"math/bits"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgsvg"

	"github.com/weft-sim/weft/configs/measured"
	"github.com/weft-sim/weft/sim"
)

// curve is what a figure shows of one test.
type curve struct {
	table, op string
	ranks     int
	variant   string // "" is any
	label     string
}

// figure is a plot of a family of systems.
type figure struct {
	name, title string
	curves      []curve
}

// figures are the plots of the page, in its order.
var figures = []figure{
	{"one-node-all-reduce", "All-reduce of 8 GPUs on NVSwitch", []curve{
		{"b300_nccl_all_reduce", "all_reduce", 8, "", "B300, NCCL 2.29"},
		{"h200_nccl_all_reduce", "all_reduce", 8, "", "H200, NCCL 2.29"},
		{"dgxc_h100_8_allreduce", "all_reduce", 8, "", "DGX H100"},
		{"superbench_a100_8_all_reduce", "all_reduce", 8, "", "A100, one process"},
		{"a100_nccl_all_reduce", "all_reduce", 8, "", "A100, NCCL 2.27"},
	}},
	{"one-node-other", "Other operations within one NVLink domain", []curve{
		{"b300_nccl_all_gather", "all_gather", 8, "", "all_gather, 8 B300"},
		{"h100_nccl_reduce_scatter", "reduce_scatter", 8, "NCCL 2.29.2", "reduce_scatter, 8 H100"},
		{"h100_nccl_alltoall", "alltoall", 8, "NCCL 2.29.2", "alltoall, 8 H100"},
		{"a100_nccl_all_gather", "all_gather", 8, "", "all_gather, 8 A100"},
		{"gb200_nccl_all_gather", "all_gather", 2, "", "all_gather, 2 GB200"},
	}},
	{"racks-and-meshes", "Racks and meshes", []curve{
		{"coreweave_gb200_nvl72_72_allreduce", "all_reduce", 72, "", "72 GB200"},
		{"oci_gb200_16n64_allreduce", "all_reduce", 64, "", "64 GB200"},
		{"dgx2_v100_12_all_reduce", "all_reduce", 12, "", "12 V100, DGX-2"},
		{"vtrain_v100_2_4_6_allreduce", "all_reduce", 4, "", "4 V100, cube mesh"},
		{"tartan_dgx1_p100_2to8_ops_ncclv2", "all_reduce", 8, "", "8 P100, cube mesh"},
	}},
	{"pcie", "All-reduce over PCIe", []curve{
		{"rtxpro6000_nccl_all_reduce", "all_reduce", 2, "", "2 RTX PRO 6000"},
		{"rtxpro6000_nccl_all_reduce", "all_reduce", 8, "", "8 RTX PRO 6000"},
		{"pptest_rtx4090_4_allreduce_p2p", "all_reduce", 4, "", "4 RTX 4090, peer access"},
		{"bessemer_v100pcie_4_allreduce_nccl28", "all_reduce", 4, "", "4 V100, one switch"},
		{"l40s_nccl_all_reduce", "all_reduce", 8, "", "8 L40S, two sockets"},
	}},
	{"infiniband", "All-reduce on InfiniBand and Slingshot", []curve{
		{"ndr_h100_2n16_allreduce_full", "all_reduce", 16, "", "2 nodes of 8 H100, NDR"},
		{"ndr_h100_8n64_allreduce_default", "all_reduce", 64, "", "8 nodes of 8 H100, NDR"},
		{"deepops_dgxa100_4n32_allreduce", "all_reduce", 32, "", "4 DGX A100, HDR"},
		{"cscs_alps_gh200_2n8_allreduce", "all_reduce", 8, "", "2 nodes of 4 GH200"},
		{"coreweave_a100_128_allreduce", "all_reduce", 128, "", "16 nodes of 8 A100"},
	}},
	{"cloud", "Clouds with a plugin of their own", []curve{
		{"gcp_a3ultra_2n16_allgather", "all_gather", 16, "", "all_gather, a3-ultra, gIB"},
		{"gcp_a3mega_2n16_allreduce", "all_reduce", 16, "", "all_reduce, a3-mega, TCPXO"},
		{"gcp_a3high_2n16_allgather", "all_gather", 16, "", "all_gather, a3-high, TCPX"},
		{"aws_p4de_2n16_allreduce", "all_reduce", 16, "", "all_reduce, p4de, EFA"},
		{"stas_p6b200_4n32_allreduce", "all_reduce", 32, "", "all_reduce, 4 p6-b200, EFA"},
	}},
	{"kernels", "All-reduce of inference engines, 8 GPUs, CUDA graph", []curve{
		{"h100_nccl_all_reduce", "all_reduce", 8, "", "H100, NCCL by the host"},
		{"h200_custom_allreduce_vllm", "all_reduce", 8, "vllm-0.24.0 graph", "H200, vLLM 0.24"},
		{"h100_custom_allreduce_sglang", "all_reduce", 8, "sglang-0.5.14 graph", "H100, SGLang 0.5.14"},
		{"h100_custom_allreduce_trtllm", "all_reduce", 8, "trtllm-1.3.0rc20 graph", "H100, TensorRT-LLM 1.3"},
		{"b300_custom_allreduce_sglang", "all_reduce", 8, "sglang-0.5.14 graph", "B300, SGLang 0.5.14"},
	}},
}

// hues are told apart by those who see no red or no green as well (Okabe and
// Ito, Color Universal Design).
var hues = []color.RGBA{{0, 114, 178, 255}, {213, 94, 0, 255}, {0, 158, 115, 255}, {204, 121, 167, 255}, {110, 110, 110, 255}}

// Sizes of a plot.
const (
	plotWidth  = 10.5 * vg.Inch
	plotHeight = 4.2 * vg.Inch
)

// newPlot is an empty plot over sizes.
func newPlot(title, y string) *plot.Plot {
	p := plot.New()
	p.Title.Text = title
	p.Title.Padding = vg.Points(8)
	p.X.Label.Text, p.Y.Label.Text = "size, as nccl-tests counts", y
	p.X.Scale = plot.LogScale{}
	p.X.Tick.Marker = sizeTicks{}
	for _, style := range []*draw.TextStyle{&p.Title.TextStyle, &p.X.Label.TextStyle, &p.Y.Label.TextStyle, &p.X.Tick.Label, &p.Y.Tick.Label, &p.Legend.TextStyle} {
		style.Font.Variant = "Sans"
		style.Font.Size = font.Length(10)
	}
	p.Title.TextStyle.Font.Size = 12
	grid := plotter.NewGrid()
	grid.Vertical.Color, grid.Horizontal.Color = color.Gray{235}, color.Gray{225}
	p.Add(grid)
	p.BackgroundColor = color.White
	p.Legend.Left, p.Legend.Top = true, true
	p.Legend.XOffs, p.Legend.YOffs = vg.Points(8), vg.Points(-4)
	p.Legend.ThumbnailWidth, p.Legend.Padding = vg.Points(24), vg.Points(3)
	return p
}

// draw plots a figure: on the left the times of up to 1 MiB, on the right the
// bus bandwidth from there. Dots are measured, hollow where they do not count;
// lines are predicted.
func (f *figure) draw(t *testing.T, samples []measured.Sample) []*plot.Plot {
	small, large := newPlot("", "time, us"), newPlot("", "bus bandwidth, GB/s")
	small.Y.Scale, small.Y.Tick.Marker = plot.LogScale{}, decades{}
	large.Y.Min = 0
	legend := small
	for _, c := range f.curves {
		if len(f.pick(samples, c, true)) == 0 {
			legend = large // nothing would be beside the words
		}
	}
	for i, c := range f.curves {
		shown := false
		for _, p := range []*plot.Plot{small, large} {
			of := f.pick(samples, c, p == small)
			value := func(s *measured.Sample, t sim.Time) plotter.XY {
				if p == small {
					return plotter.XY{X: float64(s.Size), Y: t.Microseconds()}
				}
				return plotter.XY{X: float64(s.Size), Y: float64(s.Series.BusBandwidth(s.Size, t)) / 1e9}
			}
			var counted, left, line plotter.XYs
			for _, s := range of {
				if s.Left == "" {
					counted = append(counted, value(s, s.Point.Time))
				} else {
					left = append(left, value(s, s.Point.Time))
				}
				if s.Prediction.Time > 0 {
					line = append(line, value(s, s.Prediction.Time))
				}
			}
			if line == nil {
				continue
			}
			sortXY(line)
			l, err := plotter.NewLine(slices.Compact(line))
			require.NoError(t, err)
			l.Color, l.Width = hues[i], vg.Points(1.5)
			dots := scatter(t, counted, draw.CircleGlyph{}, hues[i], 2.2)
			p.Add(l, dots)
			if left != nil {
				p.Add(scatter(t, left, draw.RingGlyph{}, hues[i], 2.2))
			}
			if !shown {
				shown = true
				legend.Legend.Add(c.label, l, dots)
			}
		}
		require.True(t, shown, "%s: %s has no prediction", f.name, c.table)
	}
	small.Title.Text, large.Title.Text = f.title, " "
	if legend == small { // room for it above the curves
		small.Y.Max *= math.Pow(small.Y.Max/small.Y.Min, 0.4)
	} else {
		large.Y.Max *= 1.35
	}
	return []*plot.Plot{small, large}
}

// pick returns the samples of a curve, up to 1 MiB or from there.
func (f *figure) pick(samples []measured.Sample, c curve, small bool) []*measured.Sample {
	var of []*measured.Sample
	for k := range samples {
		s := &samples[k]
		r := s.Series
		within := s.Size >= sim.MiB
		if small {
			within = s.Size <= sim.MiB
		}
		if r.Type == "int8" {
			continue // a sample of the same row, but of another algorithm
		}
		if within && r.Table.ID == c.table && r.Op == c.op && r.Ranks == c.ranks && (c.variant == "" || r.Variant == c.variant) {
			of = append(of, s)
		}
	}
	return of
}

// spread plots how far predictions are off over sizes, for each kind: the
// median of the ratio (solid) and its tenth and ninetieth percentiles (dashed),
// over the points of four sizes in a row, a series counting as one.
func spread(t *testing.T, samples []measured.Sample) *plot.Plot {
	const low, high = 0.2, 5
	p := newPlot("How far off: median, 10th and 90th percentile by size", "predicted / measured")
	p.Y.Scale, p.Y.Tick.Marker = plot.LogScale{}, ratios{}
	for i, kind := range measured.Kinds() {
		bins := map[int]map[string][]float64{} // by size and series
		for k := range samples {
			if s := &samples[k]; s.Left == "" && s.Series.Case.Kind == kind {
				at := bits.Len64(uint64(s.Size)) / 2
				if bins[at] == nil {
					bins[at] = map[string][]float64{}
				}
				key := s.Series.Key()
				bins[at][key] = append(bins[at][key], 1+s.Error())
			}
		}
		lines := [3]plotter.XYs{}
		for at := range 24 {
			if len(bins[at]) < 3 {
				continue // two series are no spread
			}
			var x, w []float64
			for _, key := range namesOf(bins[at]) {
				for _, v := range bins[at][key] {
					x, w = append(x, v), append(w, 1/float64(len(bins[at][key])))
				}
			}
			stat.SortWeighted(x, w)
			for n, q := range []float64{0.1, 0.5, 0.9} {
				ratio := min(max(stat.Quantile(q, stat.Empirical, x, w), low), high)
				lines[n] = append(lines[n], plotter.XY{X: math.Exp2(2 * float64(at)), Y: ratio})
			}
		}
		for n, points := range lines {
			if points == nil {
				continue
			}
			l, err := plotter.NewLine(points)
			require.NoError(t, err)
			l.Color, l.Width = hues[i], vg.Points(2)
			if n != 1 {
				l.Width, l.Dashes = vg.Points(0.8), []vg.Length{vg.Points(3), vg.Points(3)}
			}
			p.Add(l)
			if n == 1 {
				p.Legend.Add(kind, l)
			}
		}
	}
	p.Y.Min, p.Y.Max = low, high
	return p
}

// scatter is points of one colour.
func scatter(t *testing.T, points plotter.XYs, shape draw.GlyphDrawer, hue color.Color, radius float64) *plotter.Scatter {
	s, err := plotter.NewScatter(points)
	require.NoError(t, err)
	s.GlyphStyle = draw.GlyphStyle{Color: hue, Radius: vg.Points(radius), Shape: shape}
	return s
}

// svg and png render plots beside each other.
func svg(t *testing.T, plots []*plot.Plot) []byte {
	c := vgsvg.New(plotWidth, plotHeight)
	tile(plots, draw.New(c))
	var b bytes.Buffer
	_, err := c.WriteTo(&b)
	require.NoError(t, err)
	return b.Bytes()
}

func png(t *testing.T, plots []*plot.Plot) []byte {
	c := vgimg.PngCanvas{Canvas: vgimg.New(plotWidth, plotHeight)}
	tile(plots, draw.New(c))
	var b bytes.Buffer
	_, err := c.WriteTo(&b)
	require.NoError(t, err)
	return b.Bytes()
}

func tile(plots []*plot.Plot, to draw.Canvas) {
	tiles := draw.Tiles{Rows: 1, Cols: len(plots), PadX: vg.Points(14), PadRight: vg.Points(14), PadTop: vg.Points(6), PadBottom: vg.Points(4), PadLeft: vg.Points(4)}
	for i, c := range plot.Align([][]*plot.Plot{plots}, tiles, to)[0] {
		plots[i].Draw(c)
	}
}

// sizeTicks marks powers of two, and names every fifth, or second, in binary
// units.
type sizeTicks struct{}

func (sizeTicks) Ticks(low, high float64) []plot.Tick {
	every := 5
	if high/low < 3e4 {
		every = 2
	}
	var ticks []plot.Tick
	for e := 0; e <= 40; e++ {
		v := math.Exp2(float64(e))
		if v < low || v > high {
			continue
		}
		tick := plot.Tick{Value: v}
		if e%every == 0 {
			tick.Label = fmt.Sprintf("%d %s", 1<<(e%10), []string{"B", "KiB", "MiB", "GiB", "TiB"}[e/10])
		}
		ticks = append(ticks, tick)
	}
	return ticks
}

// decades marks 1, 2 and 5 of each power of ten.
type decades struct{}

func (decades) Ticks(low, high float64) []plot.Tick {
	var ticks []plot.Tick
	for e := -6; e <= 8; e++ {
		for m := 1; m <= 9; m++ {
			v := float64(m) * math.Pow10(e)
			if v < low || v > high {
				continue
			}
			tick := plot.Tick{Value: v}
			if m == 1 || high/low < 1e3 && (m == 2 || m == 5) {
				tick.Label = fmt.Sprintf("%g", v)
			}
			ticks = append(ticks, tick)
		}
	}
	return ticks
}

// ratios marks what is read off a ratio.
type ratios struct{}

func (ratios) Ticks(_, _ float64) []plot.Tick {
	var ticks []plot.Tick
	for _, v := range []float64{0.2, 0.5, 0.8, 1, 1.25, 2, 5} {
		ticks = append(ticks, plot.Tick{Value: v, Label: fmt.Sprintf("%g", v)})
	}
	return ticks
}
