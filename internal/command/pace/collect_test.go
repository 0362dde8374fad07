package pace

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
)

// From the first collection on, garbage collection has its usual pace again.
func TestCollectLate(t *testing.T) {
	t.Setenv("GOGC", "")
	percent := func() uint64 {
		sample := []metrics.Sample{{Name: "/gc/gogc:percent"}}
		metrics.Read(sample)
		return sample[0].Value.Uint64()
	}
	defer debug.SetGCPercent(debug.SetGCPercent(150))
	Late()
	if got := percent(); got != 400 {
		t.Errorf("before the first collection: %d%%, want 400", got)
	}
	gdbtest.Await(t, "150% after some collections", func() bool {
		runtime.GC()
		return percent() == 150
	})
}
