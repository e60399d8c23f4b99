package catalog

import (
	"strconv"
	"strings"
)

// Quantities that no path depends on: what a machine draws and costs.

// Supplies are the power supplies of a host, written "6x3300W" or, where it is
// known that some are spare, "2+2x2700W".
type Supplies struct {
	Needed, Spare int
	Each          Watts
}

// Sustained returns what the supplies deliver with the spare ones idle or
// broken.
func (s Supplies) Sustained() Watts { return Watts(s.Needed) * s.Each }

// Dollars is a price in US dollars.
type Dollars float64

// DollarsPerHour is a price of use in US dollars.
type DollarsPerHour float64

// EnergyPerBit is what moving one bit takes, in picojoules.
type EnergyPerBit float64

// parseSupplies reads "6x3300W" or "2+2x2700W".
func parseSupplies(text string) (Supplies, error) {
	fail := func() (Supplies, error) {
		return Supplies{}, expected(text, "power supplies such as 6x3300W, or 2+2x2700W where two are spare")
	}
	count, each, ok := strings.Cut(text, "x")
	watts, err := parseUnit[Watts](each, "W", "")
	if !ok || err != nil {
		return fail()
	}
	needed, spare, some := strings.Cut(count, "+")
	out := Supplies{Each: watts}
	if out.Needed, err = strconv.Atoi(needed); err != nil || out.Needed < 1 || out.Needed > maxParts {
		return fail()
	}
	if some {
		if out.Spare, err = strconv.Atoi(spare); err != nil || out.Spare < 0 || out.Spare > maxParts {
			return fail()
		}
	}
	return out, nil
}
