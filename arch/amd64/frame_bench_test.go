package amd64

import "testing"

func BenchmarkReadFrame(b *testing.B) { processor.BenchmarkReadFrame(b, "/bin/bash") }

func BenchmarkReadEpilogue(b *testing.B) {
	code := []byte{0x48, 0x83, 0xc4, 0x10, 0x5b, 0x5d, 0x41, 0x5c, 0xc3}
	b.ReportAllocs()
	for b.Loop() {
		Machine.ReadEpilogue(code, 0x1000)
	}
}

func BenchmarkAfterCall(b *testing.B) {
	code := []byte{0x48, 0x83, 0xc4, 0x10, 0x41, 0xff, 0x54, 0x24, 0x08}
	b.ReportAllocs()
	for b.Loop() {
		afterCall(code)
	}
}
