package discover_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-sim/weft/sim"
	"github.com/weft-sim/weft/topology/discover"
	"github.com/weft-sim/weft/topology/machine"
	"github.com/weft-sim/weft/topology/pcie"
)

// board is an NVSwitch board of two GPUs as NCCL dumps it: a switch with a GPU
// and a NIC of two ports, a GPU on the other socket, and a virtual NIC.
const board = `<!-- made by hand -->
<system version="1">
  <cpu numaid="0" affinity="00000000,ffffffff" arch="x86_64" vendor="GenuineIntel" familyid="6" modelid="143">
    <pci link_width="16" link_speed="32.0 GT/s PCIe" busid="0000:15:00.0" class="0x060400" vendor="0x1000" device="0xc030" subsystem_vendor="0x1000" subsystem_device="0x0004">
      <pci busid="0000:18:00.0" class="0x030200" vendor="0x10de" device="0x2330" link_speed="32.0 GT/s PCIe" link_width="16">
        <gpu dev="0" sm="90" rank="0" gdr="1">
          <nvlink target="0000:08:00.0" count="10" tclass="0x068000"/>
          <nvlink target="0000:07:00.0" count="8" tclass="0x068000"/>
        </gpu>
      </pci>
      <pci busid="0000:19:00.0" class="0x020700" vendor="0x15b3" device="0x1021" link_speed="32.0 GT/s PCIe" link_width="16">
        <nic>
          <net name="mlx5_0" dev="0" latency="0.000000" speed="200000" port="1" guid="0x1" gdr="1"/>
          <net name="mlx5_1" dev="1" latency="0.000000" speed="200000" port="2" guid="0x1" gdr="1"/>
        </nic>
      </pci>
    </pci>
  </cpu>
  <cpu numaid="1" arch="x86_64" vendor="GenuineIntel" familyid="6" modelid="143">
    <pci busid="0000:98:00.0" class="0x030200" vendor="0x10de" device="0x2330" link_speed="" link_width="0">
      <gpu dev="1" sm="90" rank="1" gdr="1">
        <nvlink target="0000:07:00.0" count="8" tclass="0x068000"/>
        <nvlink target="0000:08:00.0" count="10" tclass="0x068000"/>
      </gpu>
    </pci>
    <nic><net name="eth0" dev="2" speed="0"/></nic>
  </cpu>
  <later thing="1"><cpu numaid="0"/></later>
</system>
`

// twoTrays is a file of two hosts with the same bus ids, one GPU each, on
// switches that cannot be seen.
var twoTrays = "<system version=\"1\">\n" + tray("0xa", 0) + tray("0xb", 1) + "</system>\n"

func tray(hash string, rank int) string {
	return fmt.Sprintf(`  <cpu host_hash="%s" numaid="0" arch="arm64">
    <pci busid="0008:01:00.0" class="0x060400" link_speed="64.0 GT/s PCIe" link_width="16">
      <pci busid="0008:06:00.0" class="0x030200" vendor="0x10de" link_speed="64.0 GT/s PCIe" link_width="16">
        <gpu dev="0" sm="103" rank="%d" gdr="1">
          <nvlink target="fffffff:ffff:ff" count="18" tclass="0x068000"/>
          <c2c bw="44712" count="5"/>
        </gpu>
      </pci>
    </pci>
    <pci busid="0016:01:00.0" class="0x020000" link_speed="32.0 GT/s PCIe" link_width="16">
      <nic><net name="mlx5_0" dev="0" speed="400000" port="1" guid="0x2" gdr="1"/></nic>
    </pci>
  </cpu>
`, hash, rank)
}

func read(t *testing.T, text string) *discover.Dump {
	t.Helper()
	d, err := discover.Read("f.xml", []byte(text))
	require.NoError(t, err)
	return d
}

