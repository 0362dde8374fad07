package inturn

import (
	"errors"
	"math/rand/v2"
	"runtime"
	"sync/atomic"
	"testing"
)

// Results are used in order, whichever worker is faster. Only a few wait to be used. An error ends
// everything.
func TestInOrder(t *testing.T) {
	stop := errors.New("enough")
	for _, workers := range []int{0, 1, 2, 3, 8} {
		for _, n := range []int{0, 1, 5, 200} {
			if workers == 0 && n > 0 {
				continue
			}
			for _, last := range []int{-1, 3} {
				var used, made atomic.Int64
				var list []func(int) int
				for range workers {
					list = append(list, func(i int) int {
						for range rand.IntN(3) {
							runtime.Gosched()
						}
						if ahead := made.Add(1) - used.Load(); ahead > int64(4*workers)+1 {
							t.Errorf("%d workers: %d results are made and not used", workers, ahead)
						}
						return i
					})
				}
				err := InOrder(n, list, func(i int) error {
					if int64(i) != used.Load() {
						t.Errorf("%d workers: %d is used, want %d", workers, i, used.Load())
					}
					used.Add(1)
					if i == last {
						return stop
					}
					return nil
				})
				want := n
				if last >= 0 && last < n {
					want = last + 1
					if err != stop {
						t.Errorf("%d workers: error %v, want %v", workers, err, stop)
					}
				} else if err != nil {
					t.Errorf("%d workers: error %v", workers, err)
				}
				if used.Load() != int64(want) {
					t.Errorf("%d workers: %d of %d results were used, want %d", workers, used.Load(), n, want)
				}
			}
		}
	}
}
