package amd64

import "testing"

func BenchmarkReadFrame(b *testing.B) { processor.BenchmarkReadFrame(b, "/bin/bash") }

func BenchmarkReadEpilogue(b *testing.B) {
	processor.BenchmarkReadEpilogue(b, []byte("\x48\x83\xc4\x10\x5b\x5d\x41\x5c\xc3"))
}

func BenchmarkAfterCall(b *testing.B) {
	processor.BenchmarkAfterCall(b, []byte("\x48\x83\xc4\x10\x41\xff\x54\x24\x08"))
}
