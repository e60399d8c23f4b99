package exitcode

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/weft-sim/weft/configs/catalog"
	"github.com/weft-sim/weft/configs/strict"
	"github.com/weft-sim/weft/sim"
	"github.com/weft-sim/weft/topology/discover"
	"github.com/weft-sim/weft/topology/discover/netfile"
	"github.com/weft-sim/weft/workloads"
	"github.com/weft-sim/weft/workloads/replay"
	"github.com/weft-sim/weft/workloads/trace/chakra"
)

func TestOf(t *testing.T) {
	for _, c := range []struct {
		name string
		err  error
		want Code
	}{
		{"nothing wrong", nil, OK},
		{"an error that nobody expects", errors.New("x"), Internal},
		{"beyond what can be simulated", &replay.LimitError{}, Config},
		{"a given code stands over the type", With(Usage, &strict.Error{}), Usage},
		{"one error of a file", &strict.Error{}, Config},
		{"all errors of a file", strict.Errors{{}, {}}, Config},
		{"a name that the catalogue lacks", &catalog.UnknownError{}, Config},
		{"a program that contradicts itself", &workloads.InvalidError{}, Config},
		{"more ranks than GPUs", &replay.SizeError{}, Config},
		{"a law that the simulator broke", &replay.LawError{Err: errors.New("x")}, Internal},
		{"a trace that is none", &chakra.Error{}, Input},
		{"a dump of a machine that is none", &discover.Error{Err: discover.ErrSyntax}, Input},
		{"a network file that is none", &netfile.Error{Err: netfile.ErrSyntax}, Input},
		{"a send without its receive", &workloads.UnmatchedError{}, Deadlock},
		{"everybody waits", &sim.DeadlockError{}, Deadlock},
		{"Ctrl-C", context.Canceled, Interrupted},
	} {
		t.Run(c.name, func(t *testing.T) {
			assert.Equal(t, c.want, Of(c.err))
			if c.err != nil {
				assert.Equal(t, c.want, Of(fmt.Errorf("wrapped: %w", c.err)))
			}
		})
	}
	assert.NoError(t, With(Usage, nil), "nothing wrong stays nothing wrong")
}

func Example() {
	err := With(Threshold, errors.New("step_time is 25 ms, want < 20 ms"))
	fmt.Println(int(Of(err)), err)
	// Output: 5 step_time is 25 ms, want < 20 ms
}
