package s390x

import "testing"

func BenchmarkReadFrame(b *testing.B) { processor.BenchmarkReadFrame(b, library(b, "libc.so.6")) }

func BenchmarkReadEpilogue(b *testing.B) {
	code := code(lmgR11, br14)
	b.ReportAllocs()
	for b.Loop() {
		Machine.ReadEpilogue(code, 0x1000)
	}
}

func BenchmarkAfterCall(b *testing.B) {
	code := code(lmgR11, call)
	b.ReportAllocs()
	for b.Loop() {
		afterCall(code)
	}
}
