package chakra

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/weft-sim/weft/sim"
)

// maxMicros bounds a recorded duration: 11 days. More is a fault of the file.
const maxMicros = 1_000_000_000_000

// micros sets the duration of a node, of a protobuf record.
func (n *Node) micros(v uint64) error {
	if v > maxMicros {
		return fmt.Errorf("duration %d us, expected 0 to %d", int64(v), int64(maxMicros))
	}
	n.Duration = sim.Time(v) * sim.Microsecond
	return nil
}

// jsonMicros reads a duration in microseconds, exact to the picosecond: the
// decimal text becomes picoseconds without a detour through floating point.
// Profilers write fractions, and text as well as numbers.
func jsonMicros(raw json.RawMessage) (sim.Time, error) {
	text := strings.Trim(string(raw), `"`)
	about, err := strconv.ParseFloat(text, 64) // infinite beyond its range
	switch {
	case err != nil && !errors.Is(err, strconv.ErrRange) || math.IsNaN(about):
		return 0, fmt.Errorf("%.40q, which is no number of microseconds", text)
	case about < 0 || about > maxMicros:
		return 0, fmt.Errorf("duration %.40s us, expected 0 to %d (11 days)", text, int64(maxMicros))
	case about == 0:
		return 0, nil
	}
	t, err := sim.ParseTime(text + "us")
	if err != nil {
		return 0, fmt.Errorf("duration: %w", err)
	}
	return t, nil
}
