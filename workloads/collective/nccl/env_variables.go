package nccl

import "github.com/weft-sim/weft/sim"

// variable is an environment variable: what it sets, or why it is not taken.
type variable struct {
	name   string
	set    func(e *Env, v Version, value string) error
	note   string // why it changes nothing here, though it is taken
	refuse string // why it is not taken
}

// Reasons that several variables share.
const (
	noChunks  = "what one chunk of data is does not depend on it here; times are fitted to NCCL's own sizes"
	noQueues  = "it acts where flows are hashed on cables: set the spread and flows of the fabric"
	noKernels = "weft has none of NCCL's kernels for symmetric memory: leave it out"
	noPorts   = "which NICs there are is said by the machine: leave it out, or change the machine"
	noFiles   = "files are handed to weft itself: leave it out, and name the file where weft asks for it"
	onlyLog   = "it changes what NCCL prints, and nothing else"
)

// variables are those that are known, in the order in which they are listed.
//
// Source: NVIDIA/nccl 2.18.5 to 2.30.7, NCCL_PARAM and ncclGetEnv in src/.
var variables = []variable{
	{name: "NCCL_ALGO", set: func(e *Env, v Version, s string) (err error) {
		e.algorithms, err = parseMask("NCCL_ALGO", s, v, names[Algorithm](algorithms))
		return err
	}},
	{name: "NCCL_PROTO", set: func(e *Env, v Version, s string) (err error) {
		e.protocol, err = parseMask("NCCL_PROTO", s, v, names[Protocol](protocols))
		return err
	}},
	{name: "NCCL_NVLS_ENABLE", set: off(0, 2, func(e *Env) *bool { return &e.NoNVLS })},
	{name: "NCCL_PAT_ENABLE", set: off(0, 2, func(e *Env) *bool { return &e.NoPAT })},
	{name: "NCCL_COLLNET_ENABLE", set: on(func(e *Env) *bool { return &e.CollNet })},
	{name: "NCCL_COLLNET_NODE_THRESHOLD", set: count(2, 1<<20, func(e *Env) *int { return &e.CollNetNodes })},
	{name: "NCCL_NET_OVERHEAD", set: func(e *Env, _ Version, s string) error {
		n, err := number(s, 0, 1e9)
		e.NetOverhead = float64(n)
		return err
	}},

	{name: "NCCL_MIN_NCHANNELS", set: count(1, 64, func(e *Env) *int { return &e.MinChannels })},
	{name: "NCCL_MAX_NCHANNELS", set: count(1, 64, func(e *Env) *int { return &e.MaxChannels })},
	{name: "NCCL_MIN_CTAS", set: count(1, 64, func(e *Env) *int { return &e.MinChannels })},
	{name: "NCCL_MAX_CTAS", set: count(1, 64, func(e *Env) *int { return &e.MaxChannels })},
	{name: "NCCL_NVLS_NCHANNELS", set: count(1, 64, func(e *Env) *int { return &e.NVLSChannels })},
	{name: "NCCL_NTHREADS", set: threads(64, 512, func(e *Env) *int { return &e.Threads })},
	{name: "NCCL_LL128_NTHREADS", set: threads(160, 640, func(e *Env) *int { return &e.LL128Threads })},
	{name: "NCCL_THREAD_THRESHOLDS", set: thresholds},
	{name: "NCCL_MIN_P2P_NCHANNELS", set: count(1, 64, func(e *Env) *int { return &e.MinP2P })},
	{name: "NCCL_MAX_P2P_NCHANNELS", set: count(1, 64, func(e *Env) *int { return &e.MaxP2P })},
	{name: "NCCL_NCHANNELS_PER_NET_PEER", set: count(1, 64, func(e *Env) *int { return &e.PerNetPeer })},
	{name: "NCCL_BUFFSIZE", set: size(func(e *Env) *sim.Bytes { return &e.Buffer }), note: noChunks},
	{name: "NCCL_LL_BUFFSIZE", set: size(func(e *Env) *sim.Bytes { return &e.LLBuffer }), note: noChunks},
	{name: "NCCL_LL128_BUFFSIZE", set: size(func(e *Env) *sim.Bytes { return &e.LL128Buffer }), note: noChunks},
	{name: "NCCL_NVLS_CHUNKSIZE", set: size(func(e *Env) *sim.Bytes { return &e.NVLSChunk }), note: noChunks},
	{name: "NCCL_NVLSTREE_MAX_CHUNKSIZE", set: size(func(e *Env) *sim.Bytes { return &e.NVLSTreeChunk }), note: noChunks},
	{name: "NCCL_P2P_NET_CHUNKSIZE", set: size(func(e *Env) *sim.Bytes { return &e.P2PNet }), note: noChunks},
	{name: "NCCL_P2P_NVL_CHUNKSIZE", set: size(func(e *Env) *sim.Bytes { return &e.P2PNVLink }), note: noChunks},
	{name: "NCCL_P2P_PCI_CHUNKSIZE", set: size(func(e *Env) *sim.Bytes { return &e.P2PPCIe }), note: noChunks},
	{name: "NCCL_P2P_LL_THRESHOLD", set: choice(0, 1<<30, func(e *Env) **int { return &e.P2PLL }), note: noChunks},
	{name: "NCCL_IB_QPS_PER_CONNECTION", set: count(1, 128, func(e *Env) *int { return &e.QPs }), note: noQueues},
	{name: "NCCL_IB_SPLIT_DATA_ON_QPS", set: choice(0, 1, func(e *Env) **int { return &e.SplitQPs }), note: noQueues},

	{name: "NCCL_P2P_DISABLE", set: on(func(e *Env) *bool { return &e.NoP2P })},
	{name: "NCCL_P2P_LEVEL", set: func(e *Env, _ Version, s string) error {
		level, err := parseLevel(s)
		if err == nil {
			e.P2PLevel, e.NoP2P = &level, e.NoP2P || level == LOC
		}
		return err
	}},
	{name: "NCCL_SHM_DISABLE", set: on(func(e *Env) *bool { return &e.NoSHM })},
	{name: "NCCL_NET_DISABLE_INTRA", set: on(func(e *Env) *bool { return &e.NoNetIntra })},
	{name: "NCCL_NVB_DISABLE", set: on(func(e *Env) *bool { return &e.NoNVB })},
	{name: "NCCL_NET_GDR_LEVEL", set: func(e *Env, _ Version, s string) error {
		level, err := parseLevel(s)
		if err == nil {
			e.GDRLevel = &level
		}
		return err
	}},
	{name: "NCCL_NET_GDR_READ", set: choice(0, 1, func(e *Env) **int { return &e.GDRRead })},
	{name: "NCCL_NET_GDR_C2C", set: choice(0, 1, func(e *Env) **int { return &e.GDRC2C })},
	{name: "NCCL_PXN_DISABLE", set: on(func(e *Env) *bool { return &e.NoPXN })},
	{name: "NCCL_PXN_C2C", set: choice(0, 1, func(e *Env) **int { return &e.PXNC2C })},
	{name: "NCCL_P2P_PXN_LEVEL", set: choice(0, 2, func(e *Env) **int { return &e.P2PPXN }),
		note: "by which GPU a send leaves is said by the machine: set its relay"},
	{name: "NCCL_CROSS_NIC", set: choice(0, 2, func(e *Env) **int { return &e.CrossNIC })},
	{name: "NCCL_NETDEVS_POLICY", set: netDevices},
	{name: "NCCL_MNNVL_ENABLE", set: off(0, 2, func(e *Env) *bool { return &e.NoMNNVL })},

	{name: "NCCL_P2P_DIRECT_DISABLE", set: idle, note: "buffers of one process are reached as those of others are here"},
	{name: "NCCL_IB_AR_THRESHOLD", set: idle, note: noQueues},
	{name: "NCCL_IB_ADAPTIVE_ROUTING", set: idle, note: noQueues},
	{name: "NCCL_CGA_CLUSTER_SIZE", set: idle, note: "which multiprocessors thread blocks share is not simulated"},
	{name: "NCCL_LAUNCH_MODE", set: anything, note: "how kernels are launched is a setting of its own"},
	{name: "NCCL_WIN_ENABLE", set: idle, note: "buffers are not registered here"},
	{name: "NCCL_SHM_LOCALITY", set: idle, note: "in whose host memory bytes are staged is said by the machine"},
	{name: "NCCL_DEBUG", set: anything, note: onlyLog},
	{name: "NCCL_DEBUG_SUBSYS", set: anything, note: onlyLog},
	{name: "NCCL_DEBUG_FILE", set: anything, note: onlyLog},
	{name: "NCCL_TOPO_DUMP_FILE", set: anything, note: onlyLog},
	{name: "NCCL_GRAPH_DUMP_FILE", set: anything, note: onlyLog},

	{name: "NCCL_SYM_KERNEL", refuse: noKernels},
	{name: "NCCL_SYM_CTAS", refuse: noKernels},
	{name: "NCCL_SYM_CE_THRESHOLD", refuse: noKernels},
	{name: "NCCL_P2P_USE_CUDA_MEMCPY", refuse: "weft does not run collectives on copy engines: leave it out"},
	{name: "NCCL_IB_HCA", refuse: noPorts},
	{name: "NCCL_IB_DISABLE", refuse: noPorts},
	{name: "NCCL_SOCKET_IFNAME", refuse: noPorts},
	{name: "NCCL_NET", refuse: noPorts},
	{name: "NCCL_TOPO_FILE", refuse: noFiles},
	{name: "NCCL_GRAPH_FILE", refuse: noFiles},
	{name: "NCCL_TUNER_PLUGIN", refuse: noFiles},
	{name: "NCCL_TUNER_CONFIG_FILE", refuse: noFiles},
}
