package nccl

// tables are the constants of the tuning model, by the release that they were
// read at; a release between two has those of the one before it. They are
// NVIDIA's own inputs to a choice, and no measurement of a machine.
//
// Source: NVIDIA/nccl, src/graph/tuning.cc, at the tags and commits named;
// figures only.
var tables = []constants{
	{ // tag v2.18.5-1, commit 559b70f8: 2.18.x
		from: Version{2, 18, 5},
		base: latencies{Tree: {6.8, 14, 0}, Ring: {6.6, 14, 8.4}, CollNetDirect: {6.8, 14, 0}, CollNetChain: {6.8, 14, 0}, NVLS: {0, 0, 23}, NVLSTree: {0, 0, 23}},
		hw: [3]latencies{
			{Tree: {0.6, 1.25, 4}, Ring: {0.6, 1.9, 3.4}, CollNetDirect: {0, 0, 8}, CollNetChain: {0, 0, 4.75}},
			{Tree: {1, 1.9, 6}, Ring: {1, 2.5, 5.7}, CollNetDirect: {0, 0, 8}, CollNetChain: {0, 0, 8}},
			{Tree: {5, 8.5, 14}, Ring: {2.7, 4, 14}, CollNetDirect: {0, 0, 10.7}, CollNetChain: {0, 0, 14}, NVLS: {0, 0, 18}, NVLSTree: {0, 0, 19}},
		},
		llMax:     caps{{39, 39, 20.4}, {87.7, 22.5, 19}, {87.7, 22.5, 19}},
		ringLL128: caps{{20, 20, 20}, {20, 20, 20}, {36.7, 36.7, 36.7}},
		treeLL128: caps{{20, 20, 20}, {20, 20, 20}, {36.7, 36.7, 29}},
		tree:      caps{{26.5, 18.5, 10}, {24, 23.6, 17.8}, {38.7, 41.4, 36}},
	},
	{ // tag v2.19.3-1, commit 8c6c5951: 2.19.x, 2.20.x
		from: Version{2, 19, 3},
		base: latencies{Tree: {6.8, 14, 0}, Ring: {6.6, 14, 8.4}},
		hw: [3]latencies{
			{Tree: {0.6, 1.25, 28}, Ring: {0.6, 1.9, 3.4}, CollNetDirect: {0, 0, 3.7}, CollNetChain: {0, 0, 2.8}, NVLS: {0, 0, 23}, NVLSTree: {0, 0, 23}},
			{Tree: {1, 1.9, 28}, Ring: {1, 2.5, 5.7}, CollNetDirect: {0, 0, 3.7}, CollNetChain: {0, 0, 2.8}},
			{Tree: {5, 8.5, 28}, Ring: {2.7, 4, 14}, CollNetDirect: {0, 0, 31}, CollNetChain: {0, 0, 30}, NVLS: {0, 0, 18}, NVLSTree: {0, 0, 14}},
		},
		llMax:     caps{{39, 39, 20.4}, {87.7, 22.5, 19}, {87.7, 22.5, 19}},
		ringLL128: caps{{20, 20, 20}, {20, 20, 20}, {36.7, 36.7, 36.7}},
		treeLL128: caps{{20, 20, 20}, {20, 20, 20}, {36.7, 36.7, 29}},
		tree:      caps{{26.5, 18.5, 10}, {24, 23.6, 17.8}, {38.7, 41.4, 36}},
	},
	{ // tag v2.21.5-1, commit ab2b89c4: 2.21.x, 2.22.x
		from: Version{2, 21, 5},
		base: latencies{Tree: {6.8, 14, 0}, Ring: {6.6, 14, 8.4}},
		hw: [3]latencies{
			{Tree: {0.6, 1.25, 28}, Ring: {0.6, 1.9, 3.4}, CollNetDirect: {0, 0, 3.7}, CollNetChain: {0, 0, 2.8}, NVLS: {0, 0, 25}, NVLSTree: {0, 0, 25}},
			{Tree: {1, 1.9, 28}, Ring: {1, 2.5, 5.7}, CollNetDirect: {0, 0, 3.7}, CollNetChain: {0, 0, 2.8}},
			{Tree: {5, 8.5, 28}, Ring: {2.7, 4, 14}, CollNetDirect: {0, 0, 31}, CollNetChain: {0, 0, 30}, NVLS: {0, 0, 18}, NVLSTree: {0, 0, 14}},
		},
		llMax:     caps{{39, 39, 20.4}, {87.7, 22.5, 19}, {141, 45, 35}},
		ringLL128: caps{{20, 20, 20}, {20, 20, 20}, {36.7, 36.7, 36.7}},
		treeLL128: caps{{20, 20, 20}, {20, 20, 20}, {36.7, 36.7, 29}},
		tree:      caps{{26.5, 18.5, 10}, {24, 23.6, 17.8}, {38.7, 41.4, 36}},
	},
	{ // tag v2.23.4-1, commit 68b54236: 2.23.x, 2.24.x
		from: Version{2, 23, 4},
		base: latencies{Tree: {6.8, 14, 8.4}, Ring: {6.6, 14, 8.4}},
		hw: [3]latencies{
			{Tree: {0.6, 1.25, 4}, Ring: {0.6, 1.9, 3.4}, CollNetDirect: {0, 0, 3.7}, CollNetChain: {0, 0, 2.8}, NVLS: {0, 0, 25}, NVLSTree: {0, 0, 25}},
			{Tree: {1, 1.9, 4}, Ring: {1, 2.5, 5.7}, CollNetDirect: {0, 0, 3.7}, CollNetChain: {0, 0, 2.8}},
			{Tree: {5, 8.5, 14}, Ring: {2.7, 4, 14}, CollNetDirect: {0, 0, 31}, CollNetChain: {0, 0, 30}, NVLS: {0, 0, 18}, NVLSTree: {0, 0, 14}},
		},
		llMax:     caps{{39, 39, 20.4}, {87.7, 22.5, 19}, {141, 45, 35}},
		ringLL128: caps{{20, 20, 20}, {20, 20, 20}, {36.7, 36.7, 36.7}},
		treeLL128: caps{{20, 20, 20}, {20, 20, 20}, {36.7, 36.7, 29}},
		tree:      caps{{26.5, 18.5, 10}, {24, 23.6, 17.8}, {38.7, 41.4, 36}},
	},
	{ // tag v2.27.7-1, commit 593de54e: 2.25.1 .. 2.27.7
		from: Version{2, 27, 7},
		base: latencies{Tree: {6.8, 14, 8.4}, Ring: {6.6, 14, 8.4}},
		hw: [3]latencies{
			{Tree: {0.6, 1.25, 4}, Ring: {0.6, 1.9, 3.4}, CollNetDirect: {0, 0, 3.7}, CollNetChain: {0, 0, 2.8}, NVLS: {0, 0, 25}, NVLSTree: {0, 0, 25}},
			{Tree: {1, 1.9, 4}, Ring: {1, 2.5, 5.7}, CollNetDirect: {0, 0, 3.7}, CollNetChain: {0, 0, 2.8}},
			{Tree: {5, 8.5, 14}, Ring: {2.7, 4, 14}, CollNetDirect: {0, 0, 31}, CollNetChain: {0, 0, 30}, NVLS: {0, 0, 18}, NVLSTree: {0, 0, 14}},
		},
		llMax:     caps{{39, 39, 20.4}, {87.7, 22.5, 19}, {141, 45, 35}, {282, 90, 70}},
		ringLL128: caps{{20, 20, 20}, {20, 20, 20}, {36.7, 36.7, 36.7}, {73.4, 73.4, 73.4}},
		treeLL128: caps{{20, 20, 20}, {20, 20, 20}, {36.7, 36.7, 29}, {73.4, 73.4, 58}},
		tree:      caps{{26.5, 18.5, 10}, {24, 23.6, 17.8}, {38.7, 41.4, 36}, {77.4, 82.8, 72}},
	},
	{ // tag v2.28.3-1: 2.28.3
		from: Version{2, 28, 3},
		base: latencies{Tree: {6.8, 14, 8.4}, Ring: {6.6, 14, 8.4}, PAT: {8, 8, 8}},
		hw: [3]latencies{
			{Tree: {0.6, 1.25, 4}, Ring: {0.6, 1.9, 3.4}, CollNetDirect: {0, 0, 3.7}, CollNetChain: {0, 0, 2.8}, NVLS: {0, 0, 25}, NVLSTree: {0, 0, 25}, PAT: {0, 0, 4}},
			{Tree: {1, 1.9, 4}, Ring: {1, 2.5, 5.7}, CollNetDirect: {0, 0, 3.7}, CollNetChain: {0, 0, 2.8}, PAT: {0, 0, 4}},
			{Tree: {5, 8.5, 14}, Ring: {2.7, 4, 14}, CollNetDirect: {0, 0, 31}, CollNetChain: {0, 0, 30}, NVLS: {0, 0, 18}, NVLSTree: {0, 0, 14}, PAT: {0, 0, 14}},
		},
		llMax:     caps{{39, 39, 20.4}, {87.7, 22.5, 19}, {141, 45, 35}, {282, 90, 70}},
		ringLL128: caps{{20, 20, 20}, {20, 20, 20}, {36.7, 36.7, 36.7}, {73.4, 73.4, 73.4}},
		treeLL128: caps{{20, 20, 20}, {20, 20, 20}, {36.7, 36.7, 29}, {55.6, 31.67, 20}},
		tree:      caps{{26.5, 18.5, 10}, {24, 23.6, 17.8}, {38.7, 41.4, 36}, {70, 42.8, 24}},
		nvlsTree:  caps{{26.5, 18.5, 10}, {24, 23.6, 17.8}, {0, 57.7, 45.5}, {0, 96, 43.1}},
	},
	{ // tag v2.28.9-1, commit dbc86fd0: 2.28.9
		from: Version{2, 28, 9},
		base: latencies{Tree: {6.8, 14, 8.4}, Ring: {6.6, 14, 8.4}, PAT: {8, 8, 8}},
		hw: [3]latencies{
			{Tree: {0.6, 1.25, 4}, Ring: {0.6, 1.9, 3.4}, CollNetDirect: {0, 0, 3.7}, CollNetChain: {0, 0, 2.8}, NVLS: {0, 0, 25}, NVLSTree: {0, 0, 25}, PAT: {0, 0, 4}},
			{Tree: {1, 1.9, 4}, Ring: {1, 2.5, 5.7}, CollNetDirect: {0, 0, 3.7}, CollNetChain: {0, 0, 2.8}, PAT: {0, 0, 4}},
			{Tree: {5, 8.5, 14}, Ring: {2.7, 4, 14}, CollNetDirect: {0, 0, 31}, CollNetChain: {0, 0, 30}, NVLS: {0, 0, 18}, NVLSTree: {0, 0, 20.9}, PAT: {0, 0, 14}},
		},
		llMax:     caps{{39, 39, 20.4}, {87.7, 22.5, 19}, {141, 45, 35}, {282, 90, 70}},
		ringLL128: caps{{20, 20, 20}, {20, 20, 20}, {36.7, 36.7, 36.7}, {73.4, 34.6, 73.4}},
		treeLL128: caps{{20, 20, 20}, {20, 20, 20}, {36.7, 36.7, 29}, {55.6, 31.67, 20}},
		tree:      caps{{26.5, 18.5, 10}, {24, 23.6, 17.8}, {38.7, 41.4, 36}, {70, 42.8, 24}},
		nvlsTree:  caps{{26.5, 18.5, 10}, {24, 23.6, 17.8}, {0, 57.7, 45.5}, {0, 96, 43.8}},
	},
	{ // tag v2.29.2-1: 2.29.2
		from: Version{2, 29, 2},
		base: latencies{Tree: {6.8, 14, 8.4}, Ring: {6.6, 14, 8.4}, PAT: {8, 8, 8}},
		hw: [3]latencies{
			{Tree: {0.6, 1.25, 4}, Ring: {0.6, 1.9, 3.4}, CollNetDirect: {0, 0, 3.7}, CollNetChain: {0, 0, 2.8}, NVLS: {0, 0, 25}, NVLSTree: {0, 0, 25}, PAT: {0, 0, 4}},
			{Tree: {1, 1.9, 4}, Ring: {1, 2.5, 5.7}, CollNetDirect: {0, 0, 3.7}, CollNetChain: {0, 0, 2.8}, PAT: {0, 0, 4}},
			{Tree: {5, 8.5, 14}, Ring: {2.7, 4, 14}, CollNetDirect: {0, 0, 31}, CollNetChain: {0, 0, 30}, NVLS: {0, 0, 18}, NVLSTree: {0, 0, 20.9}, PAT: {0, 0, 14}},
		},
		llMax:     caps{{39, 39, 20.4}, {87.7, 22.5, 19}, {141, 45, 35}, {282, 90, 70}},
		ringLL128: caps{{20, 20, 20}, {20, 20, 20}, {36.7, 36.7, 36.7}, {34.5, 34.6, 34.5}},
		treeLL128: caps{{20, 20, 20}, {20, 20, 20}, {36.7, 36.7, 29}, {55.6, 31.67, 20}},
		tree:      caps{{26.5, 18.5, 10}, {24, 23.6, 17.8}, {38.7, 41.4, 36}, {70, 42.8, 24}},
		nvlsTree:  caps{{26.5, 18.5, 10}, {24, 23.6, 17.8}, {0, 57.7, 45.5}, {0, 96, 43.8}},
	},
	{ // tag v2.29.7-1, commit b91894bd: 2.29.7
		from: Version{2, 29, 7},
		base: latencies{Tree: {6.8, 14, 8.4}, Ring: {6.6, 14, 8.4}, PAT: {8, 8, 8}},
		hw: [3]latencies{
			{Tree: {0.6, 1.25, 4}, Ring: {0.6, 1.9, 3.4}, CollNetDirect: {0, 0, 3.7}, CollNetChain: {0, 0, 2.8}, NVLS: {0, 0, 25}, NVLSTree: {0, 0, 25}, PAT: {0, 0, 4}},
			{Tree: {1, 1.9, 4}, Ring: {1, 2.5, 5.7}, CollNetDirect: {0, 0, 3.7}, CollNetChain: {0, 0, 2.8}, PAT: {0, 0, 4}},
			{Tree: {5, 8.5, 14}, Ring: {2.7, 4, 14}, CollNetDirect: {0, 0, 31}, CollNetChain: {0, 0, 30}, NVLS: {0, 0, 18}, NVLSTree: {0, 0, 20.9}, PAT: {0, 0, 14}},
		},
		llMax:     caps{{39, 39, 20.4}, {87.7, 22.5, 19}, {141, 45, 35}, {282, 90, 70}},
		ringLL128: caps{{20, 20, 20}, {20, 20, 20}, {36.7, 36.7, 36.7}, {40, 40, 40}},
		treeLL128: caps{{20, 20, 20}, {20, 20, 20}, {36.7, 36.7, 29}, {55.6, 31.67, 20}},
		tree:      caps{{26.5, 18.5, 10}, {24, 23.6, 17.8}, {38.7, 41.4, 36}, {70, 42.8, 24}},
		nvlsTree:  caps{{26.5, 18.5, 10}, {24, 23.6, 17.8}, {0, 57.7, 45.5}, {0, 96, 43.8}},
	},
	{ // tag v2.30.7-1, commit 73cf1122: 2.30.3 .. 2.30.7
		from: Version{2, 30, 7},
		base: latencies{Tree: {6.8, 14, 8.4}, Ring: {6.6, 14, 8.4}, PAT: {8, 8, 8}},
		hw: [3]latencies{
			{Tree: {0.6, 1.25, 4}, Ring: {0.6, 1.9, 3.4}, CollNetDirect: {0, 0, 3.7}, CollNetChain: {0, 0, 2.8}, NVLS: {0, 0, 25}, NVLSTree: {0, 0, 25}, PAT: {0, 0, 4}},
			{Tree: {1, 1.9, 4}, Ring: {1, 2.5, 5.7}, CollNetDirect: {0, 0, 3.7}, CollNetChain: {0, 0, 2.8}, PAT: {0, 0, 4}},
			{Tree: {5, 8.5, 14}, Ring: {2.7, 4, 14}, CollNetDirect: {0, 0, 31}, CollNetChain: {0, 0, 30}, NVLS: {0, 0, 18}, NVLSTree: {0, 0, 20.9}, PAT: {0, 0, 14}},
		},
		llMax:     caps{{39, 39, 20.4}, {87.7, 22.5, 19}, {141, 45, 35}, {282, 90, 70}},
		ringLL128: caps{{20, 20, 20}, {20, 20, 20}, {36.7, 36.7, 36.7}, {40, 40, 40}},
		treeLL128: caps{{20, 20, 20}, {20, 20, 20}, {36.7, 36.7, 29}, {55.6, 31.67, 20}},
		tree:      caps{{26.5, 18.5, 10}, {24, 23.6, 17.8}, {38.7, 41.4, 36}, {70, 42.8, 24}},
		nvlsTree:  caps{{26.5, 18.5, 10}, {24, 23.6, 17.8}, {0, 57.7, 45.5}, {0, 96, 80}},
	},
}