func TestNCCL(t *testing.T) {
	d := read(t, board)
	require.Len(t, d.Hosts, 1)
	h := d.Hosts[0]
	assert.Len(t, h.CPUs, 2)
	assert.Len(t, h.PCI, 4)
	require.Len(t, h.GPUs, 2)
	require.Len(t, h.NICs, 3)
	assert.Equal(t, 18, h.GPUs[1].NVLinks())
	assert.Equal(t, discover.PCIeLink{Gen: 5, Width: 16}, h.GPUs[0].PCIe)
	assert.Equal(t, discover.PCIeLink{}, h.GPUs[1].PCIe)
	assert.Equal(t, 25*sim.GBps, h.NICs[0].Speed)
	assert.Equal(t, 1.25*sim.GBps, h.NICs[2].Speed, "a NIC without speed has 10 Gb/s")
	assert.Len(t, notes(d, discover.Assumed), 1)

	s, err := d.Spec(&bench{})
	require.NoError(t, err)
	assert.Equal(t, []int{8, 10}, s.Host.NVLink.Planes, "in the order of bus ids")
	assert.Empty(t, s.Host.NVLink.Down)
	assert.Len(t, s.Host.PCIe.NICs, 2, "two ports are one NIC")
	m := discover.Relations(&s)
	assert.Equal(t, "PIX", m.At(0, 2).String())
	assert.Equal(t, "SYS", m.At(1, 2).String())
	assert.Equal(t, "NODE", m.At(1, 3).String())
	assert.Equal(t, "NV18", m.At(0, 1).String())
}

// TestBroadcom: the parts of one chip are one switch, as NCCL has it.
func TestBroadcom(t *testing.T) {
	part := strings.Replace(board, `      <pci busid="0000:18`, `<pci busid="0000:16:00.0" class="0x060400" vendor="0x1000" device="0xc030" subsystem_vendor="0x1000" subsystem_device="0x1004" link_speed="32.0 GT/s PCIe" link_width="16"><pci busid="0000:18`, 1)
	part = strings.Replace(part, "</gpu>\n      </pci>", "</gpu></pci></pci>", 1)
	s, err := read(t, part).Spec(&bench{})
	require.NoError(t, err)
	assert.Len(t, s.Host.PCIe.Switches, 1)
	assert.Equal(t, "PIX", discover.Relations(&s).At(0, 2).String())

	other := strings.Replace(part, `subsystem_device="0x1004"`, `subsystem_device="0x0004"`, 1)
	s, err = read(t, other).Spec(&bench{})
	require.NoError(t, err)
	assert.Len(t, s.Host.PCIe.Switches, 2)
	assert.Equal(t, "PXB", discover.Relations(&s).At(0, 2).String())
}

func TestNCCLTrays(t *testing.T) {
	d := read(t, twoTrays)
	require.Len(t, d.Hosts, 2)
	assert.Equal(t, "0xb", d.Hosts[1].Name)
	assert.Equal(t, 1, d.Hosts[1].GPUs[0].Rank)
	s, err := d.Spec(&bench{})
	require.NoError(t, err)
	assert.Equal(t, 2, s.Host.Trays)
	assert.Equal(t, 2, s.Host.GPUs)
	assert.Equal(t, []int{5, 4, 4, 5}, s.Host.NVLink.Planes)
	assert.Equal(t, pcie.OnSocket, s.Host.PCIe.GPUs[0].Under.Kind)
	assert.Empty(t, s.Host.PCIe.Switches, "what only the GPU's PCIe side uses")
	assert.InDelta(t, 223.56e9, float64(s.Host.PCIe.GPUs[0].Link.Rate), 1)
	assert.Equal(t, "NODE", discover.Relations(&s).At(0, 1).String(), "as nvidia-smi has it, which knows of PCIe only")
	m, err := machine.Build(s)
	require.NoError(t, err)
	require.NoError(t, m.CheckRoutes())

	_, err = read(t, strings.ReplaceAll(twoTrays, "fffffff:ffff:ff", "0000:00:00.0")).Spec(&bench{})
	require.NoError(t, err, "a switch on each host that has the same bus id")
	_, err = read(t, strings.ReplaceAll(twoTrays, "<nvlink", "<nothing")).Spec(&bench{})
	assert.ErrorIs(t, err, discover.ErrNoMachine)
	assert.ErrorContains(t, err, "2 hosts that no NVLink switch joins")
}

