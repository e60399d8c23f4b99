package sim

import "math"

// unit is worth mul * 10^dec * 2^bin.
type unit struct {
	name     string
	dec, bin int
	mul      int64 // 0 is 1
}

// kind is a kind of quantity.
type kind struct {
	expected string
	fallback string // the unit that a bare number most likely meant
	example  string
	largest  string // the largest value, where values are integers
	units    []unit // of units that differ in case only, the likelier first
	slips    [][2]string
}

var times = kind{
	expected: "a time in ps, ns, us, ms, s, min or h",
	fallback: "us",
	example:  "1.5us",
	largest:  MaxTime.String(),
	units: []unit{
		{name: "ps"}, {name: "ns", dec: 3}, {name: "us", dec: 6}, {name: "ms", dec: 9}, {name: "s", dec: 12},
		{name: "min", dec: 12, mul: 60}, {name: "h", dec: 12, mul: 3600},
		{name: "µs", dec: 6}, // the micro sign, U+00B5
		{name: "μs", dec: 6}, // the Greek letter mu, U+03BC
	},
	slips: [][2]string{
		{"psec", "ps"}, {"picosecond", "ps"}, {"nsec", "ns"}, {"nanosecond", "ns"}, {"usec", "us"}, {"microsecond", "us"},
		{"msec", "ms"}, {"millisecond", "ms"}, {"sec", "s"}, {"second", "s"}, {"minute", "min"}, {"hr", "h"}, {"hour", "h"},
	},
}

var amounts = kind{
	expected: "bytes in B, KB, MB, GB, TB or KiB, MiB, GiB, TiB",
	fallback: "B",
	example:  "1MiB",
	largest:  Bytes(math.MaxInt64).String(),
	units: []unit{
		{name: "B"}, {name: "KB", dec: 3}, {name: "MB", dec: 6}, {name: "GB", dec: 9}, {name: "TB", dec: 12},
		{name: "KiB", bin: 10}, {name: "MiB", bin: 20}, {name: "GiB", bin: 30}, {name: "TiB", bin: 40},
	},
	// The suffixes of nccl-tests are powers of 1024.
	slips: [][2]string{{"byte", "B"}, {"k", "KiB"}, {"m", "MiB"}, {"g", "GiB"}, {"t", "TiB"}},
}

var rates = kind{
	expected: "bytes per second, per direction",
	fallback: "GB/s",
	example:  "450GB/s",
	units: []unit{
		{name: "GB/s", dec: 9}, {name: "MB/s", dec: 6}, {name: "TB/s", dec: 12}, {name: "KB/s", dec: 3}, {name: "B/s"},
		{name: "KiB/s", bin: 10}, {name: "MiB/s", bin: 20}, {name: "GiB/s", bin: 30}, {name: "TiB/s", bin: 40},
		{name: "Gb/s", dec: 9, bin: -3}, {name: "Gbit/s", dec: 9, bin: -3}, {name: "Gbps", dec: 9, bin: -3},
		{name: "Mb/s", dec: 6, bin: -3}, {name: "Mbit/s", dec: 6, bin: -3}, {name: "Mbps", dec: 6, bin: -3},
		{name: "Tb/s", dec: 12, bin: -3}, {name: "Tbit/s", dec: 12, bin: -3}, {name: "Tbps", dec: 12, bin: -3},
		{name: "Kb/s", dec: 3, bin: -3}, {name: "Kbit/s", dec: 3, bin: -3}, {name: "Kbps", dec: 3, bin: -3},
		{name: "b/s", bin: -3}, {name: "bit/s", bin: -3}, {name: "bps", bin: -3},
	},
	slips: [][2]string{{"GBps", "GB/s"}, {"MBps", "MB/s"}, {"TBps", "TB/s"}, {"KBps", "KB/s"}, {"Bps", "B/s"}},
}

var flopRates = kind{
	expected: "dense floating-point operations per second",
	fallback: "TFLOP/s",
	example:  "989TFLOP/s",
	units: []unit{
		{name: "TFLOP/s", dec: 12}, {name: "GFLOP/s", dec: 9}, {name: "PFLOP/s", dec: 15},
		{name: "EFLOP/s", dec: 18}, {name: "MFLOP/s", dec: 6}, {name: "FLOP/s"},
	},
	slips: [][2]string{
		{"tflop", "TFLOP/s"}, {"gflop", "GFLOP/s"}, {"pflop", "PFLOP/s"}, {"eflop", "EFLOP/s"}, {"mflop", "MFLOP/s"}, {"flop", "FLOP/s"},
	},
}
