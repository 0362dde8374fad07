package native_test

import (
	"testing"

	"github.com/sfwalk/sfwalk/inferior/native"
)

// How long one of 200 threads, and all of them, are held at least. The guard is started before.
func BenchmarkHold(b *testing.B) {
	for name, all := range map[string]bool{"one of 200": false, "all of 200": true} {
		b.Run(name, func(b *testing.B) {
			p := start(b, "blocked", "199")
			var o native.Options
			if !all {
				o.Threads = []int{p.PID}
			}
			b.ReportAllocs()
			for b.Loop() {
				b.StopTimer()
				held, err := native.Open(p.PID)
				if err != nil {
					b.Fatal(err)
				}
				b.StartTimer()
				if err := held.Hold(b.Context(), o); err != nil {
					b.Fatal(err)
				}
				if err := held.Close(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
