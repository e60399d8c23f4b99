package sim

import (
	"math"
	"strconv"
)

// Time is a point in simulated time, or a span of it, in picoseconds. An
// int64 of picoseconds spans 106 days.
type Time int64

// Units of [Time].
const (
	Picosecond  Time = 1
	Nanosecond       = 1000 * Picosecond
	Microsecond      = 1000 * Nanosecond
	Millisecond      = 1000 * Microsecond
	Second           = 1000 * Millisecond

	// MaxTime is the end of simulated time; arithmetic saturates there.
	MaxTime Time = math.MaxInt64
)

// Add returns t+d, saturated at [MaxTime].
func (t Time) Add(d Time) Time {
	s := t + d
	if d > 0 && s < t {
		return MaxTime
	}
	return s
}

// Seconds returns t in seconds.
func (t Time) Seconds() float64 { return float64(t) / float64(Second) }

// Microseconds returns t in microseconds.
func (t Time) Microseconds() float64 { return float64(t) / float64(Microsecond) }

// FromSeconds returns the time nearest to s seconds, saturated at [MaxTime].
func FromSeconds(s float64) Time {
	ps := s * float64(Second)
	if ps >= float64(MaxTime) {
		return MaxTime
	}
	return Time(math.Round(ps))
}

// String prints t exactly, in the largest unit in which it is at least one:
// "1.5us", "936.25ns", "0s".
func (t Time) String() string {
	if t == 0 {
		return "0s"
	}
	units := []struct {
		d    Time
		name string
	}{{Second, "s"}, {Millisecond, "ms"}, {Microsecond, "us"}, {Nanosecond, "ns"}}
	abs := t
	if abs < 0 {
		abs = -abs
	}
	for _, u := range units {
		if abs >= u.d {
			return decimal(int64(t), int64(u.d)) + u.name
		}
	}
	return strconv.FormatInt(int64(t), 10) + "ps"
}

// MarshalText returns the text of [Time.String].
func (t Time) MarshalText() ([]byte, error) { return []byte(t.String()), nil }

// UnmarshalText reads what [ParseTime] reads.
func (t *Time) UnmarshalText(text []byte) error { return set(t, text, ParseTime) }

// decimal prints n/d exactly, for a d that is a power of ten.
func decimal(n, d int64) string {
	sign := ""
	if n < 0 {
		sign, n = "-", -n
	}
	s := sign + strconv.FormatInt(n/d, 10)
	frac := n % d
	if frac == 0 {
		return s
	}
	f := strconv.FormatInt(d+frac, 10)[1:]
	for f[len(f)-1] == '0' {
		f = f[:len(f)-1]
	}
	return s + "." + f
}

// TransferTime returns how long b bytes take at rate r, rounded up to a whole
// picosecond and at least one when b > 0. A rate of zero or less takes
// [MaxTime].
//
// The quotient is computed in float64, whose error is a few parts in 1e16.
// A result that is a whole number of picoseconds on paper must not be pushed
// to the next by that error, so a fraction below 4e-15 of the quotient is
// dropped before rounding up.
func TransferTime(b Bytes, r Rate) Time {
	if b <= 0 {
		return 0
	}
	if r <= 0 {
		return MaxTime
	}
	ps := float64(b) / float64(r) * float64(Second)
	if ps >= float64(MaxTime) {
		return MaxTime
	}
	t := Time(math.Ceil(ps - float64(ps*4e-15)))
	return max(t, 1)
}
