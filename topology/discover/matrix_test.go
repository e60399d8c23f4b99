package discover_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-sim/weft/topology"
	"github.com/weft-sim/weft/topology/discover"
)

// four is a sound matrix of two pairs with NVLink, each pair across sockets.
const four = `	GPU0	GPU1	GPU2	GPU3	NIC0	CPU Affinity	NUMA Affinity	GPU NUMA ID
GPU0	 X 	PXB	NV4	SYS	PIX	0-15	0		N/A
GPU1	PXB	 X 	SYS	NV4	PXB	0-15	0		N/A
GPU2	NV4	SYS	 X 	PHB	SYS	16-31	1		N/A
GPU3	SYS	NV4	PHB	 X 	SYS	16-31	1		N/A
NIC0	PIX	PXB	SYS	SYS	 X 				
`

func readMatrix(t *testing.T, text string) (*discover.Dump, *discover.Matrix) {
	t.Helper()
	d, err := discover.Read("m.txt", []byte(text))
	require.NoError(t, err, text)
	require.Equal(t, discover.SMIMatrix, d.Format)
	return d, d.Hosts[0].Matrix
}

func notes(d *discover.Dump, kind discover.NoteKind) []string {
	var s []string
	for _, n := range d.Notes {
		if n.Kind == kind {
			s = append(s, n.String())
		}
	}
	return s
}

func TestMatrix(t *testing.T) {
	d, m := readMatrix(t, four)
	assert.Empty(t, d.Notes)
	assert.Equal(t, []string{"GPU0", "GPU1", "GPU2", "GPU3", "NIC0"}, m.Devices)
	assert.Equal(t, 4, m.GPUs)
	assert.True(t, m.Complete())
	assert.Equal(t, discover.Cell{Known: true, Kind: topology.NVL, Links: 4}, m.At(0, 2))
	h := d.Hosts[0]
	assert.Equal(t, []discover.CPU{{NUMA: 0, Affinity: "0-15"}, {NUMA: 1, Affinity: "16-31"}}, h.CPUs)
	assert.Equal(t, []discover.Link{{Kind: discover.NVLink, Count: 4, Peer: 2}}, h.GPUs[0].Links)
	assert.Equal(t, 1, h.GPUs[3].NUMA)
	assert.False(t, h.GPUs[3].OffFabric)

	var out bytes.Buffer
	require.NoError(t, m.Write(&out, false))
	before, _, _ := strings.Cut(out.String(), "\nLegend")
	assert.Equal(t, four, before)

	s, err := d.Spec(&bench{})
	require.NoError(t, err)
	assert.Empty(t, m.Diff(discover.Relations(&s)))
	assert.Equal(t, [][3]int{{0, 2, 4}, {1, 3, 4}}, s.Host.NVLink.Edges)
	assert.Len(t, s.Host.PCIe.Switches, 2, "GPU0 and NIC0 on one, below that of GPU1")
	checkBuilt(t, &s, m)
}