func TestNCCLDegraded(t *testing.T) {
	t.Run("no NVLink", func(t *testing.T) {
		from := strings.LastIndex(board, "        <nvlink target=\"0000:07")
		text := board[:from] + board[strings.LastIndex(board, "      </gpu>"):]
		d := read(t, text)
		assert.True(t, d.Hosts[0].GPUs[1].OffFabric)
		assert.Contains(t, fmt.Sprint(notes(d, discover.Degraded)), "GPU1: has no NVLink")
		s, err := d.Spec(&bench{})
		require.NoError(t, err)
		assert.Len(t, s.Host.NVLink.Down, 2)
		assert.Equal(t, "SYS", discover.Relations(&s).At(0, 1).String())
	})
	t.Run("a plane is down", func(t *testing.T) {
		text := strings.Replace(board, `<nvlink target="0000:08:00.0" count="10"`, `<nvlink target="0000:08:00.0" count="0"`, 1)
		d := read(t, text)
		assert.Contains(t, fmt.Sprint(notes(d, discover.Degraded)), "of 0 links")
		s, err := d.Spec(&bench{})
		require.NoError(t, err)
		assert.Equal(t, "NV8", discover.Relations(&s).At(0, 1).String())
	})
	t.Run("self-link", func(t *testing.T) {
		text := strings.ReplaceAll(board, `target="0000:08:00.0" count="10" tclass="0x068000"`, `target="0000:18:00.0" count="4" tclass="0x030200"`)
		text = strings.ReplaceAll(text, `target="0000:07:00.0" count="8" tclass="0x068000"`, `target="0000:98:00.0" count="4" tclass="0x030200"`)
		d := read(t, text)
		assert.Len(t, notes(d, discover.Ignored), 2, "%v", d.Notes)
		s, err := d.Spec(&bench{})
		require.NoError(t, err)
		assert.Equal(t, [][3]int{{0, 1, 4}}, s.Host.NVLink.Edges)
	})
	t.Run("one end only", func(t *testing.T) {
		text := strings.Replace(board, `<nvlink target="0000:07:00.0" count="8" tclass="0x068000"/>
          `, "", 1)
		text = strings.ReplaceAll(text, `target="0000:08:00.0" count="10" tclass="0x068000"`, `target="0000:98:00.0" count="4" tclass="0x030200"`)
		text = strings.ReplaceAll(text, `<nvlink target="0000:07:00.0" count="8" tclass="0x068000"/>`, "")
		d := read(t, text)
		s, err := d.Spec(&bench{})
		require.NoError(t, err)
		assert.Equal(t, [][3]int{{0, 1, 4}}, s.Host.NVLink.Edges)
		assert.Len(t, notes(d, discover.Repaired), 1, "%v", d.Notes)
	})
}

func TestNCCLPartial(t *testing.T) {
	d := read(t, `<system version="1"><cpu numaid="0"><pci busid="a:0" class="0x030200" link_speed="16 GT/s" link_width="16"/><pci busid="a:1" class="0x030200" link_speed="16 GT/s" link_width="16"/><pci busid="a:2" class="0x020000"/></cpu></system>`)
	h := d.Hosts[0]
	assert.True(t, h.Partial)
	assert.Len(t, h.GPUs, 2)
	assert.Len(t, h.NICs, 1)
	s, err := d.Spec(&bench{board: []int{6, 6}})
	require.NoError(t, err)
	assert.Equal(t, []int{6, 6}, s.Host.NVLink.Planes)
	assert.Contains(t, fmt.Sprint(s.Notes), "assumed: NVLinks are not in the file")
	s, err = d.Spec(&bench{})
	require.NoError(t, err)
	assert.Nil(t, s.Host.NVLink, "a board without")
}

func TestNCCLDeadLinksAreNoPartialFile(t *testing.T) {
	// One GPU's NVLinks are down, the other's is to itself: no link is left, and
	// none comes back from a board of such GPUs.
	d := read(t, `<system version="1"><cpu numaid="0">
<pci busid="a:0" class="0x030200" link_speed="16 GT/s" link_width="16"><gpu dev="0" sm="90" rank="0"><nvlink target="b:0" count="0" tclass="0x068000"/></gpu></pci>
<pci busid="a:1" class="0x030200" link_speed="16 GT/s" link_width="16"><gpu dev="1" sm="90" rank="1"><nvlink target="a:1" count="18" tclass="0x030200"/></gpu></pci>
</cpu></system>`)
	assert.False(t, d.Hosts[0].Partial)
	s, err := d.Spec(&bench{board: []int{6, 6}})
	require.NoError(t, err)
	assert.Nil(t, s.Host.NVLink)
	assert.Len(t, notes(d, discover.Degraded), 1, "%v", d.Notes)
	assert.Len(t, notes(d, discover.Ignored), 1, "%v", d.Notes)
}

