package main

import (
	"fmt"

	"github.com/weft-sim/weft/topology"
	"github.com/weft-sim/weft/topology/machine"
	"github.com/weft-sim/weft/topology/pcie"
	"github.com/weft-sim/weft/workloads/collective/nccl"
)

// hypothesis is something that may be wrong, or set otherwise.
type hypothesis struct {
	name string // in JSON: an API
	what string // in a few words
	why  string // how it comes about, and how to look
	// variants are its forms on a machine, none if it cannot be there.
	variants func(*scene) []variant
}

// variant is one form of a hypothesis.
type variant struct {
	label string
	change
}

// set is a hypothesis of settings alone, where applies holds.
func set(label string, applies func(*scene) bool, settings ...string) func(*scene) []variant {
	return func(s *scene) []variant {
		if applies != nil && !applies(s) {
			return nil
		}
		return []variant{{label, change{set: settings}}}
	}
}

func severalNodes(s *scene) bool { return s.nodes > 1 }

// each makes a variant of the first of the machine's parts of a kind, and one
// of the first of every node.
func each(kind topology.NodeKind, one, every, format string) func(*scene) []variant {
	return func(s *scene) []variant {
		parts := s.of(kind)
		if len(parts) == 0 || kind == topology.NIC && s.nodes < 2 {
			return nil
		}
		all := []variant{{one, change{faults: []string{fmt.Sprintf(format, parts[0])}}}}
		if s.nodes > 1 {
			all = append(all, variant{every, change{faults: []string{fmt.Sprintf(format, "n*"+parts[0][len("n0"):])}}})
		}
		return all
	}
}

