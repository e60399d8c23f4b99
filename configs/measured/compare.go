package measured

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"

	"github.com/weft-sim/weft/sim"
)

// Sample is a point and what was predicted of it.
type Sample struct {
	Series *Series
	Point
	Prediction
	// Left is why the point does not count, or "".
	Left string
}

// Error is predicted / measured - 1.
func (s *Sample) Error() float64 { return float64(s.Prediction.Time)/float64(s.Point.Time) - 1 }

// Below reports whether the prediction is below what the wires allow; a part in
// ten thousand is for rounding.
func (s *Sample) Below() bool {
	return float64(s.Prediction.Time) < float64(s.Bound)*(1-1e-4)
}

// Compare predicts all points of the series, on as many goroutines as
// GOMAXPROCS, and returns them in the order of the series, whatever the
// goroutines do. Sizes of equal questions are predicted once.
//
// Points that are skipped, and those that predict has no model of, come back
// without a prediction and with the reason in Left. Report, if not nil, is
// called after each question with how many are done; never twice at once.
func Compare(ctx context.Context, series []*Series, predict Predictor, report func(done, of int)) ([]Sample, error) {
	asked := questions(series)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var (
		wg   sync.WaitGroup
		mu   sync.Mutex
		done int
	)
	next := make(chan *question)
	for range min(runtime.GOMAXPROCS(0), max(len(asked), 1)) {
		wg.Go(func() {
			for q := range next {
				if ctx.Err() == nil {
					q.answer, q.err = predict(ctx, q.series, q.sizes)
				}
				mu.Lock()
				var unsimulated *Unsimulated
				if q.err != nil && !errors.As(q.err, &unsimulated) {
					cancel()
				}
				if done++; report != nil {
					report(done, len(asked))
				}
				mu.Unlock()
			}
		})
	}
	for _, q := range asked {
		next <- q
	}
	close(next)
	wg.Wait()
	if err := firstError(asked); err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return samples(series, asked)
}

// question is what series with the same scenario, operation and ranks have in
// common.
type question struct {
	key    string
	series *Series // one of them
	sizes  []sim.Bytes
	answer []Prediction
	err    error
}

// ask is the key of the question of a series.
func ask(s *Series) string {
	machines, _, err := s.Case.machines(s.Run)
	if err != nil {
		machines = 0 // said when it is predicted
	}
	text, err := s.Case.scenario(machines, s.Run)
	if err != nil {
		text = s.Variant // said when it is predicted
	}
	return fmt.Sprintf("%s %d %d %v\n%s", s.Op, s.Ranks, s.Nodes, s.Case.GPUs, text)
}

// questions lists the questions of series, each with its sizes in rising order.
func questions(series []*Series) []*question {
	var asked []*question
	at := map[string]*question{}
	for _, s := range series {
		if s.Case.Skip != "" {
			continue
		}
		key := ask(s)
		q := at[key]
		if q == nil {
			q = &question{key: key, series: s}
			at[key] = q
			asked = append(asked, q)
		}
		for i := range s.Points {
			q.sizes = append(q.sizes, s.Points[i].Size)
		}
	}
	for _, q := range asked {
		slices.Sort(q.sizes)
		q.sizes = slices.Compact(q.sizes)
	}
	return asked
}

// firstError is the first error that is none of a model that does not exist,
// in the order of the questions; a run that was cancelled for it comes last.
func firstError(asked []*question) error {
	var cancelled error
	for _, q := range asked {
		var unsimulated *Unsimulated
		switch {
		case q.err == nil || errors.As(q.err, &unsimulated):
			if q.err == nil && q.answer != nil && len(q.answer) != len(q.sizes) {
				return fmt.Errorf("predict %s: %d answers for %d sizes", q.series.Table.ID, len(q.answer), len(q.sizes))
			}
		case errors.Is(q.err, context.Canceled):
			cancelled = q.err
		default:
			return q.err
		}
	}
	return cancelled
}

// samples puts predictions beside points.
func samples(series []*Series, asked []*question) ([]Sample, error) {
	at := map[string]*question{}
	for _, q := range asked {
		at[q.key] = q
	}
	byTable := map[*Table][]*Series{}
	for _, s := range series {
		byTable[s.Table] = append(byTable[s.Table], s)
	}
	var out []Sample
	for _, s := range series {
		left := s.Left(byTable[s.Table])
		var q *question
		if s.Case.Skip == "" {
			q = at[ask(s)]
		}
		for i, p := range s.Points {
			sample := Sample{Series: s, Point: p, Left: left[i]}
			switch {
			case q == nil:
			case q.err != nil:
				sample.Left = q.err.Error()
			default:
				k, _ := slices.BinarySearch(q.sizes, p.Size)
				sample.Prediction = q.answer[k]
			}
			if sample.Left == "" && sample.Prediction.Time <= 0 {
				return nil, fmt.Errorf("predict %s of %d bytes for %s: a time of %v", s.Op, p.Size, s.Table.ID, sample.Prediction.Time)
			}
			out = append(out, sample)
		}
	}
	return out, nil
}
