package fluid

import "math/bits"

// wide is a 128-bit integer in two's complement. Arithmetic wraps.
type wide struct{ hi, lo uint64 }

// product returns a*b, for a and b >= 0.
func product(a, b int64) wide {
	hi, lo := bits.Mul64(uint64(a), uint64(b))
	return wide{hi, lo}
}

func (a wide) plus(b wide) wide {
	lo, c := bits.Add64(a.lo, b.lo, 0)
	hi, _ := bits.Add64(a.hi, b.hi, c)
	return wide{hi, lo}
}

func (a wide) minus(b wide) wide {
	lo, c := bits.Sub64(a.lo, b.lo, 0)
	hi, _ := bits.Sub64(a.hi, b.hi, c)
	return wide{hi, lo}
}

// times returns a*m, for m >= 0.
func (a wide) times(m int64) wide {
	hi, lo := bits.Mul64(a.lo, uint64(m))
	return wide{hi + a.hi*uint64(m), lo}
}

// part returns a*m >> 64 for a >= 0.
func (a wide) part(m uint64) wide {
	h, l := bits.Mul64(a.hi, m)
	c, _ := bits.Mul64(a.lo, m)
	return wide{h, l}.plus(wide{0, c})
}

// positive reports whether a > 0.
func (a wide) positive() bool { return int64(a.hi) > 0 || a.hi == 0 && a.lo > 0 }

// less reports whether a < b, for both >= 0.
func (a wide) less(b wide) bool { return a.hi < b.hi || a.hi == b.hi && a.lo < b.lo }

// float returns the nearest float64, within an ulp.
func (a wide) float() float64 {
	if int64(a.hi) < 0 {
		return -wide{}.minus(a).float()
	}
	return float64(float64(a.hi)*0x1p64) + float64(a.lo)
}