// hypotheses are what is tried, in the order in which equal ones are told.
var hypotheses = []hypothesis{
	{
		"nvls-off", "NVLS is off", "NCCL_NVLS_ENABLE=0, a container without the fabric manager's multicast, or a driver before 530: NCCL_DEBUG=INFO then says no NVLS multicast",
		set("NVLS is off", func(s *scene) bool { return s.ran["NVLS"] || s.ran["NVLSTree"] }, "collectives.env.NCCL_NVLS_ENABLE=0"),
	},
	{
		"p2p-off", "peer access between GPUs is off", "NCCL_P2P_DISABLE=1, a hypervisor, or an IOMMU: bytes go through host memory. nvidia-smi topo -p2p r shows it",
		peerless,
	},
	{
		"one-process", "one process launches for all GPUs of a node", "nccl-tests -g N with one thread: each launch waits for the one before. Run a process for each GPU to see the rest",
		set("one process launches for all GPUs of a node", func(s *scene) bool { return s.launch != nccl.OneProcess.String() && s.gpus > 1 }, "collectives.launch=one-process"),
	},
	{
		"host-launch", "the host launches slowly", "a framework between the test and NCCL, slow CPU cores, or cores that are shared: 20 to 30 us for each call",
		set("launches take as long as from PyTorch", func(s *scene) bool { return s.launch != nccl.PyTorch.String() }, "collectives.launch=pytorch"),
	},
	{
		"ring-only", "NCCL runs rings alone", "NCCL_ALGO=Ring, or a tuner that allows no trees: latency then grows with the number of GPUs",
		set("NCCL runs rings alone", nil, "collectives.env.NCCL_ALGO=Ring"),
	},
	{
		"tree-only", "NCCL runs trees alone", "NCCL_ALGO=Tree: a tree sends every byte twice through each GPU",
		set("NCCL runs trees alone", nil, "collectives.env.NCCL_ALGO=Tree"),
	},
	{
		"simple-only", "LL and LL128 are off", "NCCL_PROTO=Simple, or a tuner: small messages then wait for whole chunks",
		set("LL and LL128 are off", nil, "collectives.env.NCCL_PROTO=Simple"),
	},
	{
		"ll-forced", "a protocol for small messages runs at all sizes", "NCCL_PROTO=LL or LL128: half of the bytes, or a sixteenth, are flags",
		func(*scene) []variant {
			return []variant{
				{"LL runs at all sizes", change{set: []string{"collectives.env.NCCL_PROTO=LL"}}},
				{"LL128 runs at all sizes", change{set: []string{"collectives.env.NCCL_PROTO=LL128"}}},
			}
		},
	},
	{
		"few-channels", "fewer channels than NCCL would take", "NCCL_MAX_NCHANNELS or NCCL_MAX_CTAS: too few thread blocks to fill the wires",
		func(*scene) []variant {
			var all []variant
			for _, n := range []int{1, 2, 4, 8, 16} {
				all = append(all, variant{fmt.Sprintf("at most %d channels", n), change{set: []string{fmt.Sprintf("collectives.env.NCCL_MAX_NCHANNELS=%d", n)}}})
			}
			return all
		},
	},
	{
		"nvswitch-missing", "an NVSwitch is missing", "a switch that failed or was not trained: nvidia-smi nvlink -s shows links down on every GPU of the node",
		each(topology.NVSwitch, "an NVSwitch of a node is missing", "an NVSwitch of every node is missing", "%s down"),
	},
	{
		"nvlink-slow", "the NVLinks of one GPU carry less", "links that failed on one GPU: nvidia-smi nvlink -s -i GPU shows which are down or slow",
		nvlinks,
	},
	{
		"nic-missing", "a NIC is missing", "a port that is down, or left out by NCCL_IB_HCA: ibstat shows its state, NCCL_DEBUG=INFO the ports that NCCL uses",
		each(topology.NIC, "a NIC of a node is missing", "a NIC of every node is missing", "%s down"),
	},
	{
		"nic-slow", "a NIC runs below its rate", "a port that trained at half its rate, or a bad cable: ibstat shows the rate, perfquery errors",
		each(topology.NIC, "a NIC of a node runs at half its rate", "a NIC of every node runs at half its rate", "%s<>* x0.5"),
	},
	{
		"network-slow", "all NICs run below their rate", "one port of two, a slower generation, or an oversubscribed network: ibstat shows the rate",
		func(s *scene) []variant {
			if s.nodes < 2 || len(s.of(topology.NIC)) == 0 {
				return nil
			}
			return []variant{
				{"all NICs run at half their rate", change{faults: []string{nicsOf(s, "x0.5")}}},
				{"all NICs run at a quarter of their rate", change{faults: []string{nicsOf(s, "x0.25")}}},
			}
		},
	},
	{
		"net-latency", "each crossing of the network takes long", "proxy threads without cores of their own, power saving, a network plugin or an overlay that is not NCCL's own: ib_write_lat and the placement of processes show it",
		func(s *scene) []variant {
			if !severalNodes(s) {
				return nil
			}
			var all []variant
			for _, us := range []string{"5", "15", "50"} {
				all = append(all, variant{"each crossing of the network takes " + us + " us more", change{set: []string{"network.plugin.step=" + us + "us"}}})
			}
			return all
		},
	},
	{
		"gdr-off", "GPUDirect RDMA is off", "nvidia-peermem is not loaded, or NCCL_NET_GDR_LEVEL=LOC: bytes for the network go through host memory. NCCL_DEBUG=INFO then shows no GDRDMA",
		set("GPUDirect RDMA is off", severalNodes, "pcie.gdr=nowhere"),
	},
	{
		"nic-wrong-socket", "a NIC sits on the wrong socket", "a card in another slot, or affinity that a virtual machine hides: nvidia-smi topo -m shows SYS between the NIC and its GPUs",
		wrongSocket,
	},
	{
		"tcp", "TCP sockets in place of RDMA", "NCCL_IB_DISABLE=1, or no RDMA plugin in the container: NCCL_DEBUG=INFO says NET/Socket",
		sockets,
	},
	{
		"pcie-narrow", "PCIe runs at half its width", "a riser, a slot or a bad contact: nvidia-smi -q shows the link's current width, lspci -vv LnkSta",
		narrow,
	},
	{
		"acs-on", "ACS sends peer traffic by way of the CPU", "access control services of PCIe switches are on, as virtual machines need them: lspci -vv ACSCtl",
		func(s *scene) []variant {
			if len(s.of(topology.PCIeSwitch)) == 0 {
				return nil
			}
			return []variant{{"ACS sends peer traffic by way of the CPU", change{set: []string{"pcie.acs=true"}}}}
		},
	},
	{
		"fewer-gpus", "fewer GPUs took part than said", "a launcher that started fewer processes: the log names no GPUs, so the number is what --ranks or the bandwidths say",
		fewer,
	},
}

// peerless takes NVLink away and peer access over PCIe too.
func peerless(s *scene) []variant {
	if s.gpus < 2 {
		return nil
	}
	return []variant{{"peer access between GPUs is off", change{
		set: []string{"collectives.env.NCCL_P2P_DISABLE=1"},
		rewire: func(spec *machine.Spec) {
			spec.Host.NVLink = nil
			if spec.Host.PCIe != nil {
				spec.Host.PCIe.P2P = pcie.Nowhere
			}
		},
	}}}
}

// nvlinks slows the NVLinks of one GPU.
func nvlinks(s *scene) []variant {
	gpus := s.of(topology.GPU)
	if s.hw.Spec == nil || s.hw.Spec.Host.NVLink == nil || len(gpus) == 0 {
		return nil
	}
	to := "*.nvswitch*"
	if len(s.of(topology.NVSwitch)) == 0 {
		to = "*.gpu*"
	}
	var all []variant
	for _, part := range []string{"0.75", "0.5"} {
		all = append(all, variant{"the NVLinks of one GPU carry " + part + " of what they should", change{faults: []string{gpus[0] + "<>n0" + to[1:] + " x" + part}}})
	}
	return all
}

