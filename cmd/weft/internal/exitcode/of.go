package exitcode

import (
	"context"
	"errors"

	"github.com/weft-sim/weft/configs/catalog"
	"github.com/weft-sim/weft/configs/strict"
	"github.com/weft-sim/weft/sim"
	"github.com/weft-sim/weft/topology/discover"
	"github.com/weft-sim/weft/topology/discover/netfile"
	"github.com/weft-sim/weft/workloads"
	"github.com/weft-sim/weft/workloads/replay"
	"github.com/weft-sim/weft/workloads/trace/chakra"
)

// Of returns the code for an error: the one that [With] gave it, else the one
// of its type, else [Internal]. A nil err is [OK].
func Of(err error) Code {
	if err == nil {
		return OK
	}
	if code, ok := given(err); ok {
		return code
	}
	switch {
	case is[*sim.DeadlockError](err), is[*workloads.UnmatchedError](err):
		return Deadlock
	case is[*chakra.Error](err), is[*discover.Error](err), is[*netfile.Error](err):
		return Input
	case is[*strict.Error](err), is[strict.Errors](err), is[*catalog.UnknownError](err), is[*workloads.InvalidError](err),
		is[*replay.SizeError](err), is[*replay.LimitError](err), is[*sim.UnitError](err):
		return Config
	case errors.Is(err, context.Canceled):
		return Interrupted
	}
	return Internal
}

// is reports whether an error of type T is in the chain of err.
func is[T error](err error) bool {
	var t T
	return errors.As(err, &t)
}
