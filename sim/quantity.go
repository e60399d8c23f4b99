package sim

// Bytes is an amount of data.
type Bytes int64

// Units of [Bytes]: decimal (MB) and binary (MiB) never mix.
const (
	Byte Bytes = 1
	KB         = 1000 * Byte
	MB         = 1000 * KB
	GB         = 1000 * MB
	TB         = 1000 * GB
	KiB        = 1024 * Byte
	MiB        = 1024 * KiB
	GiB        = 1024 * MiB
	TiB        = 1024 * GiB
)

// Rate is a bandwidth in bytes per second. It is always the rate of one
// direction.
type Rate float64

// GBps is one gigabyte (1e9 bytes) per second.
const GBps Rate = 1e9

// FlopRate is an arithmetic rate in dense floating-point operations per
// second.
type FlopRate float64

// TFLOPS is 1e12 floating-point operations per second.
const TFLOPS FlopRate = 1e12