func TestNCCLErrors(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		kind error
		want string
	}{
		"bus id twice": {strings.Replace(board, "0000:98:00.0", "0000:18:00.0", 1), discover.ErrContradiction,
			`f.xml:20:5: bus id "0000:18:00.0" is listed twice on one host, first on line 5`},
		"hosts without hash": {strings.NewReplacer(`host_hash="0xa" `, "", `host_hash="0xb" `, "").Replace(twoTrays), discover.ErrContradiction,
			"NUMA node 0 is listed twice on one host; give the hosts of a fused file a host_hash each"},
		"version":      {`<system version="7"><cpu numaid="0"/></system>`, discover.ErrSyntax, `version "7", expected 1 (NCCL) or 2 (RCCL)`},
		"no cpu":       {`<system version="1"/>`, discover.ErrNoMachine, "no <cpu>"},
		"no bus id":    {`<system version="1"><cpu numaid="0"><pci class="0x0302"/></cpu></system>`, discover.ErrSyntax, "<pci> has no busid"},
		"a count":      {strings.Replace(board, `count="10"`, `count="-3"`, 1), discover.ErrSyntax, `f.xml:7:11: <nvlink> has count="-3", expected a number from 0 to 1024`},
		"a class":      {strings.Replace(board, "0x060400", "bridge", 1), discover.ErrSyntax, `<pci> has class="bridge", expected a hexadecimal number`},
		"cut":          {board[:len(board)/2], discover.ErrSyntax, "the file was cut; dump it again"},
		"not XML":      {`<system version="1"><cpu numaid=0/></system>`, discover.ErrSyntax, "not well-formed XML"},
		"two files":    {board + board, discover.ErrSyntax, "a second document <system> begins here"},
		"deep":         {`<system version="1">` + strings.Repeat("<a>", 300), discover.ErrTooLarge, "nested more than 200 deep"},
		"many at once": {strings.ReplaceAll(board, `count="`, `count="x`), discover.ErrSyntax, `count="x8"`},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := discover.Read("f.xml", []byte(c.text))
			assert.ErrorIs(t, err, c.kind)
			assert.ErrorContains(t, err, c.want)
		})
	}
}

const query = `<?xml version="1.0" ?>
<!DOCTYPE nvidia_smi_log SYSTEM "nvsmi_device_v12.dtd">
<nvidia_smi_log>
	<attached_gpus>2</attached_gpus>
	<gpu id="00000000:18:00.0">
		<product_name>NVIDIA H100 80GB HBM3</product_name>
		<pci><pci_gpu_link_info>
			<pcie_gen><max_link_gen>5</max_link_gen><current_link_gen>1</current_link_gen></pcie_gen>
			<link_widths><max_link_width>16x</max_link_width><current_link_width>4x</current_link_width></link_widths>
		</pci_gpu_link_info></pci>
		<fabric><state>Completed</state><status>Success</status><cliqueId>3</cliqueId><clusterUuid>1b2c0000-0000-0000-0000-000000000001</clusterUuid></fabric>
	</gpu>
	<gpu id="00000000:2A:00.0">
		<product_name>Some GPU of tomorrow</product_name>
		<pci><pci_gpu_link_info>
			<pcie_gen><max_link_gen>N/A</max_link_gen></pcie_gen>
			<link_widths><max_link_width>0x</max_link_width></link_widths>
		</pci_gpu_link_info></pci>
		<fabric><state>In Progress</state><status>N/A</status><cliqueId>N/A</cliqueId><clusterUuid>N/A</clusterUuid></fabric>
	</gpu>
</nvidia_smi_log>
`

