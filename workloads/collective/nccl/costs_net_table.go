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
		Step: [3]float64{0.216, 4.72, 9.95}, Post: [3]float64{8.59, 0.741, 3.94}, Child: [3]float64{5, 9.4, 6},
		Ring: [3]float64{40, 11.5, 40}, Tree: [3]float64{8, 5.5, 5.5},
		NVLSTree: NVLSTreeCosts{Step: 28.6, Pair: 15.71, Many: 10.9, Fill: 1.35, Level: 0.7},
	},
	Volta: {
		Step: [3]float64{3.18, 4.72, 4.68}, Post: [3]float64{1.56, 0.741, 3.93}, Child: [3]float64{5, 9.41, 6},
		Ring: [3]float64{5.22, 11.5, 11.5}, Tree: [3]float64{8, 5.5, 4.69},
		NVLSTree: NVLSTreeCosts{Step: 28.6, Pair: 15.71, Many: 10.9, Fill: 1.35, Level: 0.7},
	},
	Ampere: {
		Step: [3]float64{3.18, 4.72, 4.68}, Post: [3]float64{1.56, 0.741, 3.93}, Child: [3]float64{5, 9.41, 6},
		Ring: [3]float64{5.22, 11.5, 11.5}, Tree: [3]float64{8, 5.5, 11},
		NVLSTree: NVLSTreeCosts{Step: 28.6, Pair: 15.71, Many: 10.9, Fill: 1.35, Level: 0.7},
	},
	Hopper: {
		Step: [3]float64{3.33, 7.16, 4.68}, Post: [3]float64{0.785, 2.39, 10}, Child: [3]float64{5, 6.04, 6},
		Ring: [3]float64{20, 16.1, 22.6}, Tree: [3]float64{8, 7.99, 11},
		NVLSTree: NVLSTreeCosts{Step: 28.6, Pair: 15.71, Many: 10.9, Fill: 1.35, Level: 0.7},
	},
	Blackwell: {
		Step: [3]float64{1.25, 30, 16.5}, Post: [3]float64{0.2, 1.46, 19.7}, Child: [3]float64{5, 16.8, 6},
		Ring: [3]float64{40, 40, 31}, Tree: [3]float64{8, 8.64, 11},
		NVLSTree: NVLSTreeCosts{Step: 28.6, Pair: 15.71, Many: 10.9, Fill: 1.35, Level: 0.7},
	},
}
