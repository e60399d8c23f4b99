package nccl

// Written by: go test -run TestCalibrate -calibrate ./workloads/collective/nccl

var costs = [generations]Costs{
	Pascal: {
		Start: [3]float64{6.993, 9, 12.65}, Step: [3]float64{4.985, 6, 1.877}, CTA: [3]float64{3.119, 4, 10.02},
		Slice: 1.705, Own: [3]float64{0.1479, 0.8948, 0.1236}, Jitter: 7.034,
		NVLS: NVLSCosts{Start: 17, Slice: 0.6, CTA: 22, Jitter: 0.2},
	},
	Volta: {
		Start: [3]float64{19.41, 62.6, 8.182e-06}, Step: [3]float64{1.623, 0.7597, 1.612e-07}, CTA: [3]float64{57.78, 6.919, 11.59},
		Slice: 3.693, Own: [3]float64{2.213, 0.65, 6.716e-09}, Jitter: 0.254,
		NVLS: NVLSCosts{Start: 18, Slice: 0.6, CTA: 22, Jitter: 0.2},
	},
	Ampere: {
		Start: [3]float64{8.101, 20.92, 19.17}, Step: [3]float64{0.4444, 1.952, 1.807}, CTA: [3]float64{7.351, 6.907, 10.49},
		Slice: 2.239, Own: [3]float64{0.5298, 0.65, 0.2102}, Jitter: 2.596,
		NVLS: NVLSCosts{Start: 20, Slice: 0.6, CTA: 22, Jitter: 0.2},
	},
	Hopper: {
		Start: [3]float64{4.079, 13.1, 9.102}, Step: [3]float64{0.5008, 0.6744, 4.184}, CTA: [3]float64{12.54, 14.26, 16.13},
		Slice: 1.562e-06, Own: [3]float64{0.4051, 0.5216, 0.1563}, Jitter: 1.595,
		NVLS: NVLSCosts{Start: 15.96, Slice: 0.3696, CTA: 20.61, Jitter: 1.151},
	},
	Blackwell: {
		Start: [3]float64{7.348, 11.4, 8.259}, Step: [3]float64{0.8575, 2, 9.172}, CTA: [3]float64{17.35, 16.8, 23},
		Slice: 3.663e-07, Own: [3]float64{0.5266, 0.7262, 0.2855}, Jitter: 0.9401,
		NVLS: NVLSCosts{Start: 19.23, Slice: 1.217, CTA: 27.92, Jitter: 0.2452},
	},
}

var host = hostCosts{OneProcess: 4.852, PyTorch: 19.35, Thread: 0.4394}