func TestQuery(t *testing.T) {
	d := read(t, query)
	assert.Equal(t, discover.SMIQuery, d.Format)
	g := d.Hosts[0].GPUs
	require.Len(t, g, 2)
	assert.Equal(t, "NVIDIA H100 80GB HBM3", g[0].Name)
	assert.Equal(t, discover.PCIeLink{Gen: 5, Width: 16}, g[0].PCIe, "the most, not the current link of an idle GPU")
	assert.Equal(t, &discover.Fabric{State: "Completed", Status: "Success", Cluster: "1b2c0000-0000-0000-0000-000000000001", Clique: 3}, g[0].Fabric)
	assert.Equal(t, "Some GPU of tomorrow", g[1].Name)
	assert.Equal(t, discover.PCIeLink{}, g[1].PCIe)
	assert.True(t, g[1].OffFabric)
	text := fmt.Sprint(d.Notes)
	assert.Contains(t, text, `max_link_width is "0x", expected a number from 1 to 64`)
	assert.Contains(t, text, "clique 3 of NVLink domain 1b2c0000")
	s, err := d.Spec(&bench{board: []int{9, 9}})
	require.NoError(t, err)
	assert.Equal(t, 2, len(s.Host.NVLink.Down), "both planes of the GPU that has not joined")

	_, err = discover.Read("q", []byte(strings.Replace(query, "2A:00", "18:00", 1)))
	assert.ErrorIs(t, err, discover.ErrContradiction)
	_, err = discover.Read("q", []byte("<nvidia_smi_log></nvidia_smi_log>"))
	assert.ErrorIs(t, err, discover.ErrNoMachine)
	d = read(t, strings.Replace(query, "<attached_gpus>2<", "<attached_gpus>8<", 1))
	assert.Contains(t, fmt.Sprint(d.Notes), "8 GPUs are attached, but 2 are listed")
}

const graphs = `<graphs version="1">
  <graph id="0" pattern="4" crossnic="0" nchannels="1" speedintra="48" speedinter="24.5" latencyinter="2.5" typeintra="NVL" typeinter="PIX" samechannels="1">
    <channel>
      <net dev="0"/>
      <gpu dev="0" rank="0"/>
      <gpu dev="0x100000000000000f" rank="9"/>
    </channel>
  </graph>
  <graph id="3" pattern="5" nchannels="2" speedintra="0" speedinter="0"/>
</graphs>
`

func TestGraphs(t *testing.T) {
	d := read(t, graphs)
	require.Len(t, d.Graphs, 2)
	g := d.Graphs[0]
	assert.Equal(t, 48*sim.GBps, g.Intra)
	assert.Equal(t, 2500*sim.Nanosecond, g.LatencyInter)
	assert.Equal(t, discover.Channel{{NIC: true, Rank: -1}, {Rank: 0}, {Host: 16, Dev: 15, Rank: 9}}, g.Channels[0])
	assert.Contains(t, fmt.Sprint(d.Notes), "graph 3 has 0 channels, but says nchannels=2")
	_, err := d.Spec(&bench{})
	assert.ErrorIs(t, err, discover.ErrNoMachine)
	_, err = discover.Read("g", []byte(strings.Replace(graphs, `dev="0x10`, `dev="GPU`, 1)))
	assert.ErrorIs(t, err, discover.ErrSyntax)
}

