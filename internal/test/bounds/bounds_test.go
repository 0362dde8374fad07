package bounds

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
)

// recorder is a test that is expected to fail.
type recorder struct {
	testing.TB
	said string
}

func (r *recorder) Helper()           {}
func (r *recorder) Error(args ...any) { r.said += fmt.Sprint(args...) }

var kept []byte

func TestHold(t *testing.T) {
	for _, tt := range []struct {
		name         string
		pieces, size int
		fails        bool
	}{
		{"nothing", 0, 0, false},
		{"one large piece", 1, 3 << 20, true},
		{"many small pieces", 3 << 16, 16, true},
		{"pieces within the bounds", 64, 1 << 10, false},
	} {
		r := recorder{TB: t}
		Hold(&r, 64<<10, func() {
			for range tt.pieces {
				kept = make([]byte, tt.size)
			}
		})
		if strings.Contains(r.said, "bytes of memory") != tt.fails {
			t.Errorf("%s: %q", tt.name, r.said)
		}
	}
}

func TestTooLong(t *testing.T) {
	if CPUTime() == 0 {
		gdbtest.Cannot(t, "CPU time is not known here")
	}
	var in input
	for what := ""; what == ""; what = in.tooLong(20*time.Millisecond, time.Hour) {
	}
	in = input{}
	in.tooLong(time.Hour, time.Hour)
	in.seen = in.seen.Add(-time.Minute)
	if what := in.tooLong(time.Hour, time.Second); !strings.Contains(what, "has not been read") {
		t.Error(what)
	}
}

// An input that never ends is ended, with the stack that says where it was.
func TestEndless(t *testing.T) {
	if os.Getenv("BOUNDS_ENDLESS") != "" {
		Hold(t, 64<<10, func() { takeAll() })
	}
	c := exec.Command(os.Args[0], "-test.run=^TestEndless$")
	c.Env = append(os.Environ(), "BOUNDS_ENDLESS=1")
	out, err := c.CombinedOutput()
	for _, want := range []string{"and goes on", "bounds.takeAll"} {
		if err == nil || !strings.Contains(string(out), want) {
			t.Errorf("%v, no %q:\n%.2000s", err, want, out)
		}
	}
}

func takeAll() {
	for {
		kept = make([]byte, 1<<10)
	}
}

func BenchmarkHold(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		Hold(b, 0, func() {})
	}
}
