package fetch

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"
)

// watch ends a request whose server is too slow.
type watch struct {
	ctx    context.Context
	cancel context.CancelCauseFunc
	got    atomic.Int64 // bytes in this span
}

// newWatch begins to watch. A time of 0 is any time.
func newWatch(ctx context.Context, span, whole time.Duration) *watch {
	w := new(watch)
	w.ctx, w.cancel = context.WithCancelCause(ctx)
	if span == 0 && whole == 0 {
		return w
	}
	go func() {
		var spans, end <-chan time.Time
		if span > 0 {
			ticker := time.NewTicker(span)
			defer ticker.Stop()
			spans = ticker.C
		}
		if whole > 0 {
			end = time.After(whole)
		}
		for {
			select {
			case <-w.ctx.Done():
				return
			case <-spans:
				if n := w.got.Swap(0); n < leastBytes {
					w.cancel(fmt.Errorf("%d bytes in %v: too slow (see DEBUGINFOD_TIMEOUT)", n, span))
				}
			case <-end:
				w.cancel(fmt.Errorf("not there after %v (DEBUGINFOD_MAXTIME)", whole))
			}
		}
	}()
	return w
}

func (w *watch) add(n int) { w.got.Add(int64(n)) }

func (w *watch) end() { w.cancel(nil) }
