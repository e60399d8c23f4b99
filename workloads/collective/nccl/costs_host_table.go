package nccl

// Fitted: go test -run TestHostResiduals -calibrate-host ./workloads/collective/nccl. Of
// Pascal over PCIe Volta is taken, and of Hopper Blackwell; sends and receives of
// Pascal and Volta over NVLink are assumed, between Ampere and what rings have.

var hostCostsOf = [generations]HostCosts{
	Pascal: {
		Start: [3]float64{LL: 8.16, Simple: 12.2}, Peer: [3]float64{LL: 7, Simple: 10},
		Step: [3]float64{LL: 1.45, Simple: 2.4}, StagedStep: [3]float64{LL: 0.812, Simple: 1.19},
		CTA: [3]float64{LL: 20, Simple: 14}, Staged: 11.1, Direct: 11.6, Own: 10, Jitter: 0.2,
	},
	Volta: {
		Start: [3]float64{LL: 8.16, Simple: 12.2}, Peer: [3]float64{LL: 7, Simple: 10},
		Step: [3]float64{LL: 1.45, Simple: 2.4}, StagedStep: [3]float64{LL: 0.812, Simple: 1.19},
		CTA: [3]float64{LL: 20, Simple: 14}, Staged: 11.1, Direct: 11.6, Own: 10, Jitter: 0.2,
	},
	Ampere: {
		Start: [3]float64{LL: 5.01, Simple: 12.9}, Peer: [3]float64{LL: 7.34, Simple: 12.2},
		Step: [3]float64{LL: 0.608, Simple: 4.96}, StagedStep: [3]float64{LL: 0.613, Simple: 6.71},
		CTA: [3]float64{LL: 7.2, Simple: 16.7}, Staged: 24, Direct: 22.3, Own: 30.2, Jitter: 0.2,
	},
	Hopper: {
		Start: [3]float64{LL: 4.58, Simple: 13.1}, Peer: [3]float64{LL: 7, Simple: 9},
		Step: [3]float64{LL: 0.694, Simple: 0.668}, StagedStep: [3]float64{LL: 0.97, Simple: 2.4},
		CTA: [3]float64{LL: 7.87, Simple: 12.1}, Staged: 25, Direct: 41.6, Own: 36.3, Jitter: 0.2,
	},
	Blackwell: {
		Start: [3]float64{LL: 4.58, Simple: 13.1}, Peer: [3]float64{LL: 7, Simple: 9},
		Step: [3]float64{LL: 0.694, Simple: 0.668}, StagedStep: [3]float64{LL: 0.97, Simple: 2.4},
		CTA: [3]float64{LL: 7.87, Simple: 12.1}, Staged: 25, Direct: 41.6, Own: 36.3, Jitter: 0.2,
	},
}

var peerCosts = [generations]PeerCosts{
	Pascal: {
		Start: [3]float64{LL: 9, Simple: 11}, Block: 0,
		CTA: [3]float64{LL: 8, Simple: 10}, OneWay: 1.25, Own: 0.1, Drain: 0.5, Uneven: [2]float64{0.04, 0.17},
	},
	Volta: {
		Start: [3]float64{LL: 9, Simple: 11}, Block: 0,
		CTA: [3]float64{LL: 8, Simple: 10}, OneWay: 1.25, Own: 0.1, Drain: 0.5, Uneven: [2]float64{0.04, 0.17},
	},
	Ampere: {
		Start: [3]float64{LL: 9.48, Simple: 7.42}, Block: 0.429,
		CTA: [3]float64{LL: 12.9, Simple: 11.9}, OneWay: 1.25, Own: 0.232, Drain: 0.454, Uneven: [2]float64{0.181, 0.183},
	},
	Hopper: {
		Start: [3]float64{LL: 6.28, Simple: 7.07}, Block: 0,
		CTA: [3]float64{LL: 13.8, Simple: 20.5}, OneWay: 2, Own: 0.266, Drain: 0.684, Uneven: [2]float64{0.01, 0.168},
	},
	Blackwell: {
		Start: [3]float64{LL: 9.27, Simple: 12.2}, Block: 0,
		CTA: [3]float64{LL: 14.1, Simple: 21.8}, OneWay: 1.25, Own: 0.01, Drain: 0.462, Uneven: [2]float64{0.04, 0.217},
	},
}

var peerNet = PeerNetCosts{Start: 16.2, CTA: 25.1, NIC: 0.975, Pair: 0.819, Fill: 1.62}
