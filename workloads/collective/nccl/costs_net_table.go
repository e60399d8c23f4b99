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
		Step: [3]float64{3.83, 6.68, 9.95}, Post: [3]float64{7.8, 3.98, 2.2}, Child: [3]float64{5, 7.52, 6},
		Ring: [3]float64{40, 40, 40}, Tree: [3]float64{0.564, 7.5, 4.81},
		NVLSTree: NVLSTreeCosts{Step: 28.3, Pair: 15.74, Many: 10.9, Fill: 1.3, Level: 0.785},
	},
	Volta: {
		Step: [3]float64{3.83, 6.68, 4.02}, Post: [3]float64{2.15, 3.98, 2.2}, Child: [3]float64{5, 7.52, 6},
		Ring: [3]float64{20, 40, 11.5}, Tree: [3]float64{0.564, 7.5, 4.81},
		NVLSTree: NVLSTreeCosts{Step: 28.3, Pair: 15.74, Many: 10.9, Fill: 1.3, Level: 0.785},
	},
	Ampere: {
		Step: [3]float64{3.83, 6.68, 4.02}, Post: [3]float64{2.15, 3.98, 2.2}, Child: [3]float64{5, 7.52, 6},
		Ring: [3]float64{20, 40, 11.5}, Tree: [3]float64{0.564, 7.5, 11},
		NVLSTree: NVLSTreeCosts{Step: 28.3, Pair: 15.74, Many: 10.9, Fill: 1.3, Level: 0.785},
	},
	Hopper: {
		Step: [3]float64{4, 4.31, 4.02}, Post: [3]float64{1.62, 4.14, 5.41}, Child: [3]float64{5, 7.51, 6},
		Ring: [3]float64{20, 40, 22.8}, Tree: [3]float64{8, 8, 11},
		NVLSTree: NVLSTreeCosts{Step: 28.3, Pair: 15.74, Many: 10.9, Fill: 1.3, Level: 0.785},
	},
	Blackwell: {
		Step: [3]float64{2.18, 4.3, 18.5}, Post: [3]float64{1.19, 4.14, 1.78}, Child: [3]float64{5, 7.51, 6},
		Ring: [3]float64{3.94, 40, 21.4}, Tree: [3]float64{8, 7.99, 11},
		NVLSTree: NVLSTreeCosts{Step: 28.3, Pair: 15.74, Many: 10.9, Fill: 1.3, Level: 0.785},
	},
}