// lstopoGPU is two packages as hwloc has them: a GPU and an adapter below one
// switch, a GPU on the other package, a display adapter.
const lstopoGPU = `<?xml version="1.0" encoding="UTF-8"?>
<topology version="2.0">
  <object type="Machine" os_index="0" nodeset="0x00000003" cpuset="0xff"><info name="HostName" value="node7"/>
    <object type="Package" os_index="0" nodeset="0x00000001"><info name="CPUModel" value="Some CPU"/>
      <object type="NUMANode" os_index="0" cpuset="0x0f" nodeset="0x00000001"/>
      <object type="Bridge" bridge_type="0-1" bridge_pci="0000:[00-06]">
        <object type="Bridge" bridge_type="1-1" pci_busid="0000:00:01.0" pci_type="0604 [8086:3c02] [0000:0000] 07" pci_link_speed="31.507692">
          <object type="Bridge" bridge_type="1-1" pci_busid="0000:01:00.0" pci_type="0604 [1000:c010] [1000:a096] b0" pci_link_speed="31.507692">
            <object type="Bridge" bridge_type="1-1" pci_busid="0000:02:00.0" pci_type="0604 [1000:c010] [1000:a096] b0" pci_link_speed="31.507692">
              <object type="PCIDev" name="A GPU" pci_busid="0000:03:00.0" pci_type="0302 [10de:20b0] [10de:134f] a1" pci_link_speed="31.507692">
                <object type="OSDev" name="cuda0" osdev_type="5"/>
              </object>
            </object>
            <object type="Bridge" bridge_type="1-1" pci_busid="0000:02:01.0" pci_type="0604 [1000:c010] [1000:a096] b0" pci_link_speed="31.507692">
              <object type="PCIDev" pci_busid="0000:04:00.0" pci_type="0207 [15b3:101b] [15b3:0007] 00" pci_link_speed="31.507692">
                <object type="OSDev" name="ib0" osdev_type="2"/>
                <object type="OSDev" name="mlx5_0" osdev_type="3"/>
              </object>
            </object>
          </object>
        </object>
        <object type="PCIDev" pci_busid="0000:05:00.0" pci_type="0300 [1a03:2000] [1a03:2000] 41" pci_link_speed="0.0"/>
      </object>
    </object>
    <object type="Package" os_index="1" nodeset="0x00000002">
      <object type="NUMANode" os_index="1" cpuset="0xf0" nodeset="0x00000002"/>
      <object type="Bridge" bridge_type="0-1" bridge_pci="0000:[80-83]">
        <object type="Bridge" bridge_type="1-1" pci_busid="0000:80:01.0" pci_type="0604 [8086:3c02] [0000:0000] 07">
          <object type="PCIDev" name="A GPU" pci_busid="0000:81:00.0" pci_type="0302 [10de:20b0] [10de:134f] a1"/>
        </object>
      </object>
    </object>
  </object>
</topology>
`

func TestLstopo(t *testing.T) {
	d := read(t, lstopoGPU)
	h := d.Hosts[0]
	assert.Equal(t, "node7", h.Name)
	assert.Equal(t, "Some CPU", h.CPUs[0].Name)
	require.Len(t, h.GPUs, 2)
	require.Len(t, h.NICs, 1)
	assert.Equal(t, "mlx5_0", h.NICs[0].Name)
	assert.Equal(t, 1, h.GPUs[1].NUMA)
	assert.InDelta(t, 31.507692e9, float64(h.GPUs[0].PCIe.Rate), 1)
	assert.Contains(t, fmt.Sprint(notes(d, discover.Ignored)), "a display adapter")
	s, err := d.Spec(&bench{})
	require.NoError(t, err)
	assert.Len(t, s.Host.PCIe.Switches, 1, "a root port and the ports of a switch are no switches")
	assert.Len(t, s.Host.PCIe.Bridges, 2)
	m := discover.Relations(&s)
	assert.Equal(t, "PIX", m.At(0, 2).String())
	assert.Equal(t, "SYS", m.At(0, 1).String())

	old := strings.Replace(lstopoGPU, ` version="2.0"`, "", 1)
	assert.Equal(t, h.GPUs, read(t, old).Hosts[0].GPUs)
	newer := strings.NewReplacer(`version="2.0"`, `version="3.0"`, `osdev_type="3"`, `osdev_type="48"`).Replace(lstopoGPU)
	assert.Equal(t, h.NICs, read(t, newer).Hosts[0].NICs)

	for text, want := range map[string]string{
		strings.Replace(lstopoGPU, `version="2.0"`, `version="9"`, 1):                      "hwloc version",
		strings.Replace(lstopoGPU, "0000:81:00.0", "0000:03:00.0", 1):                      "listed twice",
		strings.Replace(lstopoGPU, `pci_type="0207`, `pci_type="x`, 1):                     "expected a class",
		strings.Replace(lstopoGPU, `pci_link_speed="31.507692"`, `pci_link_speed="-1"`, 1): "expected a number",
		`<topology version="2.0"></topology>`:                                              "no NUMA node",
	} {
		_, err := discover.Read("l", []byte(text))
		assert.ErrorContains(t, err, want)
	}
}
