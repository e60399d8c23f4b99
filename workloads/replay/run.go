package replay

import (
	"context"
	"errors"
	"fmt"

	"github.com/weft-sim/weft/sim"
	"github.com/weft-sim/weft/sim/fluid"
	"github.com/weft-sim/weft/topology"
	"github.com/weft-sim/weft/workloads"
)

// Run replays program p on machine m: rank r of the program on GPU r of the
// machine.
//
// Errors: a program that is not valid ([workloads.Program.Validate]), one with
// more ranks than the machine has GPUs ([*SizeError]), one beyond what can be
// simulated ([*LimitError]), ranks that wait for
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
	if o.Collapse == Off {
		// Refinement walks all paths itself.
		if err := j.survey(); err != nil {
			return nil, err
		}
	}
	c, err := j.refine()
	if err != nil {
		return nil, err
	}
	l, err := j.lay(c)
	if errors.Is(err, errUnlike) {
		o.Collapse = Off
		return Run(ctx, p, m, o)
	}
	if err != nil {
		return nil, err
	}
	x := &exec{j: j, c: c, l: l, eng: sim.NewEngine()}
	if err := x.simulate(ctx); err != nil {
		var dead *sim.DeadlockError
		switch {
		case errors.Is(err, errTied),
			// Representatives wait for representatives; the user knows ranks.
			errors.As(err, &dead) && !c.identity && p.World <= nameable:
			o.Collapse = Off
			return Run(ctx, p, m, o)
		}
		return nil, x.explain(err)
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
		x.net, err = topology.NewIdeal(x.eng, len(x.l.caps), x.l.den)
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
	case stop != sim.Drained:
		return fmt.Errorf("replay stopped (%v) at %v with %d operations unfinished: raise the limit", stop, x.eng.Now(), x.left)
	case x.left > 0:
		return fmt.Errorf("replay: no event is left and %d operations are unfinished", x.left)
	}
	if err := x.net.Check(); err != nil {
		return &LawError{err}
	}
	return x.checkSent()
}

// explain gives the links in an error of the network their names.
func (x *exec) explain(err error) error {
	var link *fluid.LinkError
	if errors.As(err, &link) && int(link.Link) < len(x.c.resRep) {
		name := x.j.mach.Graph.ResourceName(topology.ResourceID(x.c.resRep[link.Link]))
		return &LimitError{fmt.Sprintf("%s: %s: %s: want rates nearer to those of the other links", link.Doing, name, link.Reason)}
	}
	return err
}

// LimitError says that a program or a machine is beyond what can be simulated:
// past the end of time, in more slices or with smaller rates than are kept. It
// is the user's to mend.
type LimitError struct{ What string }

func (e *LimitError) Error() string { return e.What }

// LawError says that the simulator broke a law that it checks in every run.
// The answer is withheld.
type LawError struct{ Err error }

func (e *LawError) Error() string { return "conservation: " + e.Err.Error() }

func (e *LawError) Unwrap() error { return e.Err }

// errTied says that the order of rank numbers decided which of two equal
// collectives began, which representatives cannot know.
var errTied = errors.New("replay: equal ranks compete for a stream")

// errUnlike guards the classes: wires of one class carry equal loads. Hashes
// that fell together would show here.
var errUnlike = errors.New("replay: wires of one colour carry unlike loads")

// errUnwaited guards waits: an operation that waits must wait for something.
var errUnwaited = errors.New("replay: an unfinished operation waits for nothing")
