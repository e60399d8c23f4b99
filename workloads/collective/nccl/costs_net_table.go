package nccl

// Written by: go test -run TestCalibrateNet -calibrate-net ./workloads/collective/nccl

// netCosts are fitted, status measured: Hopper on two to ten nodes of H100 with
// NDR InfiniBand and RoCE (NVIDIA/nccl-tests issue 309, xxrjun/nccl-tests-cluster,
// oci-hpc, cluster-toolkit), Ampere on two to sixteen of A100 with HDR (deepops,
// NVIDIA/nccl issue 812, NVIDIA/nccl-tests issue 150), Blackwell on two B200
// (dranet), Volta on two nodes of V100 (deepops, Azure's machine-learning
// guide), Pascal on two to eight of P100 with EDR (uuudown/Tartan). What a
// generation's tables do not tell is that of the one before it in this list.
var netCosts = [generations]NetCosts{
	Pascal: {
		Step: [3]float64{10.1, 4.83, 12.4}, Post: [3]float64{1.58, 1.17, 4.6}, Child: [3]float64{5, 9.49, 6},
		Ring: [3]float64{40, 14.1, 40}, Tree: [3]float64{5.5, 5.5, 33},
		NVLSTree: NVLSTreeCosts{Step: 29.1, Pair: 15.72, Many: 10.9, Fill: 1.35, Level: 0.7},
	},
	Volta: {
		Step: [3]float64{3.43, 4.83, 4.73}, Post: [3]float64{1.58, 1.17, 16.3}, Child: [3]float64{5, 9.49, 6},
		Ring: [3]float64{4.96, 14.1, 16}, Tree: [3]float64{8, 5.5, 4.69},
		NVLSTree: NVLSTreeCosts{Step: 29.1, Pair: 15.72, Many: 10.9, Fill: 1.35, Level: 0.7},
	},
	Ampere: {
		Step: [3]float64{3.43, 4.83, 4.73}, Post: [3]float64{1.58, 1.17, 16.3}, Child: [3]float64{5, 9.49, 6},
		Ring: [3]float64{4.96, 14.1, 16}, Tree: [3]float64{8, 5.5, 11},
		NVLSTree: NVLSTreeCosts{Step: 29.1, Pair: 15.72, Many: 10.9, Fill: 1.35, Level: 0.7},
	},
	Hopper: {
		Step: [3]float64{3.7, 4.83, 4.73}, Post: [3]float64{2.02, 2.82, 10}, Child: [3]float64{5, 8.73, 6},
		Ring: [3]float64{20, 23, 22.6}, Tree: [3]float64{8, 7.5, 11},
		NVLSTree: NVLSTreeCosts{Step: 29.1, Pair: 15.72, Many: 10.9, Fill: 1.35, Level: 0.7},
	},
	Blackwell: {
		Step: [3]float64{5.18, 15, 20}, Post: [3]float64{0.2, 0.349, 16.5}, Child: [3]float64{5, 8.73, 6},
		Ring: [3]float64{20, 23, 29.7}, Tree: [3]float64{8, 7.5, 11},
		NVLSTree: NVLSTreeCosts{Step: 29.1, Pair: 15.72, Many: 10.9, Fill: 1.35, Level: 0.7},
	},
}
