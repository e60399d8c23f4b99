package nccl

// hostCostsOf and peerCosts are fitted: go test -run TestHostResiduals -calibrate-host.
var hostCostsOf = [generations]HostCosts{
	Pascal: {
		Start: [3]float64{5.5, 0, 9}, Peer: [3]float64{7, 0, 10}, Step: [3]float64{1, 0, 5}, StagedStep: [3]float64{1, 0, 5},
		CTA: [3]float64{7, 0, 10.4}, Staged: 11.5, Own: 20, Jitter: 2,
	},
	Volta: {
		Start: [3]float64{5.5, 0, 9}, Peer: [3]float64{7, 0, 10}, Step: [3]float64{1, 0, 5}, StagedStep: [3]float64{1, 0, 5},
		CTA: [3]float64{7, 0, 10.4}, Staged: 11.5, Own: 20, Jitter: 2,
	},
	Ampere: {
		Start: [3]float64{4, 0, 6}, Peer: [3]float64{7, 0, 9}, Step: [3]float64{.5, 0, 3}, StagedStep: [3]float64{.7, 0, 3},
		CTA: [3]float64{11, 0, 12.7}, Staged: 25, Own: 40, Jitter: 2,
	},
	Hopper: {
		Start: [3]float64{4, 0, 6}, Peer: [3]float64{7, 0, 9}, Step: [3]float64{.5, 0, 3}, StagedStep: [3]float64{.7, 0, 3},
		CTA: [3]float64{11, 0, 12.7}, Staged: 25, Own: 40, Jitter: 2,
	},
	Blackwell: {
		Start: [3]float64{4, 0, 6}, Peer: [3]float64{7, 0, 9}, Step: [3]float64{.5, 0, 3}, StagedStep: [3]float64{.7, 0, 3},
		CTA: [3]float64{7, 0, 12.7}, Staged: 25, Own: 40, Jitter: 2,
	},
}

var peerCosts = [generations]PeerCosts{
	Pascal:    peerGuess(9, 11, 8, 10, 0),
	Volta:     peerGuess(9, 11, 8, 10, 0),
	Ampere:    peerGuess(10.5, 11, 8, 11, 0.4),
	Hopper:    peerGuess(6, 8.6, 13, 17.5, 0),
	Blackwell: peerGuess(9, 11, 15, 21, 0),
}

func peerGuess(ll, simple, llRate, rate, block float64) PeerCosts {
	return PeerCosts{
		Start: [3]float64{ll, 0, simple}, CTA: [3]float64{llRate, 0, rate}, OneWay: 1.25, Drain: .5, Block: block, Uneven: [2]float64{0.04, 0.17},
		Net: PeerNetCosts{Start: 17, CTA: 24.9, NIC: .965, Pair: .825, Fill: 2},
	}
}