// nicsOf is a fault of the links between all NICs and the network.
func nicsOf(s *scene, effect string) string {
	return "n*" + trimNumber(s.of(topology.NIC)[0][len("n0"):]) + "*<>* " + effect
}

// trimNumber takes the number off the end of a name.
func trimNumber(name string) string {
	for name != "" && name[len(name)-1] >= '0' && name[len(name)-1] <= '9' {
		name = name[:len(name)-1]
	}
	return name
}

// wrongSocket hangs a NIC where one of another socket hangs.
func wrongSocket(s *scene) []variant {
	if s.nodes < 2 || s.hw.Spec == nil || s.hw.Spec.Host.PCIe == nil {
		return nil
	}
	tree := s.hw.Spec.Host.PCIe
	if len(tree.NICs) < 2 || tree.Sockets < 2 {
		return nil
	}
	// NICs are listed by socket, so the last sits on another than the first.
	return []variant{
		{"a NIC of every node sits on the wrong socket", change{rewire: func(spec *machine.Spec) {
			nics := spec.Host.PCIe.NICs
			nics[0].Under = nics[len(nics)-1].Under
		}}},
		{"all NICs of every node sit on one socket", change{rewire: func(spec *machine.Spec) {
			nics := spec.Host.PCIe.NICs
			for i := range len(nics) / 2 {
				nics[i].Under = nics[len(nics)-len(nics)/2+i].Under
			}
		}}},
	}
}

// sockets are TCP over the same ports, over one of 25 Gbit/s and over one of 10
// for the whole node: bytes are copied in host memory, and each crossing costs
// system calls and wake-ups. Assumed: 15 us a crossing, and at most 5 GB/s a
// port, which is what NCCL's threads copy.
func sockets(s *scene) []variant {
	if s.nodes < 2 || len(s.of(topology.NIC)) == 0 {
		return nil
	}
	var all []variant
	for _, v := range []struct{ label, rate string }{
		{"TCP over all ports", "5GB/s"}, {"TCP over 25 Gbit/s for a node", share(s, 3.125)}, {"TCP over 10 Gbit/s for a node", share(s, 1.25)},
	} {
		all = append(all, variant{v.label, change{
			set:    []string{"pcie.gdr=nowhere", "network.plugin.step=15us"},
			faults: []string{nicsOf(s, v.rate)},
		}})
	}
	return all
}

// share is the part of a NIC of what all of a node have together, in GB/s.
func share(s *scene, rate float64) string {
	return fmt.Sprintf("%.4gMB/s", rate*1e3/float64(len(s.of(topology.NIC))))
}

// narrow halves the lanes of the GPUs and of the NICs, one or all.
func narrow(s *scene) []variant {
	tree := s.hw.Spec
	if tree == nil || tree.Host.PCIe == nil {
		return nil
	}
	var all []variant
	for _, d := range []struct {
		kind  topology.NodeKind
		label string
	}{{topology.GPU, "GPU"}, {topology.NIC, "NIC"}} {
		names := s.of(d.kind)
		if len(names) == 0 || d.kind == topology.NIC && s.nodes < 2 {
			continue
		}
		up := s.above(names[0])
		if up == "" {
			continue
		}
		every := "n*" + trimNumber(names[0][len("n0"):]) + "*<>n*" + trimNumber(up[len("n0"):]) + "*"
		all = append(all,
			variant{"the PCIe link of one " + d.label + " has half its lanes", change{faults: []string{names[0] + "<>" + up + " x0.5"}}},
			variant{"the PCIe links of all " + d.label + "s have half their lanes", change{faults: []string{every + " x0.5"}}})
	}
	return all
}

// above returns the name of the PCIe switch or host bridge that a device hangs
// from, "" if there is none.
func (s *scene) above(device string) string {
	g := s.job.Machine.Graph
	for _, l := range g.Links {
		if g.Nodes[l.From].Name != device {
			continue
		}
		switch to := g.Nodes[l.To]; to.Kind {
		case topology.PCIeSwitch, topology.RootComplex, topology.Socket:
			return to.Name
		}
	}
	return ""
}

// fewer runs the test with fewer GPUs of each node, where the log does not list
// them.
func fewer(s *scene) []variant {
	if len(s.table.Devices) > 0 || s.pairs {
		return nil
	}
	var all []variant
	for n := s.gpus / 2; n > 0; n /= 2 {
		if n*s.nodes > 1 {
			all = append(all, variant{fmt.Sprintf("%d GPUs of each node took part", n), change{gpus: n}})
		}
	}
	return all
}