// TestMatrixVariants: what mail, terminals and drivers do to a matrix changes
// nothing in it.
func TestMatrixVariants(t *testing.T) {
	_, want := readMatrix(t, four)
	blanks := strings.NewReplacer("\t", "    ").Replace(four)
	for name, c := range map[string]struct {
		text string
		note string
	}{
		"blanks":           {blanks, ""},
		"escapes":          {strings.Replace(strings.Replace(four, "GPU0", "\x1b[4mGPU0", 1), "GPU NUMA ID", "GPU NUMA ID\x1b[0m", 1), ""},
		"escapes, no ESC":  {strings.Replace(strings.Replace(four, "GPU0", "[4mGPU0", 1), "GPU NUMA ID", "GPU NUMA ID[0m", 1), ""},
		"CRLF":             {strings.ReplaceAll(four, "\n", "\r\n"), ""},
		"no corner":        {strings.TrimLeft(four, "\t"), ""},
		"split header":     {strings.Replace(four, "CPU Affinity", "CPU    Affinity", 1), ""},
		"old word":         {strings.ReplaceAll(four, "SYS", "SOC"), ""},
		"legend":           {four + "\nLegend:\n\n  X    = Self\n  NV#  = Connection traversing a bonded set of # NVLinks\n", ""},
		"fused header":     {strings.Replace(four, "GPU2\tGPU3\tNIC0", "GPU2GPU3NIC0", 1), "ran together"},
		"fused cells":      {strings.Replace(four, "NV4\tSYS\tPIX", "NV4SYS\tPIX", 1), "ran together"},
		"fused affinity":   {strings.Replace(four, "PIX\t0-15", "PIX0-15", 1), "ran together"},
		"wrapped row":      {strings.Replace(four, "NV4\tSYS\tPIX", "NV4\n  SYS\tPIX", 1), "wrapped"},
		"no header":        {four[strings.Index(four, "\n")+1:], "no header"},
		"no NIC row":       {four[:strings.Index(four, "NIC0\tPIX")], "missing"},
		"row cut":          {four[:strings.Index(four, "\tSYS\tSYS\t X ")], "missing"},
		"text around":      {"$ nvidia-smi topo -m\n" + four + "\ndone\n", "no part"},
		"one middle row":   {strings.Replace(four, "GPU2\tNV4\tSYS\t X \tPHB\tSYS\t16-31\t1\t\tN/A\n", "", 1), "missing"},
		"gzip":             {string(zip(t, four)), ""},
		"a cell not known": {strings.Replace(four, "X \tPXB", "X \t?", 1), "taken from"},
	} {
		t.Run(name, func(t *testing.T) {
			d, got := readMatrix(t, c.text)
			assert.Equal(t, want.Cells, got.Cells)
			assert.Equal(t, want.Devices, got.Devices)
			if name != "one middle row" { // whose affinity is gone with it
				assert.Equal(t, want.Affinity, got.Affinity)
			}
			if c.note == "" {
				assert.Empty(t, d.Notes)
			} else {
				assert.Contains(t, fmt.Sprint(d.Notes), c.note)
			}
		})
	}
}

