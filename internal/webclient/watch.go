package webclient

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"
)

// Pace is what a server must keep to. The bytes of a whole span count: a server that sends one now
// and then gains no time.
type Pace struct {
	Least int64         // bytes in each span
	Span  time.Duration // 0 for any pace
	Whole time.Duration // until all is there; 0 for any time
	// What to do against the errors that a server is too slow, and that the whole time is over; ""
	// for nothing.
	SlowHint, WholeHint string
}

// Watch ends a request whose server does not keep the pace.
type Watch struct {
	// Context is the request's. Its cause says what the server did not keep.
	Context context.Context

	cancel context.CancelCauseFunc
	got    atomic.Int64 // bytes in this span
}

// NewWatch returns the watch of a request that has not begun. [Watch.End] must be called.
func NewWatch(ctx context.Context) *Watch {
	w := new(Watch)
	w.Context, w.cancel = context.WithCancelCause(ctx)
	return w
}

// Start has the server keep a pace from now on.
func (w *Watch) Start(p Pace) {
	if p.Span > 0 || p.Whole > 0 {
		go w.run(p)
	}
}

func (w *Watch) run(p Pace) {
	var spans, end <-chan time.Time
	if p.Span > 0 {
		ticker := time.NewTicker(p.Span)
		defer ticker.Stop()
		spans = ticker.C
	}
	if p.Whole > 0 {
		timer := time.NewTimer(p.Whole)
		defer timer.Stop()
		end = timer.C
	}
	for {
		select {
		case <-w.Context.Done():
			return
		case <-spans:
			w.endSpan(p)
		case <-end:
			w.cancel(&SlowError{fmt.Sprintf("not there after %v%s", p.Whole, p.WholeHint)})
		}
	}
}

// endSpan ends the request if too few bytes have come in the span that is over.
func (w *Watch) endSpan(p Pace) {
	if n := w.got.Swap(0); n < p.Least {
		w.cancel(&SlowError{fmt.Sprintf("%d bytes in %v: too slow%s", n, p.Span, p.SlowHint)})
	}
}

// Add notes that n bytes have come.
func (w *Watch) Add(n int) { w.got.Add(int64(n)) }

// End ends the request, and the watch.
func (w *Watch) End() { w.cancel(nil) }

// SlowError says that a server did not keep the pace.
type SlowError struct{ text string }

func (e *SlowError) Error() string { return e.text }
