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
		Step: [3]float64{3.8, 4.79, 9.96}, Post: [3]float64{7.81, 4.23, 3.92}, Child: [3]float64{5, 9.39, 6},
		Ring: [3]float64{40, 40, 40}, Tree: [3]float64{8, 5.5, 5.5},
		NVLSTree: NVLSTreeCosts{Step: 28.6, Pair: 15.75, Many: 10.9, Fill: 1.36, Level: 0.704},
	},
	Volta: {
		Step: [3]float64{3.8, 4.79, 4}, Post: [3]float64{2.15, 4.23, 3.92}, Child: [3]float64{5, 9.39, 6},
		Ring: [3]float64{6.93, 40, 11.4}, Tree: [3]float64{8, 5.5, 4.69},
		NVLSTree: NVLSTreeCosts{Step: 28.6, Pair: 15.75, Many: 10.9, Fill: 1.36, Level: 0.704},
	},
	Ampere: {
		Step: [3]float64{3.8, 4.79, 4}, Post: [3]float64{2.15, 4.23, 3.92}, Child: [3]float64{5, 9.39, 6},
		Ring: [3]float64{6.93, 40, 11.4}, Tree: [3]float64{8, 5.5, 11},
		NVLSTree: NVLSTreeCosts{Step: 28.6, Pair: 15.75, Many: 10.9, Fill: 1.36, Level: 0.704},
	},
	Hopper: {
		Step: [3]float64{3.71, 4.03, 4}, Post: [3]float64{1.67, 4.23, 10}, Child: [3]float64{5, 8.53, 6},
		Ring: [3]float64{20, 40, 22.6}, Tree: [3]float64{8, 6.2, 11},
		NVLSTree: NVLSTreeCosts{Step: 28.6, Pair: 15.75, Many: 10.9, Fill: 1.36, Level: 0.704},
	},
	Blackwell: {
		Step: [3]float64{2.47, 30, 22.9}, Post: [3]float64{1.36, 4.09, 11.7}, Child: [3]float64{5, 16.6, 6},
		Ring: [3]float64{7.88, 39.2, 27.7}, Tree: [3]float64{8, 6.27, 11},
		NVLSTree: NVLSTreeCosts{Step: 28.6, Pair: 15.75, Many: 10.9, Fill: 1.36, Level: 0.704},
	},
}
