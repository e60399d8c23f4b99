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
		Step: [3]float64{9.98, 7, 12.8}, Post: [3]float64{1.46, 2.39, 4.6}, Child: [3]float64{5, 10.1, 5.99},
		Ring: [3]float64{40, 19.4, 40}, Tree: [3]float64{5.5, 5.5, 32.6},
		NVLSTree: NVLSTreeCosts{Step: 28.9, Pair: 15.72, Many: 10.9, Fill: 1.37, Level: 0.7},
	},
	Volta: {
		Step: [3]float64{3.34, 7, 4.7}, Post: [3]float64{1.46, 2.39, 16.3}, Child: [3]float64{5, 10.1, 6},
		Ring: [3]float64{5.26, 19.4, 16}, Tree: [3]float64{8.03, 5.5, 4.7},
		NVLSTree: NVLSTreeCosts{Step: 28.9, Pair: 15.72, Many: 10.9, Fill: 1.37, Level: 0.7},
	},
	Ampere: {
		Step: [3]float64{3.34, 7, 4.7}, Post: [3]float64{1.46, 2.39, 16.3}, Child: [3]float64{5, 10.1, 6},
		Ring: [3]float64{5.26, 19.4, 16}, Tree: [3]float64{8.03, 5.5, 11},
		NVLSTree: NVLSTreeCosts{Step: 28.9, Pair: 15.72, Many: 10.9, Fill: 1.37, Level: 0.7},
	},
	Hopper: {
		Step: [3]float64{3.3, 3.95, 4.71}, Post: [3]float64{2.02, 2.63, 10}, Child: [3]float64{5, 8.84, 6},
		Ring: [3]float64{20, 23.1, 22.6}, Tree: [3]float64{8, 7.5, 11},
		NVLSTree: NVLSTreeCosts{Step: 28.9, Pair: 15.72, Many: 10.9, Fill: 1.37, Level: 0.7},
	},
	Blackwell: {
		Step: [3]float64{5.18, 15, 20}, Post: [3]float64{0.2, 0.349, 16.5}, Child: [3]float64{5, 8.73, 6},
		Ring: [3]float64{20, 23, 29.7}, Tree: [3]float64{8, 7.5, 11},
		NVLSTree: NVLSTreeCosts{Step: 28.9, Pair: 15.72, Many: 10.9, Fill: 1.37, Level: 0.7},
	},
}
