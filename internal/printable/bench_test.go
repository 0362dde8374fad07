package printable

import (
	"io"
	"strings"
	"testing"
)

// BenchmarkWriter writes text like the text of stacks: lines of ASCII but for one sign.
func BenchmarkWriter(b *testing.B) {
	page := []byte(strings.Repeat("#12  0x00007ff0ef7dcdd0 in serve_request (…) at ../sysdeps/unix/sysv/linux/pause.c:29\n", 180))
	w := NewWriter(io.Discard)
	b.SetBytes(int64(len(page)))
	b.ReportAllocs()
	for b.Loop() {
		w.Write(page)
	}
}
