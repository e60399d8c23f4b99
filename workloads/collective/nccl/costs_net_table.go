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
		Step: [3]float64{8.64, 6.62, 12.5}, Post: [3]float64{1.46, 1.06, 4.6}, Child: [3]float64{5, 10.2, 5.99},
		Ring: [3]float64{40, 13.7, 40}, Tree: [3]float64{8, 5.5, 5.5},
		NVLSTree: NVLSTreeCosts{Step: 28.9, Pair: 15.72, Many: 10.9, Fill: 1.36, Level: 0.7},
	},
	Volta: {
		Step: [3]float64{3.34, 6.62, 6.01}, Post: [3]float64{1.45, 1.06, 16.1}, Child: [3]float64{5, 10.2, 5.99},
		Ring: [3]float64{5.29, 13.7, 6}, Tree: [3]float64{8.01, 5.5, 4.44},
		NVLSTree: NVLSTreeCosts{Step: 28.9, Pair: 15.72, Many: 10.9, Fill: 1.36, Level: 0.7},
	},
	Ampere: {
		Step: [3]float64{3.34, 6.62, 6.01}, Post: [3]float64{1.45, 1.06, 16.1}, Child: [3]float64{5, 10.2, 5.99},
		Ring: [3]float64{5.29, 13.7, 16}, Tree: [3]float64{8.01, 5.5, 11},
		NVLSTree: NVLSTreeCosts{Step: 28.9, Pair: 15.72, Many: 10.9, Fill: 1.36, Level: 0.7},
	},
	Hopper: {
		Step: [3]float64{3.3, 4.17, 6.01}, Post: [3]float64{2.02, 2.59, 9.52}, Child: [3]float64{5, 8.79, 5.99},
		Ring: [3]float64{20, 22.9, 22.5}, Tree: [3]float64{8, 7.72, 11},
		NVLSTree: NVLSTreeCosts{Step: 28.9, Pair: 15.72, Many: 10.9, Fill: 1.36, Level: 0.7},
	},
	Blackwell: {
		Step: [3]float64{5.13, 15, 20}, Post: [3]float64{0.2, 0.325, 14.7}, Child: [3]float64{5, 8.79, 5.99},
		Ring: [3]float64{20, 22.9, 28.9}, Tree: [3]float64{8, 7.72, 11},
		NVLSTree: NVLSTreeCosts{Step: 28.9, Pair: 15.72, Many: 10.9, Fill: 1.36, Level: 0.7},
	},
}
