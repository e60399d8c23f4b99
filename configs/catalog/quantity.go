package catalog

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/weft-sim/weft/configs/strict"
	"github.com/weft-sim/weft/sim"
	"github.com/weft-sim/weft/topology/pcie"
)

// Quantity is what a [Figure] can be.
type Quantity interface {
	sim.Rate | sim.Bytes | sim.Time | sim.FlopRate |
		Count | Ratio | Watts | Metres | TimePerMetre | Flag | Split | Edges | Reach |
		Supplies | Dollars | DollarsPerHour | EnergyPerBit | Settings
}

// maxCount bounds every number of things in a file, so that a slip of the
// finger does not ask for a machine that fits no memory.
const maxCount = 1 << 20

// Count is a number of things.
type Count int

// Ratio is a part of a whole: an efficiency. Files write it as a decimal
// fraction or as "16/17".
type Ratio float64

// Watts is electrical power.
type Watts float64

// Metres is a length of cable.
type Metres float64

// TimePerMetre is how long a signal takes for a metre of cable, written
// "5ns/m".
type TimePerMetre sim.Time

// Flag is a fact that is true or false.
type Flag bool

// Split is a number of things on each of several places, written "5+4+4+5" or,
// for equal parts, "18x1".
type Split []int

// Edges are pairs of GPUs and the number of links between them, written
// "0-1:6 0-2:6".
type Edges [][3]int

// Reach is how far direct access between devices goes, written as the
// constants of package pcie in lower case with dashes.
type Reach pcie.Reach

var reachNames = [...]string{
	pcie.Everywhere:     "everywhere",
	pcie.WithinSocket:   "within-socket",
	pcie.WithinBridge:   "within-bridge",
	pcie.WithinSwitches: "within-switches",
	pcie.WithinSwitch:   "within-switch",
	pcie.Nowhere:        "nowhere",
}

// String returns the reach as the files spell it.
func (r Reach) String() string { return reachNames[r] }

// parse reads a quantity of type T.
func parse[T Quantity](text string) (T, error) {
	var v T
	var err error
	switch p := any(&v).(type) {
	case *sim.Rate:
		err = p.UnmarshalText([]byte(text))
	case *sim.Bytes:
		err = p.UnmarshalText([]byte(text))
	case *sim.Time:
		err = p.UnmarshalText([]byte(text))
	case *sim.FlopRate:
		err = p.UnmarshalText([]byte(text))
	case *Count:
		var n int
		if n, err = strconv.Atoi(text); err != nil || n < 0 || n > maxCount {
			err = expected(text, "a whole number from 0 to "+strconv.Itoa(maxCount))
		}
		*p = Count(n)
	case *Ratio:
		*p, err = parseRatio(text)
	case *Watts:
		*p, err = parseUnit[Watts](text, "W", "a power such as 700W")
	case *Metres:
		*p, err = parseUnit[Metres](text, "m", "a length such as 5m")
	case *TimePerMetre:
		t, ok := strings.CutSuffix(text, "/m")
		if !ok || (*sim.Time)(p).UnmarshalText([]byte(t)) != nil {
			err = expected(text, "a time per metre such as 5ns/m")
		}
	case *Flag:
		if text != "true" && text != "false" {
			err = expected(text, "true or false")
		}
		*p = text == "true"
	case *Split:
		*p, err = parseSplit(text)
	case *Edges:
		*p, err = parseEdges(text)
	case *Settings:
		*p, err = parseSettings(text)
	case *Supplies:
		*p, err = parseSupplies(text)
	case *Dollars:
		*p, err = parseUnit[Dollars](text, "USD", "a price such as 30000USD")
	case *DollarsPerHour:
		*p, err = parseUnit[DollarsPerHour](text, "USD/h", "a price of use such as 2.5USD/h")
	case *EnergyPerBit:
		*p, err = parseUnit[EnergyPerBit](text, "pJ/bit", "an energy such as 1.3pJ/bit")
	case *Reach:
		err = expected(text, "one of "+strings.Join(reachNames[:], ", "))
		for i, name := range reachNames {
			if name == text {
				*p, err = Reach(i), nil
			}
		}
	}
	return v, err
}

func expected(read, want string) error { return fmt.Errorf("read %q, expected %s", read, want) }

