package sim

import (
	"strconv"
	"strings"
)

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

// String prints b exactly, in the largest unit of which it is a multiple:
// "1MiB", "100MB", "1000KiB", "12345B".
func (b Bytes) String() string {
	if b == 0 {
		return "0B"
	}
	for _, u := range [...]struct {
		size Bytes
		name string
	}{{TiB, "TiB"}, {TB, "TB"}, {GiB, "GiB"}, {GB, "GB"}, {MiB, "MiB"}, {MB, "MB"}, {KiB, "KiB"}, {KB, "KB"}} {
		if b%u.size == 0 {
			return strconv.FormatInt(int64(b/u.size), 10) + u.name
		}
	}
	return strconv.FormatInt(int64(b), 10) + "B"
}

// MarshalText returns the text of [Bytes.String].
func (b Bytes) MarshalText() ([]byte, error) { return []byte(b.String()), nil }

// UnmarshalText reads what [ParseBytes] reads.
func (b *Bytes) UnmarshalText(text []byte) error { return set(b, text, ParseBytes) }

// Rate is a bandwidth in bytes per second. It is always the rate of one
// direction.
type Rate float64

// GBps is one gigabyte (1e9 bytes) per second.
const GBps Rate = 1e9

// String prints r exactly, in the largest decimal unit of which it is at least
// one: "450GB/s", "3.35TB/s", "0B/s".
func (r Rate) String() string {
	return scaled(float64(r), "B/s", "", "K", "M", "G", "T")
}

// MarshalText returns the text of [Rate.String].
func (r Rate) MarshalText() ([]byte, error) { return []byte(r.String()), nil }

// UnmarshalText reads what [ParseRate] reads.
func (r *Rate) UnmarshalText(text []byte) error { return set(r, text, ParseRate) }

// FlopRate is an arithmetic rate in dense floating-point operations per
// second.
type FlopRate float64

// TFLOPS is 1e12 floating-point operations per second.
const TFLOPS FlopRate = 1e12

// String prints r exactly, in the largest unit up to TFLOP/s of which it is at
// least one: "989.4TFLOP/s", "2250TFLOP/s".
func (r FlopRate) String() string {
	return scaled(float64(r), "FLOP/s", "", "", "M", "G", "T")
}

// MarshalText returns the text of [FlopRate.String].
func (r FlopRate) MarshalText() ([]byte, error) { return []byte(r.String()), nil }

// UnmarshalText reads what [ParseFlopRate] reads.
func (r *FlopRate) UnmarshalText(text []byte) error { return set(r, text, ParseFlopRate) }

// set stores what parse reads, and leaves the value alone when it cannot.
func set[T any](to *T, text []byte, parse func(string) (T, error)) error {
	v, err := parse(string(text))
	if err == nil {
		*to = v
	}
	return err
}

// scaled prints v in the largest of the units prefixes[i]+unit, worth 1000^i,
// of which it is at least one; an empty prefix after the first is no unit.
//
// The shortest decimal that reads back as v is found first, and then its point
// is moved: dividing v would round.
func scaled(v float64, unit string, prefixes ...string) string {
	text := strconv.FormatFloat(v, 'e', -1, 64) // d.ddde±dd
	mantissa, exponent, finite := strings.Cut(text, "e")
	exp, err := strconv.Atoi(exponent)
	if !finite || err != nil || v == 0 {
		return strconv.FormatFloat(v, 'g', -1, 64) + unit
	}
	i := min(max(exp/3, 0), len(prefixes)-1)
	for i > 0 && prefixes[i] == "" {
		i--
	}
	unit = prefixes[i] + unit
	exp -= 3 * i
	if exp < -6 || exp > 15 {
		return mantissa + "e" + strconv.Itoa(exp) + unit
	}
	sign := ""
	if mantissa[0] == '-' {
		sign, mantissa = "-", mantissa[1:]
	}
	digits := strings.Replace(mantissa, ".", "", 1)
	point := 1 + exp
	if point <= 0 {
		return sign + "0." + strings.Repeat("0", -point) + digits + unit
	}
	if point >= len(digits) {
		return sign + digits + strings.Repeat("0", point-len(digits)) + unit
	}
	return sign + digits[:point] + "." + digits[point:] + unit
}