func TestMatrixTraps(t *testing.T) {
	t.Run("NUMA run into the CPUs", func(t *testing.T) {
		d, m := readMatrix(t, "\tGPU0\tGPU1\tCPU Affinity\tNUMA Affinity\tGPU NUMA ID\nGPU0\t X \tSYS\t0-45,92-1370\t\tN/A\nGPU1\tSYS\t X \t46-91,138-1831\t\tN/A\n")
		assert.Equal(t, -1, d.Hosts[0].GPUs[0].NUMA)
		assert.Equal(t, "0-45,92-1370", m.Affinity[0].CPUs)
		assert.Len(t, d.Hosts[0].CPUs, 2)
		assert.Len(t, notes(d, discover.Unknown), 2)
	})
	t.Run("lists of NUMA nodes", func(t *testing.T) {
		d, m := readMatrix(t, "\tGPU0\tGPU1\tCPU Affinity\tNUMA Affinity\tGPU NUMA ID\nGPU0\t X \tNV18\t0-71\t0,2-9\t\t2\nGPU1\tNV18\t X \t72-143\t1,18-25\t\t18\n")
		assert.Equal(t, 0, d.Hosts[0].GPUs[0].NUMA)
		assert.Equal(t, 1, d.Hosts[0].GPUs[1].NUMA)
		assert.Equal(t, discover.Affinity{CPUs: "72-143", NUMA: "1,18-25", GPUNUMA: "18"}, m.Affinity[1])
	})
	t.Run("legend of NICs", func(t *testing.T) {
		d, m := readMatrix(t, four+"\nNIC Legend:\n\n  NIC0: mlx5_3\n")
		assert.Equal(t, "mlx5_3", d.Hosts[0].NICs[0].Name)
		assert.Equal(t, "NIC0", d.Hosts[0].NICs[0].Label)
		var out bytes.Buffer
		require.NoError(t, m.Write(&out, false))
		assert.True(t, strings.HasSuffix(out.String(), "\nNIC Legend:\n\n  NIC0: mlx5_3\n"))
	})
	t.Run("-mp", func(t *testing.T) {
		d, _ := readMatrix(t, "\tGPU0\tGPU1\tCPU Affinity\nGPU0\t X \tPIX\t0-7\nGPU1\tPIX\t X \t0-7\n\nLegend:\n\n  X    = Self\n  PIX  = Connection\n")
		assert.Contains(t, fmt.Sprint(notes(d, discover.Unknown)), "-mp")
		d, _ = readMatrix(t, "\tGPU0\tGPU1\tCPU Affinity\nGPU0\t X \tNV4\t0-7\nGPU1\tNV4\t X \t0-7\n\nLegend:\n\n  X    = Self\n  PIX  = Connection\n")
		assert.NotContains(t, fmt.Sprint(notes(d, discover.Unknown)), "-mp", "the rows show NVLinks")
	})
	t.Run("GPU off the fabric", func(t *testing.T) {
		d, m := readMatrix(t, square(5, func(i, j int) string {
			if i == 3 || j == 3 {
				return "NODE"
			}
			return "NV18"
		}))
		assert.True(t, d.Hosts[0].GPUs[3].OffFabric)
		assert.Contains(t, fmt.Sprint(notes(d, discover.Degraded)), "GPU3: has no NVLink")
		s, err := d.Spec(&bench{})
		require.NoError(t, err)
		assert.Len(t, s.Host.NVLink.Down, 4)
		assert.Empty(t, m.Diff(discover.Relations(&s)))
		checkBuilt(t, &s, m)
	})
	t.Run("GPU with fewer links", func(t *testing.T) {
		d, m := readMatrix(t, square(5, func(i, j int) string {
			if i == 3 || j == 3 {
				return "NV16"
			}
			return "NV18"
		}))
		assert.Equal(t, 16, d.Hosts[0].GPUs[3].NVLinks())
		s, err := d.Spec(&bench{})
		require.NoError(t, err)
		assert.Empty(t, m.Diff(discover.Relations(&s)))
	})
	t.Run("virtual machine", func(t *testing.T) {
		d, _ := readMatrix(t, "\tGPU0\tGPU1\tNIC0\tNIC1\nGPU0\tX\tNV18\tPHB\tPHB\nGPU1\tNV18\tX\tPHB\tPHB\n")
		assert.True(t, d.Hosts[0].Hidden)
	})
	t.Run("one GPU", func(t *testing.T) {
		d, m := readMatrix(t, "\tGPU0\tCPU Affinity\tNUMA Affinity\tGPU NUMA ID\nGPU0\t X \t0-15\t0\t\tN/A\n")
		assert.Len(t, m.Cells, 1)
		s, err := d.Spec(&bench{})
		require.NoError(t, err)
		assert.Nil(t, s.Host.NVLink)
	})
	t.Run("a plane that all have lost", func(t *testing.T) {
		d, m := readMatrix(t, square(8, func(int, int) string { return "NV10" }))
		s, err := d.Spec(&wrong{})
		require.NoError(t, err)
		assert.Equal(t, []int{2, 2, 2, 2, 2}, s.Host.NVLink.Planes)
		assert.Contains(t, fmt.Sprint(s.Notes), "10 NVLinks where its kind has 12")
		assert.Empty(t, m.Diff(discover.Relations(&s)))
	})
	t.Run("wide mesh", func(t *testing.T) { // not all are joined, so no switch
		d, m := readMatrix(t, square(4, func(i, j int) string {
			if i+j == 3 {
				return "SYS"
			}
			return "NV12"
		}))
		s, err := d.Spec(&bench{})
		require.NoError(t, err)
		assert.Len(t, s.Host.NVLink.Edges, 4)
		assert.Empty(t, m.Diff(discover.Relations(&s)))
	})
	t.Run("planes of another GPU", func(t *testing.T) {
		d, _ := readMatrix(t, square(8, func(int, int) string { return "NV18" }))
		_, err := d.Spec(&wrong{})
		assert.ErrorContains(t, err, "18 NVLinks each, but the planes of their kind hold 12")
	})
}

// square writes a matrix of n GPUs without affinity.
func square(n int, word func(i, j int) string) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "\tGPU%d", i)
	}
	for i := range n {
		fmt.Fprintf(&b, "\nGPU%d", i)
		for j := range n {
			if i == j {
				b.WriteString("\t X ")
			} else {
				b.WriteString("\t" + word(i, j))
			}
		}
	}
	return b.String() + "\n"
}

