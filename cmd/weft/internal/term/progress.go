package term

import (
	"io"
	"sync"
	"time"

	"github.com/schollz/progressbar/v3"
)

// patience is how long a verb may take before a person is shown that it lives.
const patience = 400 * time.Millisecond

// Spin shows on a terminal's standard error that what is going on, once it has
// taken a moment, and returns the function that ends it, which may be called
// again. Elsewhere both do nothing.
func (t *Terminal) Spin(what string) (stop func()) {
	if !t.ErrTTY {
		return func() {}
	}
	done, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		spin(t.Err, what, done, patience)
	}()
	return sync.OnceFunc(func() {
		close(done)
		<-ended
	})
}

// spin turns until done, but not before wait is over.
func spin(w io.Writer, what string, done <-chan struct{}, wait time.Duration) {
	select {
	case <-done:
		return
	case <-time.After(wait):
	}
	bar := progressbar.NewOptions(-1,
		progressbar.OptionSetWriter(w),
		progressbar.OptionSetDescription(what),
		progressbar.OptionSpinnerType(14),
		progressbar.OptionSetSpinnerChangeInterval(0), // it would turn in a goroutine of its own, and race
		progressbar.OptionClearOnFinish(),
		progressbar.OptionSetElapsedTime(true))
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-done:
			_ = bar.Finish() // a terminal that cannot be cleared is no reason to fail
			return
		case <-tick.C:
			_ = bar.Add(1)
		}
	}
}
