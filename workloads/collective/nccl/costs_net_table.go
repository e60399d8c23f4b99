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
		Step: [3]float64{0.2, 5.19, 4.73}, Post: [3]float64{11.1, 0.745, 15}, Child: [3]float64{5, 9.39, 6},
		Ring: [3]float64{40, 11.5, 40}, Tree: [3]float64{8.01, 5.5, 5.5},
		NVLSTree: NVLSTreeCosts{Step: 29.3, Pair: 15.72, Many: 10.9, Fill: 1.33, Level: 0.7},
	},
	Volta: {
		Step: [3]float64{3.44, 5.19, 4.73}, Post: [3]float64{1.58, 0.745, 16.3}, Child: [3]float64{5, 9.39, 6},
		Ring: [3]float64{4.95, 11.5, 16}, Tree: [3]float64{8.01, 5.5, 4.69},
		NVLSTree: NVLSTreeCosts{Step: 29.3, Pair: 15.72, Many: 10.9, Fill: 1.33, Level: 0.7},
	},
	Ampere: {
		Step: [3]float64{3.44, 5.19, 4.73}, Post: [3]float64{1.58, 0.745, 16.3}, Child: [3]float64{5, 9.39, 6},
		Ring: [3]float64{4.95, 11.5, 16}, Tree: [3]float64{8.01, 5.5, 11},
		NVLSTree: NVLSTreeCosts{Step: 29.3, Pair: 15.72, Many: 10.9, Fill: 1.33, Level: 0.7},
	},
	Hopper: {
		Step: [3]float64{3.69, 7.66, 4.73}, Post: [3]float64{2.02, 2.36, 9.99}, Child: [3]float64{5, 6.53, 6},
		Ring: [3]float64{20, 16.1, 22.6}, Tree: [3]float64{8, 8, 11},
		NVLSTree: NVLSTreeCosts{Step: 29.3, Pair: 15.72, Many: 10.9, Fill: 1.33, Level: 0.7},
	},
	Blackwell: {
		Step: [3]float64{4.96, 30, 20.2}, Post: [3]float64{0.409, 2.17, 20}, Child: [3]float64{5, 17.8, 6},
		Ring: [3]float64{40, 40, 30.9}, Tree: [3]float64{8, 8.56, 11},
		NVLSTree: NVLSTreeCosts{Step: 29.3, Pair: 15.72, Many: 10.9, Fill: 1.33, Level: 0.7},
	},
}
