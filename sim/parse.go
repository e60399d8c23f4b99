package sim

import (
	"math"
	"math/big"
	"strconv"
	"strings"
)

// ParseTime reads a time of zero or more, such as "3us", "936.25ns", "2 min"
// or "1.5e3 s". Units are ps, ns, us (or µs), ms, s, min and h. What is not a
// whole number of picoseconds is rounded to the nearest one, halves up. Errors
// are of type [*UnitError].
//
// For all quantities alike: a number is decimal, with an optional fraction and
// exponent, and _ between digits; its unit follows at once or after one space.
// A number without a unit is refused, 0 too, and so is a negative one.
func ParseTime(s string) (Time, error) {
	v, err := times.whole(s, true)
	return Time(v), err
}

// ParseBytes reads an amount of data of zero or more, such as "1MiB" or
// "2.5 GB". Units are B, KB, MB, GB, TB (powers of 1000) and KiB, MiB, GiB,
// TiB (powers of 1024). It must be a whole number of bytes. Errors are of type
// [*UnitError].
func ParseBytes(s string) (Bytes, error) {
	v, err := amounts.whole(s, false)
	return Bytes(v), err
}

// ParseRate reads a bandwidth of one direction, zero or more, such as
// "450GB/s" or "400 Gb/s". Units are those of [ParseBytes] with /s, and bits:
// b/s, Kb/s, Mb/s, Gb/s, Tb/s, also written bit/s to Tbit/s and bps to Tbps.
// Errors are of type [*UnitError].
func ParseRate(s string) (Rate, error) {
	v, err := rates.float(s)
	return Rate(v), err
}

// ParseFlopRate reads an arithmetic rate of zero or more, such as
// "989.4TFLOP/s". Units are FLOP/s, MFLOP/s, GFLOP/s, TFLOP/s, PFLOP/s and
// EFLOP/s. Errors are of type [*UnitError].
func ParseFlopRate(s string) (FlopRate, error) {
	v, err := flopRates.float(s)
	return FlopRate(v), err
}

// UnitError reports a quantity that cannot be read.
type UnitError struct {
	Read     string // the text as it was
	Problem  string // what is wrong with it, as a clause: "has no unit"
	Expected string // what the text should be: "bytes per second, per direction"
	Try      string // a nearby valid value

	hint string // how Try is meant; "write" if empty
}

func (e *UnitError) Error() string {
	hint, end := "write", ""
	if e.hint != "" {
		hint = e.hint
	}
	if hint == didYouMean {
		end = "?"
	}
	return strconv.Quote(e.Read) + " " + e.Problem + ": " + hint + " " + strconv.Quote(e.Try) + end + " (" + e.Expected + ")"
}

const (
	didYouMean = "did you mean"
	forExample = "for example"
)

// maxQuantity bounds the text of a quantity; no sensible one is near it.
const maxQuantity = 100

// split separates number and unit. The number keeps its spelling.
func (k *kind) split(s string) (number, unit, *UnitError) {
	refuse := func(problem, try, hint string) (number, unit, *UnitError) {
		if hint == forExample {
			try = k.example
		}
		return number{}, unit{}, &UnitError{Read: s, Problem: problem, Expected: k.expected, Try: try, hint: hint}
	}
	if len(s) > maxQuantity {
		s = s[:maxQuantity] + "..."
		return refuse("is too long", "", forExample)
	}
	text := strings.TrimSpace(s)
	if text == "" {
		return refuse("is empty", "", forExample)
	}
	if rest, minus := strings.CutPrefix(text, "-"); minus {
		if _, _, err := k.split(rest); err == nil {
			return refuse("is negative", rest, "")
		}
		return refuse("is negative", "", forExample)
	}
	n, rest := scan(text)
	switch {
	case n.text == "":
		return refuse("does not begin with a number", "", forExample)
	case strings.HasPrefix(rest, "_"):
		return refuse("has a _ that is not between two digits", "", forExample)
	case strings.HasPrefix(rest, ","):
		return refuse("has a comma in the number; a point begins the fraction, and _ may part thousands", "", forExample)
	case rest == "":
		return refuse("has no unit", n.text+k.fallback, "")
	}
	name := strings.TrimPrefix(rest, " ")
	for _, u := range k.units {
		if u.name == name {
			if text != s {
				return refuse("has spaces around it", text, "")
			}
			return n, u, nil
		}
	}
	problem := "has the unknown unit " + strconv.Quote(strings.TrimSpace(rest))
	if k == &amounts && isBits(strings.TrimSpace(rest)) {
		return refuse("is in bits", inBytes(n, strings.TrimSpace(rest)), "")
	}
	if near := k.nearest(rest); near != "" {
		return refuse(problem, n.text+near, didYouMean)
	}
	return refuse(problem, "", forExample)
}

// isBits reports whether a unit of an amount means bits: b, Mb, Gbit, bits. A
// small letter before the b is a slip of another kind: mb and kb.
func isBits(unit string) bool {
	prefix, ok := strings.CutSuffix(unit, "b")
	if !ok {
		prefix, ok = strings.CutSuffix(strings.TrimSuffix(unit, "s"), "bit")
	}
	return ok && (prefix == "" || len(prefix) == 1 && strings.Contains("KMGT", prefix))
}

// inBytes writes an amount of bits in bytes, "" where they are no whole number.
func inBytes(n number, unit string) string {
	v, err := rates.float(n.text + strings.TrimSuffix(unit, "s") + "/s")
	if err != nil || v != math.Trunc(v) || v >= 1<<53 {
		return ""
	}
	return Bytes(v).String()
}

