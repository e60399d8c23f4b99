package nccl

// Written by: go test -run TestCalibrate -calibrate ./workloads/collective/nccl

// costs are fitted on public tables of NCCL within one node, each series
// counting the same. Status: derived. Pascal on DGX-1 (uuudown/Tartan), Volta
// on DGX-1 and DGX-2 (VIA-Research/vTrain, a fork of nccl-tests), Ampere, Hopper
// and Blackwell on 2 to 8 GPUs (ai-dynamo/aiconfigurator 095f58a51c4c,
// Azure/AI-benchmarking-guide, stas00/ml-engineering, xxrjun/nccl-tests-cluster,
// NVIDIA/dgxc-benchmarking, eunomia-bpf/nccl-eBPF) and on racks of 64 and 72
// (dranet, coreweave/nccl-tests). Assumed: NVLS before Hopper and LL128 of
// Pascal, which do not run.
var costs = [generations]Costs{
	Pascal: {
		Start: [3]float64{7.854, 9, 9.723}, Step: [3]float64{4.145, 2, 4.937}, CTA: [3]float64{16.41, 4, 10.99},
		Launch: 5.752, Pass: 0.3168, Slice: 0.7678, Own: [3]float64{0.2806, 1.072, 0.2283}, Jitter: 9.798,
		NVLS: NVLSCosts{Start: 8, Loop: 4, Head: 1.5, CTA: 25, Skew: 0.01, Depth: 0.65, Jitter: 0.3},
	},
	Volta: {
		Start: [3]float64{6.478, 12.95, 7.129}, Step: [3]float64{0.8773, 2.515, 1.986}, CTA: [3]float64{7.651, 6.541, 11.38},
		Launch: 4.976, Pass: 0.3783, Slice: 2.107, Own: [3]float64{0.5779, 0.6498, 0.05668}, Jitter: 0.9563,
		NVLS: NVLSCosts{Start: 8, Loop: 4, Head: 1.5, CTA: 25, Skew: 0.01, Depth: 0.65, Jitter: 0.3},
	},
	Ampere: {
		Start: [3]float64{8.218, 11.05, 12.73}, Step: [3]float64{0.5954, 1.528, 3.552}, CTA: [3]float64{7.316, 6.833, 10.54},
		Launch: 4.528, Pass: 0.341, Slice: 2.314, Own: [3]float64{0.505, 0.6502, 0.193}, Jitter: 3.18,
		NVLS: NVLSCosts{Start: 8, Loop: 4, Head: 1.5, CTA: 25, Skew: 0.01, Depth: 0.65, Jitter: 0.3},
	},
	Hopper: {
		Start: [3]float64{4.297, 9.928, 9.123}, Step: [3]float64{0.5428, 1.16, 3.291}, CTA: [3]float64{13.4, 14.5, 16.33},
		Launch: 3.914, Pass: 0.2768, Slice: 0.7263, Own: [3]float64{0.4513, 0.5648, 0.171}, Jitter: 1.292,
		NVLS: NVLSCosts{Start: 7.742, Loop: 3.115, Head: 0.6633, CTA: 21.59, Skew: 0.02514, Depth: 0.56, Jitter: 0.2574},
	},
	Blackwell: {
		Start: [3]float64{7.394, 8.86, 8.86}, Step: [3]float64{0.9043, 1.166, 7.508}, CTA: [3]float64{17.15, 17.51, 23.07},
		Launch: 4.367, Pass: 0.2752, Slice: 0.7879, Own: [3]float64{0.5036, 0.6851, 0.2368}, Jitter: 0.9211,
		NVLS: NVLSCosts{Start: 8.059, Loop: 3.177, Head: 1.065, CTA: 27.82, Skew: 0.04664, Depth: 0.722, Jitter: 0.3245},
	},
}

// host is fitted with them, and PyTorch assumed: harnesses take 20 to 47 us.
var host = hostCosts{OneProcess: 4.852, PyTorch: 25, Python: 11, Thread: 0.2234}
