package fit

import (
	"context"
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/optimize"
)

// Outlier is the residual from which on a row counts less: what runs of one
// laboratory differ by.
const Outlier = 0.05

// prior is the residual that a factor of e away from the start counts as.
const prior = Outlier / 4

// Parameter is a figure above zero, with where its search begins and ends.
type Parameter struct {
	Name             string
	Start, Low, High float64
}

// Problem is what to fit.
type Problem struct {
	Parameters []Parameter
	Measured   []float64 // above zero
	// Predict returns a prediction above zero for each measured value. It is
	// called with values within the bounds, in the order of the parameters.
	Predict func(ctx context.Context, values []float64) ([]float64, error)
}

// State says what became of a parameter.
type State string

// The states.
const (
	Fitted State = "fitted"
	Bound  State = "at-bound" // the best value is the end of its range
	Silent State = "silent"   // the measurements say nothing of it; it kept its value
)

// Estimate is a parameter with its value.
type Estimate struct {
	Parameter
	Value float64
	// Error is the standard error as a part of the value, and Least and Most the
	// ends of the 95 % interval; NaN where the measurements do not tell.
	Error, Least, Most float64
	State              State
}

// Pair is two parameters that the measurements hardly tell apart.
type Pair struct {
	A, B        string
	Correlation float64
}

// Result is what was found.
type Result struct {
	Estimates     []Estimate // in the order of the parameters
	Before, After []float64  // residuals: ln(predicted / measured)
	Pairs         []Pair     // correlated beyond 0.9
	Evaluations   int
}

// RMS is the root of the mean square of residuals.
func RMS(r []float64) float64 {
	sum := 0.0
	for _, v := range r {
		sum += v * v
	}
	return math.Sqrt(sum / float64(max(1, len(r))))
}

// Validate says what is wrong with a problem, before anything is predicted.
func (p *Problem) Validate() error {
	if len(p.Measured) <= len(p.Parameters) {
		return fmt.Errorf("fit: %d measured values for %d figures, expected more values than figures", len(p.Measured), len(p.Parameters))
	}
	for _, v := range p.Measured {
		if !(v > 0) || math.IsInf(v, 0) {
			return fmt.Errorf("fit: measured value %v, expected a number above zero", v)
		}
	}
	for _, q := range p.Parameters {
		if !(q.Low > 0 && q.Low < q.High && q.Low <= q.Start && q.Start <= q.High) || math.IsInf(q.High, 0) {
			return fmt.Errorf("fit: %s begins at %v between %v and %v, expected bounds above zero around it", q.Name, q.Start, q.Low, q.High)
		}
	}
	return nil
}

// solver is a problem under way.
type solver struct {
	*Problem
	ctx    context.Context
	active []int // parameters that move something
	values []float64
	err    error
	calls  int
}

// mostCalls bounds the predictions of one search, for each parameter.
const mostCalls = 120

// Solve fits. It ends with the error of the context or of a prediction.
func Solve(ctx context.Context, p *Problem) (*Result, error) {
	if err := p.Validate(); err != nil {
		return nil, err
	}
	s := &solver{Problem: p, ctx: ctx}
	for _, q := range p.Parameters {
		s.values = append(s.values, q.Start)
	}
	out := &Result{}
	var err error
	if out.Before, err = s.residuals(s.values); err != nil {
		return nil, err
	}
	if err := s.listen(out.Before); err != nil {
		return nil, err
	}
	if len(s.active) > 0 {
		if err := s.search(); err != nil {
			return nil, err
		}
		if err := s.settle(); err != nil {
			return nil, err
		}
	}
	if out.After, err = s.residuals(s.values); err != nil {
		return nil, err
	}
	if RMS(out.After) > RMS(out.Before) && s.loss(out.After) > s.loss(out.Before) { // nothing better was found
		for i, q := range p.Parameters {
			s.values[i] = q.Start
		}
		out.After = out.Before
	}
	err = s.confide(out)
	out.Evaluations = s.calls
	return out, err
}

// residuals predicts with values.
func (s *solver) residuals(values []float64) ([]float64, error) {
	s.calls++
	got, err := s.Predict(s.ctx, values)
	if err == nil {
		err = s.ctx.Err()
	}
	if err != nil {
		return nil, err
	}
	if len(got) != len(s.Measured) {
		return nil, fmt.Errorf("fit: %d predictions for %d measured values", len(got), len(s.Measured))
	}
	r := make([]float64, len(got))
	for i, g := range got {
		if !(g > 0) || math.IsInf(g, 0) {
			return nil, fmt.Errorf("fit: prediction %d is %v, expected a number above zero", i, g)
		}
		r[i] = math.Log(g / s.Measured[i])
	}
	return r, nil
}

