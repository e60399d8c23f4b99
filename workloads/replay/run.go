package replay

import (
	"context"
	"errors"
	"fmt"

	"github.com/weft-sim/weft/sim"
	"github.com/weft-sim/weft/topology"
	"github.com/weft-sim/weft/workloads"
)

// Run replays program p on machine m: rank r of the program on GPU r of the
// machine.
//
// Errors: a program that is not valid ([workloads.Program.Validate]), one with
// more ranks than the machine has GPUs ([*SizeError]), ranks that wait for
// each other for ever ([*sim.DeadlockError]), a cancelled context (its error),
// and a broken law of ours (bytes lost, a link above its capacity, a
// collective faster than its wires), which is a fault of the simulator.
func Run(ctx context.Context, p *workloads.Program, m *topology.Machine, o Options) (*Result, error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	if err := p.Validate(); err != nil {
		return nil, err
	}
	j, err := expand(p, m, o)
	if err != nil {
		return nil, err
	}
	if err := j.findLanes(); err != nil {
		return nil, err
	}
	c, err := j.refine()
	if err != nil {
		return nil, err
	}
	l, err := j.lay(c)
	if err != nil {
		return nil, err
	}
	x := &exec{j: j, c: c, l: l, eng: sim.NewEngine()}
	if err := x.simulate(ctx); err != nil {
		var dead *sim.DeadlockError
		if errors.As(err, &dead) && !c.identity && p.World <= nameable {
			// Representatives wait for representatives; the user knows ranks.
			o.Collapse = Off
			return Run(ctx, p, m, o)
		}
		return nil, err
	}
	return x.result()
}

// nameable is the largest number of ranks for which a deadlock is run again
// with every rank, so that the report names who really waits for whom.
const nameable = 4096

// simulate runs the program to its end.
func (x *exec) simulate(ctx context.Context) error {
	x.me = x.eng.Register(x)
	// Ours first: what it starts must be there when the network settles.
	x.eng.OnSettle(x.dispatch)
	var err error
	if x.j.opt.Model == Ideal {
		x.net, err = topology.NewIdeal(x.eng, x.l.caps, x.l.den)
	} else {
		x.net, err = topology.NewFluid(x.eng, x.l.caps, x.l.den, x.j.opt.FullSolve)
	}
	if err != nil {
		return fmt.Errorf("build the network of %s: %w", x.j.mach.Name, err)
	}
	if err := x.build(); err != nil {
		return err
	}
	x.eng.OnDrain(x.waits)
	x.eng.Digest(x.j.opt.Digest)
	x.start()
	stop, err := x.eng.Run(ctx, x.j.opt.Limits)
	switch {
	case err != nil:
		return err
	case stop == sim.Cancelled:
		return context.Cause(ctx)
	case stop != sim.Drained:
		return fmt.Errorf("replay stopped (%v) at %v with %d operations unfinished: raise the limit", stop, x.eng.Now(), x.left)
	case x.left > 0:
		return fmt.Errorf("replay: no event is left and %d operations are unfinished", x.left)
	}
	if err := x.net.Check(); err != nil {
		return &LawError{err}
	}
	return nil
}

// TooLongError says that a program runs past the end of simulated time.
type TooLongError struct {
	Op   string
	Rank int32
}

func (e *TooLongError) Error() string {
	return fmt.Sprintf("run rank %d: operation %q ends after %v, the end of simulated time (106 days): want shorter work or smaller messages", e.Rank, e.Op, sim.MaxTime)
}

// LawError says that the simulator broke a law that it checks in every run.
// The answer is withheld.
type LawError struct{ Err error }

func (e *LawError) Error() string { return "conservation: " + e.Err.Error() }

func (e *LawError) Unwrap() error { return e.Err }

// errUnwaited guards waits: an operation that waits must wait for something.
var errUnwaited = errors.New("replay: an unfinished operation waits for nothing")
