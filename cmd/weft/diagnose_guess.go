package main

import "strings"

// usualSystems are the machines that GPUs of a name are usually in: by a part
// of the name that nvidia-smi gives them, the first that fits, and the GPUs of
// a node at most. Of one name the smaller machine comes first.
var usualSystems = []struct {
	gpu    string
	gpus   int
	system string
}{
	{"GB300", 72, "gb300-nvl72"},
	{"GB200", 72, "gb200-nvl72"},
	{"GB10", 1, "dgx-gb10"},
	{"GH200", 4, "gh200-4"},
	{"B300", 8, "dgx-b300"},
	{"B200", 8, "dgx-b200"},
	{"H200 NVL", 8, "pcie-h200-nvl-8"},
	{"H200", 8, "dgx-h200"},
	{"H100 NVL", 8, "pcie-h100-nvl-8"},
	{"H100 PCIe", 8, "pcie-h100-nvl-8"},
	{"H100", 8, "dgx-h100"},
	{"H800", 8, "hgx-h800-8"},
	{"H20", 8, "hgx-h20-8"},
	{"A800", 8, "hgx-a800-8"},
	{"A100-PCI", 8, "pcie-a100-8"},
	{"A100 80GB PCIe", 8, "pcie-a100-8"},
	{"A100", 8, "dgx-a100"},
	{"V100-SXM3", 16, "dgx-2"},
	{"V100-PCI", 4, "pcie-v100-4"},
	{"V100-SXM2", 8, "dgx-1-v100"},
	{"P100-SXM2", 8, "dgx-1-p100"},
	{"RTX PRO 6000", 8, "pcie-rtxpro6000-8"},
	{"RTX 5090", 8, "pcie-rtx5090-8"},
	{"RTX 4090", 8, "pcie-rtx4090-8"},
	{"RTX 3090", 4, "pcie-rtx3090-4"},
	{"L40S", 8, "pcie-l40s-8"},
	{"A40", 8, "pcie-a40-8"},
}

// guess returns the usual system of GPUs of one name with so many on a host, or
// "".
func guess(names []string, perHost int) string {
	if len(names) != 1 {
		return ""
	}
	for _, u := range usualSystems {
		if strings.Contains(names[0], u.gpu) && perHost <= u.gpus {
			return u.system
		}
	}
	return ""
}