// quietest is the change of a prediction that counts as none, for a change of
// its parameter by [nudge].
const (
	quietest = 0.002
	nudge    = 1.3
)

// listen finds the parameters that move a prediction.
func (s *solver) listen(base []float64) error {
	for i := range s.Parameters {
		heard, err := s.moves(i, base)
		if err != nil {
			return err
		}
		if heard {
			s.active = append(s.active, i)
		}
	}
	return nil
}

// moves reports whether a nudge of a parameter to either side of its value moves
// a prediction; base is the residuals without.
func (s *solver) moves(i int, base []float64) (bool, error) {
	q := s.Parameters[i]
	for _, to := range []float64{math.Min(s.values[i]*nudge, q.High), math.Max(s.values[i]/nudge, q.Low)} {
		if to == s.values[i] {
			continue
		}
		values := append([]float64(nil), s.values...)
		values[i] = to
		r, err := s.residuals(values)
		if err != nil {
			return false, err
		}
		for k := range r {
			if math.Abs(r[k]-base[k]) > quietest {
				return true, nil
			}
		}
	}
	return false, nil
}

// loss is what is made small, without the prior.
func (s *solver) loss(r []float64) float64 {
	sum := 0.0
	for _, v := range r {
		if a := math.Abs(v); a > Outlier {
			sum += Outlier * (a - Outlier/2)
		} else {
			sum += v * v / 2
		}
	}
	return sum
}

// search runs Nelder and Mead twice, the second time from where the first
// ended, since a simplex may have fallen flat.
func (s *solver) search() error {
	at := make([]float64, len(s.active))
	for k, i := range s.active {
		at[k] = s.bend(i, s.values[i])
	}
	problem := optimize.Problem{Func: func(u []float64) float64 {
		if s.err != nil {
			return math.Inf(1)
		}
		r, err := s.residuals(s.unbent(u))
		if err != nil {
			s.err = err
			return math.Inf(1)
		}
		sum := s.loss(r)
		for _, i := range s.active {
			pull := math.Log(s.unbent(u)[i]/s.Parameters[i].Start) * prior
			sum += pull * pull / 2
		}
		return sum
	}}
	for _, size := range []float64{0.5, 0.15} {
		res, err := optimize.Minimize(problem, at, &optimize.Settings{
			FuncEvaluations: mostCalls * len(s.active),
			Converger:       &optimize.FunctionConverge{Absolute: 1e-8, Relative: 1e-4, Iterations: 6 * len(s.active)},
		}, &optimize.NelderMead{SimplexSize: size})
		if s.err != nil {
			return s.err
		}
		if err != nil && !errors.Is(err, optimize.ErrLinesearcherFailure) {
			return fmt.Errorf("fit: search: %w", err)
		}
		at = res.X
	}
	copy(s.values, s.unbent(at))
	return nil
}

// settle puts back, one after the other, the parameters that do not matter where
// the search ended: of two limits only the lower one counts.
func (s *solver) settle() error {
	best, err := s.residuals(s.values)
	if err != nil {
		return err
	}
	var kept []int
	for _, i := range s.active {
		values := append([]float64(nil), s.values...)
		values[i] = s.Parameters[i].Start
		r, err := s.residuals(values)
		if err != nil {
			return err
		}
		if s.loss(r) > s.loss(best)*1.001+1e-9 {
			kept = append(kept, i)
			continue
		}
		s.values, best = values, r
		if heard, err := s.moves(i, r); err != nil {
			return err
		} else if heard {
			kept = append(kept, i)
		}
	}
	s.active = kept
	return nil
}

// bend maps a value between its bounds to a number without bounds, and unbent
// maps back: the place of its logarithm between those of the bounds, through
// the logistic function.
func (s *solver) bend(i int, value float64) float64 {
	q := s.Parameters[i]
	part := math.Log(value/q.Low) / math.Log(q.High/q.Low)
	part = math.Min(math.Max(part, 0.02), 0.98) // a start at a bound can leave it
	return math.Log(part / (1 - part))
}

func (s *solver) unbent(u []float64) []float64 {
	values := append([]float64(nil), s.values...)
	for k, i := range s.active {
		q := s.Parameters[i]
		part := 1 / (1 + math.Exp(-u[k]))
		values[i] = math.Min(math.Max(q.Low*math.Pow(q.High/q.Low, part), q.Low), q.High)
	}
	return values
}
