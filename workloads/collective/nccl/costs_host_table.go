package nccl

// Fitted: go test -run TestHostResiduals -calibrate-host ./workloads/collective/nccl. Of
// Pascal over PCIe Volta is taken, and of Hopper Ampere; sends and receives of
// Pascal and Volta over NVLink are assumed, between Ampere and what rings have.

var hostCostsOf = [generations]HostCosts{
	Pascal: {
		Start: [3]float64{LL: 7.8, Simple: 14.6}, Peer: [3]float64{LL: 7, Simple: 10},
		Step: [3]float64{LL: 1.51, Simple: 1.99}, StagedStep: [3]float64{LL: 1.16, Simple: 10},
		CTA: [3]float64{LL: 20, Simple: 14}, Staged: 11.3, Direct: 11.6, Own: 10, Jitter: 0.2,
	},
	Volta: {
		Start: [3]float64{LL: 7.8, Simple: 14.6}, Peer: [3]float64{LL: 7, Simple: 10},
		Step: [3]float64{LL: 1.51, Simple: 1.99}, StagedStep: [3]float64{LL: 1.16, Simple: 10},
		CTA: [3]float64{LL: 20, Simple: 14}, Staged: 11.3, Direct: 11.6, Own: 10, Jitter: 0.2,
	},
	Ampere: {
		Start: [3]float64{LL: 5.06, Simple: 11.4}, Peer: [3]float64{LL: 7.45, Simple: 12.7},
		Step: [3]float64{LL: 0.604, Simple: 7.09}, StagedStep: [3]float64{LL: 0.663, Simple: 0.5},
		CTA: [3]float64{LL: 7.29, Simple: 16.9}, Staged: 18.8, Direct: 43, Own: 17, Jitter: 0.2,
	},
	Hopper: {
		Start: [3]float64{LL: 5.06, Simple: 11.4}, Peer: [3]float64{LL: 7.45, Simple: 12.7},
		Step: [3]float64{LL: 0.604, Simple: 7.09}, StagedStep: [3]float64{LL: 0.663, Simple: 0.5},
		CTA: [3]float64{LL: 7.29, Simple: 16.9}, Staged: 18.8, Direct: 43, Own: 17, Jitter: 0.2,
	},
	Blackwell: {
		Start: [3]float64{LL: 4.52, Simple: 13.3}, Peer: [3]float64{LL: 7, Simple: 9},
		Step: [3]float64{LL: 0.704, Simple: 0.5}, StagedStep: [3]float64{LL: 0.99, Simple: 2.21},
		CTA: [3]float64{LL: 7.76, Simple: 12}, Staged: 25, Direct: 41.6, Own: 36.5, Jitter: 0.2,
	},
}

var peerCosts = [generations]PeerCosts{
	Pascal: {
		Start: [3]float64{LL: 9, Simple: 11}, Block: 0,
		CTA: [3]float64{LL: 8, Simple: 10}, OneWay: 1.25, Drain: 0.5, Uneven: [2]float64{0.04, 0.17},
	},
	Volta: {
		Start: [3]float64{LL: 9, Simple: 11}, Block: 0,
		CTA: [3]float64{LL: 8, Simple: 10}, OneWay: 1.25, Drain: 0.5, Uneven: [2]float64{0.04, 0.17},
	},
	Ampere: {
		Start: [3]float64{LL: 9.58, Simple: 6.52}, Block: 0.407,
		CTA: [3]float64{LL: 11.9, Simple: 10.6}, OneWay: 1.25, Drain: 0.537, Uneven: [2]float64{0.1, 0.176},
	},
	Hopper: {
		Start: [3]float64{LL: 6.26, Simple: 7.08}, Block: 0,
		CTA: [3]float64{LL: 12.6, Simple: 18.9}, OneWay: 2, Drain: 0.767, Uneven: [2]float64{0.01, 0.155},
	},
	Blackwell: {
		Start: [3]float64{LL: 9.27, Simple: 12.2}, Block: 0,
		CTA: [3]float64{LL: 14, Simple: 21.7}, OneWay: 1.25, Drain: 0.462, Uneven: [2]float64{0.04, 0.217},
	},
}

var peerNet = PeerNetCosts{Start: 16.3, CTA: 25, NIC: 0.954, Pair: 0.819, Fill: 1.55}