// nearest returns the unit that was probably meant, or "".
func (k *kind) nearest(name string) string {
	name = strings.TrimSpace(name)
	for _, slip := range k.slips { // first those where case tells more than folding would
		if slip[0] == name {
			return slip[1]
		}
	}
	for _, u := range k.units {
		if strings.EqualFold(u.name, name) {
			return u.name
		}
	}
	short := strings.TrimSuffix(strings.TrimSuffix(strings.ToLower(name), "/s"), "s")
	for _, slip := range k.slips {
		if slip[0] == short {
			return slip[1]
		}
	}
	for _, u := range k.units {
		if name != "" && strings.HasPrefix(strings.ToLower(u.name), strings.ToLower(name)) {
			return u.name
		}
	}
	return ""
}

// number is an unsigned decimal: digits * 10^exp.
type number struct {
	text   string // as it was written
	digits string // no leading zeros; empty for zero
	exp    int    // clamped to +-1e6
}

// scan reads the number at the start of s. Without one the text is empty.
func scan(s string) (n number, rest string) {
	i := 0
	var digits []byte
	run := func() { // digits, with _ between two of them
		for i < len(s) {
			if isDigit(s, i) {
				digits = append(digits, s[i])
			} else if s[i] != '_' || i == 0 || !isDigit(s, i-1) || !isDigit(s, i+1) {
				return
			}
			i++
		}
	}
	run()
	if i == 0 {
		return number{}, s
	}
	if i < len(s) && s[i] == '.' && isDigit(s, i+1) {
		whole := len(digits)
		i++
		run()
		n.exp = whole - len(digits)
	}
	if i < len(s) && (s[i] == 'e' || s[i] == 'E') {
		j := i + 1
		if j < len(s) && (s[j] == '+' || s[j] == '-') {
			j++
		}
		if isDigit(s, j) {
			mantissa := digits
			digits = nil
			start := j
			i = j
			run()
			exp, err := strconv.Atoi(string(digits))
			if err != nil || exp > 1e6 {
				exp = 1e6
			}
			if s[start-1] == '-' {
				exp = -exp
			}
			n.exp += exp
			digits = mantissa
		}
	}
	n.text = s[:i]
	n.digits = strings.TrimLeft(string(digits), "0")
	return n, s[i:]
}

func isDigit(s string, i int) bool { return i < len(s) && s[i] >= '0' && s[i] <= '9' }

// whole reads a quantity whose values are integers.
func (k *kind) whole(s string, round bool) (int64, error) {
	n, u, fault := k.split(s)
	if fault != nil {
		return 0, k.vouch(fault, func(try string) error { _, err := k.whole(try, round); return err })
	}
	if n.digits == "" {
		return 0, nil
	}
	// 10^-40 of the largest unit is far below half of the smallest, and 10^40
	// of the smallest is far above the largest value.
	const far = 40
	exp, size := n.exp+u.dec, len(n.digits)+n.exp+u.dec
	switch {
	case size > far:
		return 0, k.tooLarge(s)
	case size < -far && round:
		return 0, nil
	case size < -far:
		return 0, k.notWhole(s, 0)
	}
	num, _ := new(big.Int).SetString(n.digits, 10)
	num.Mul(num, big.NewInt(max(u.mul, 1)))
	num.Lsh(num, uint(u.bin))
	den := big.NewInt(1)
	power := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(max(exp, -exp))), nil)
	if exp >= 0 {
		num.Mul(num, power)
	} else {
		den = power
	}
	q, rem := new(big.Int).QuoRem(num, den, new(big.Int))
	whole := rem.Sign() == 0
	if rem.Lsh(rem, 1).Cmp(den) >= 0 { // a half or more
		q.Add(q, big.NewInt(1))
	}
	switch {
	case !q.IsInt64():
		return 0, k.tooLarge(s)
	case !whole && !round:
		return 0, k.notWhole(s, q.Int64())
	}
	return q.Int64(), nil
}

// float reads a quantity whose values are floating-point. The result is the
// value nearest to what was written: the power of ten goes into the decimal
// text, and a power of two is exact.
func (k *kind) float(s string) (float64, error) {
	n, u, fault := k.split(s)
	if fault != nil {
		return 0, k.vouch(fault, func(try string) error { _, err := k.float(try); return err })
	}
	if n.digits == "" {
		return 0, nil
	}
	v, err := strconv.ParseFloat(n.digits+"e"+strconv.Itoa(n.exp+u.dec), 64)
	v = math.Ldexp(v, u.bin)
	if err != nil || math.IsInf(v, 0) {
		return 0, k.tooLarge(s)
	}
	return v, nil
}

// vouch makes sure that an error proposes what can be read.
func (k *kind) vouch(e *UnitError, read func(string) error) error {
	if read(e.Try) != nil {
		e.Try, e.hint = k.example, forExample
	}
	return e
}

func (k *kind) tooLarge(s string) error {
	e := &UnitError{Read: s, Problem: "is too large", Expected: k.expected, Try: k.largest}
	if e.Try == "" {
		e.Try, e.hint = k.example, forExample
	}
	return e
}

func (k *kind) notWhole(s string, near int64) error {
	return &UnitError{Read: s, Problem: "is not a whole number of bytes", Expected: k.expected, Try: Bytes(max(near, 1)).String()}
}