func TestMatrixErrors(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		kind error
		want string
	}{
		"halves disagree": {strings.Replace(four, "GPU3\tSYS", "GPU3\tNODE", 1), discover.ErrContradiction,
			"read nvidia-smi topo -m: m.txt:5: GPU3 to GPU0 is NODE, but GPU0 to GPU3 is SYS on line 2"},
		"self-link": {strings.Replace(four, "PXB\t X \tSYS", "PXB\tNV4\tSYS", 1), discover.ErrContradiction,
			"m.txt:3: GPU1 to itself is NV4, expected X"},
		"lost cell": {strings.Replace(four, "GPU1\tPXB\t X ", "GPU1\t X ", 1), discover.ErrContradiction,
			"m.txt:3: GPU1 to itself is SYS, expected X"},
		"no width": {strings.Replace(four, "NV4\tSYS\tPIX", "NV0\tSYS\tPIX", 1), discover.ErrSyntax,
			"m.txt:2:14: row GPU0, cell 3: NV0 is a bond of 0 NVLinks"},
		"a word": {strings.Replace(four, "NV4\tSYS\tPIX", "PIG\tSYS\tPIX", 1), discover.ErrSyntax,
			`m.txt:2:14: row GPU0 has "PIG" where the word to GPU2 is expected; the words are`},
		"p2p matrix": {"\tGPU0\tGPU1\nGPU0\tX\tOK\nGPU1\tOK\tX\n", discover.ErrSyntax, "the output of `nvidia-smi topo -p2p`"},
		"cell more":  {strings.Replace(four, "SYS\tPIX\t0-15", "SYS\tPIX\tSYS\t0-15", 1), discover.ErrSyntax, "further cell"},
		"row twice":  {four + "GPU0\t X \tPXB\tNV4\tSYS\tPIX\n", discover.ErrContradiction, "row GPU0 is there twice, first on line 2"},
		"two hosts":  {four + four, discover.ErrContradiction, "a second header"},
		"column twice": {strings.Replace(four, "GPU1", "GPU0", 1), discover.ErrContradiction,
			"column \"GPU0\" is there twice"},
		"NV run into affinity": {"\tGPU0\tGPU1\tCPU Affinity\nGPU0\tX\tNV180-23\nGPU1\tNV18\tX\t0-23\n", discover.ErrSyntax, "row GPU0"},
		"NIC with NVLink":      {"\tGPU0\tNIC0\nGPU0\tX\tNV4\n", discover.ErrContradiction, "a NIC has no NVLink"},
		"NIC before GPU":       {"\tGPU0\tNIC0\tGPU1\nGPU0\tX\tPIX\tPIX\n", discover.ErrSyntax, "expected the GPUs first"},
		"row without column":   {"\tGPU0\tGPU1\nGPU0\tX\tPIX\nGPU7\tPIX\tX\n", discover.ErrSyntax, "row GPU7 has no column"},
		"too many":             {square(600, func(int, int) string { return "SYS" }), discover.ErrTooLarge, "600 devices"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := discover.Read("m.txt", []byte(c.text))
			require.Error(t, err)
			assert.ErrorIs(t, err, c.kind)
			assert.ErrorContains(t, err, c.want)
			var e *discover.Error
			require.ErrorAs(t, err, &e)
			assert.Positive(t, e.Line)
		})
	}
}

// TestMatrixOfTooManyDevices: one error, the one that causes all others.
func TestMatrixOfTooManyDevices(t *testing.T) {
	var b strings.Builder
	const n = 600
	for i := range n {
		fmt.Fprintf(&b, "\tGPU%d", i)
	}
	b.WriteString("\n")
	for i := range n {
		fmt.Fprintf(&b, "GPU%d", i)
		for j := range n {
			b.WriteString(map[bool]string{true: "\t X ", false: "\tNV18"}[i == j])
		}
		b.WriteString("\n")
	}
	_, err := discover.Read("big.txt", []byte(b.String()))
	var e *discover.Error
	require.ErrorAs(t, err, &e)
	assert.EqualError(t, err, "read nvidia-smi topo -m: big.txt:1: 600 devices, at most 512 are read")
}
