package configs

import (
	"context"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-sim/weft/sim"
	"github.com/weft-sim/weft/workloads/replay"
)

var expectLine = regexp.MustCompile(`(?m)^# expect: (\S+) within ([0-9.]+)%$`)

// Every embedded scenario says what it teaches and which step time to expect,
// worked out by hand in its comment, and gives that.
func TestScenariosGiveWhatTheirCommentsSay(t *testing.T) {
	require.Contains(t, List(), Entry{Default, "A decode step of a 70B transformer on eight H100 is memory, not NVLink; its all-reduces are latency."})
	for _, e := range List() {
		t.Run(e.Name, func(t *testing.T) {
			text, err := Text(e.Name)
			require.NoError(t, err)
			assert.True(t, strings.HasPrefix(string(text), "# "), "it begins with what it teaches")
			assert.NotEmpty(t, e.About)
			m := expectLine.FindStringSubmatch(string(text))
			require.NotNil(t, m, "a line \"# expect: TIME within N%%\"")
			want, err := sim.ParseTime(m[1])
			require.NoError(t, err)
			within, err := strconv.ParseFloat(m[2], 64)
			require.NoError(t, err)

			s, err := Load(e.Name, nil, nil)
			require.NoError(t, err)
			j, err := s.Build(nil)
			require.NoError(t, err)
			require.NoError(t, j.Program.Validate())
			r, err := replay.Run(context.Background(), j.Program, j.Machine, j.Options)
			require.NoError(t, err)
			assert.InEpsilon(t, want.Seconds(), r.StepTime.Seconds(), within/100, "step time %v, expected %v", r.StepTime, want)
			if b := s.Thresholds.StepTime; b != nil {
				assert.True(t, b.Met(r.StepTime))
			}
		})
	}
}
