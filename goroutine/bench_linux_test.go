package goroutine

import (
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
)

// parkedProcess starts a process with 10,000 parked goroutines.
func parkedProcess(b *testing.B) *subject {
	return start(b, "none", gdbtest.Build(b, "goparked", "-ldflags=-s -w"), "10000")
}

// BenchmarkFind finds the runtime, in a module whose function table has been found.
func BenchmarkFind(b *testing.B) {
	tg := parkedProcess(b).attach(b)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Find(tg); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkAll lists 10,000 goroutines.
func BenchmarkAll(b *testing.B) {
	r, err := Find(parkedProcess(b).attach(b))
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if list, err := r.All(); err != nil || len(list) < 10_000 {
			b.Fatal(len(list), err)
		}
	}
}