// parseUnit reads a number of zero or more with one possible unit.
func parseUnit[T ~float64](text, unit, want string) (T, error) {
	digits, ok := strings.CutSuffix(text, unit)
	v, err := strconv.ParseFloat(strings.TrimSpace(digits), 64)
	if !ok || err != nil || !(v >= 0) || v > 1e18 {
		return 0, expected(text, want)
	}
	return T(v), nil
}

// parseRatio reads "0.98" or "16/17", above 0 and at most 1.
func parseRatio(text string) (Ratio, error) {
	num, den, fraction := strings.Cut(text, "/")
	v, err := strconv.ParseFloat(num, 64)
	if err == nil && fraction {
		var d float64
		d, err = strconv.ParseFloat(den, 64)
		v /= d
	}
	if err != nil || !(v > 0 && v <= 1) {
		return 0, expected(text, "a fraction above 0 and at most 1 such as 0.98 or 16/17")
	}
	return Ratio(v), nil
}

// maxParts bounds the sum of a Split.
const maxParts = 1 << 12

// parseSplit reads "5+4+4+5", "4" or "18x1".
func parseSplit(text string) (Split, error) {
	const want = "numbers such as 5+4+4+5, or equal parts such as 18x1"
	if n, each, ok := strings.Cut(text, "x"); ok {
		parts, err1 := strconv.Atoi(n)
		size, err2 := strconv.Atoi(each)
		if err1 != nil || err2 != nil || parts < 1 || size < 0 || parts > maxParts || size > maxParts/parts {
			return nil, expected(text, want)
		}
		out := make(Split, parts)
		for i := range out {
			out[i] = size
		}
		return out, nil
	}
	var out Split
	sum := 0
	for part := range strings.SplitSeq(text, "+") {
		n, err := strconv.Atoi(part)
		sum += n
		if err != nil || n < 0 || n > maxParts || sum > maxParts {
			return nil, expected(text, want)
		}
		out = append(out, n)
	}
	return out, nil
}

// parseEdges reads "0-1:6 0-2:6".
func parseEdges(text string) (Edges, error) {
	var out Edges
	for pair := range strings.FieldsSeq(text) {
		ends, links, ok1 := strings.Cut(pair, ":")
		a, b, ok2 := strings.Cut(ends, "-")
		var e [3]int
		var errs [3]error
		e[0], errs[0] = strconv.Atoi(a)
		e[1], errs[1] = strconv.Atoi(b)
		e[2], errs[2] = strconv.Atoi(links)
		if !ok1 || !ok2 || errs != [3]error{} || e[0] < 0 || e[1] < 0 || e[2] < 1 {
			return nil, expected(pair, "two GPUs and their links such as 0-1:6")
		}
		out = append(out, e)
	}
	if out == nil {
		return nil, expected(text, "pairs of GPUs and their links such as 0-1:6 0-2:6")
	}
	return out, nil
}

// inWords rewrites errors of the strict reader, which names the type of a
// missing figure, or of one that is a list, by its generic Go name.
func inWords(err error) error {
	var errs strict.Errors
	if errors.As(err, &errs) {
		for _, e := range errs {
			e.Msg = amountName.ReplaceAllStringFunc(e.Msg, func(name string) string {
				return looks[amountName.FindStringSubmatch(name)[1]]
			})
		}
	}
	return err
}

var amountName = regexp.MustCompile(`a amount\[[^\]]*?([a-z]+)\]`)

// looks says how a quantity is written, by its type in lower case.
var looks = map[string]string{
	"rate":         "a rate with its unit, such as 450GB/s",
	"bytes":        "a size with its unit, such as 80GB",
	"time":         "a time with its unit, such as 115ns",
	"floprate":     "an arithmetic rate with its unit, such as 989TFLOP/s",
	"count":        "a whole number",
	"ratio":        "a fraction such as 0.98 or 16/17",
	"watts":        "a power such as 700W",
	"metres":       "a length such as 5m",
	"timepermetre": "a time per metre such as 5ns/m",
	"flag":         "true or false",
	"split":        "numbers such as 5+4+4+5, or equal parts such as 18x1",
	"edges":        "pairs of GPUs and their links such as 0-1:6 0-2:6",
	"reach":        "one of " + strings.Join(reachNames[:], ", "),

	"supplies":       "power supplies such as 6x3300W, or 2+2x2700W where two are spare",
	"dollars":        "a price such as 30000USD",
	"dollarsperhour": "a price of use such as 2.5USD/h",
	"energyperbit":   "an energy such as 1.3pJ/bit",
}
