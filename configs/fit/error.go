package fit

import (
	"math"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/distuv"
)

// correlated is from which correlation on two parameters are listed.
const correlated = 0.9

// confide fills in the estimates: how well each is known.
func (s *solver) confide(out *Result) error {
	for i, q := range s.Parameters {
		e := Estimate{Parameter: q, Value: s.values[i], State: Silent, Error: math.NaN(), Least: math.NaN(), Most: math.NaN()}
		for _, k := range s.active {
			if k == i {
				e.State = Fitted
			}
		}
		if e.State == Fitted && (e.Value > q.High*0.999 || e.Value < q.Low*1.001) {
			e.State = Bound
		}
		out.Estimates = append(out.Estimates, e)
	}
	if len(s.active) == 0 {
		return nil
	}
	j, heard, err := s.jacobian(out.After)
	if err != nil {
		return err
	}
	cov, ok := covariance(j, out.After)
	if !ok {
		return nil // no interval: they cannot be told apart at all
	}
	t := distuv.StudentsT{Mu: 0, Sigma: 1, Nu: float64(len(out.After) - len(s.active))}.Quantile(0.975)
	for k, i := range s.active {
		e := &out.Estimates[i]
		if !heard[k] {
			if e.Value == e.Start {
				e.State = Silent
			}
			continue
		}
		e.Error = math.Sqrt(cov.At(k, k))
		e.Least, e.Most = e.Value*math.Exp(-t*e.Error), e.Value*math.Exp(t*e.Error)
		for l := range k {
			if c := cov.At(k, l) / math.Sqrt(cov.At(k, k)*cov.At(l, l)); heard[l] && math.Abs(c) > correlated {
				out.Pairs = append(out.Pairs, Pair{s.Parameters[s.active[l]].Name, s.Parameters[i].Name, c})
			}
		}
	}
	return nil
}

// jacobian returns the derivatives of the residuals by the logarithms of the
// active parameters, from differences of 2 % to either side, or to the one that
// is within the bounds. Heard says which move anything.
func (s *solver) jacobian(base []float64) (*mat.Dense, []bool, error) {
	j := mat.NewDense(len(base), len(s.active), nil)
	heard := make([]bool, len(s.active))
	const step = 1.02
	for k, i := range s.active {
		q := s.Parameters[i]
		ends := [2]float64{math.Max(s.values[i]/step, q.Low), math.Min(s.values[i]*step, q.High)}
		var r [2][]float64
		for e := range ends {
			values := append([]float64(nil), s.values...)
			values[i] = ends[e]
			var err error
			if r[e], err = s.residuals(values); err != nil {
				return nil, nil, err
			}
		}
		width := math.Log(ends[1] / ends[0])
		for row := range base {
			d := (r[1][row] - r[0][row]) / width
			j.Set(row, k, d)
			heard[k] = heard[k] || math.Abs(d) > quietest
		}
	}
	return j, heard, nil
}

// covariance is that of the logarithms of the parameters, and whether there is
// one.
func covariance(j *mat.Dense, r []float64) (*mat.SymDense, bool) {
	n, p := j.Dims()
	weights := mat.NewDiagDense(n, nil)
	sum := 0.0
	for i, v := range r {
		w := 1.0
		if a := math.Abs(v); a > Outlier {
			w = Outlier / a
		}
		weights.SetDiag(i, w)
		sum += w * v * v
	}
	// Times are printed with four digits: no residual is known better.
	variance := math.Max(sum/float64(n-p), 1e-8)
	var wj, normal mat.Dense
	wj.Mul(weights, j)
	normal.Mul(j.T(), &wj)
	sym := mat.NewSymDense(p, nil)
	for a := range p {
		for b := a; b < p; b++ {
			sym.SetSym(a, b, normal.At(a, b))
		}
		// The prior, which keeps the inverse finite where nothing is heard.
		sym.SetSym(a, a, sym.At(a, a)+variance)
	}
	var chol mat.Cholesky
	if !chol.Factorize(sym) {
		return nil, false
	}
	var cov mat.SymDense
	if err := chol.InverseTo(&cov); err != nil {
		return nil, false
	}
	cov.ScaleSym(variance, &cov)
	return &cov, true
}
