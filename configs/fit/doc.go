// Package fit finds the values of a few figures with which a model comes
// nearest to measurements, and says how well they are known.
//
// A [Problem] has [Parameter]s with bounds, measured values and a function that
// predicts them; [Solve] returns a [Result] with an [Estimate] for each
// parameter. What is made small is, over the residuals r = ln(predicted /
// measured),
//
//	sum of huber(r) + prior,   huber(r) = r^2/2 up to [Outlier], linear beyond
//
// so that a few rows that went wrong do not bend the rest, and all sizes count
// the same. The prior draws each value to where it started, so weakly (a residual of
// 1.25 % for a factor of e) that it decides only where the measurements do not. The search is that of Nelder and Mead in the logarithms of the values,
// bent so that bounds are never crossed: predictions have kinks, where one
// protocol takes over from another, so that no derivative guides it far.
//
// Errors come from the derivatives at the end: the covariance is s^2 (J'WJ)^-1
// with Huber's weights W. A parameter that moves no prediction is Silent and
// keeps its value; two whose estimates are correlated cannot be told apart, and
// are listed.
//
// What it leaves out: choosing what to fit.
package fit
