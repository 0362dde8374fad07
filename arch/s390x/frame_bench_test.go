package s390x

import "testing"

func BenchmarkReadFrame(b *testing.B)    { processor.BenchmarkReadFrame(b, library(b, "libc.so.6")) }
func BenchmarkReadEpilogue(b *testing.B) { processor.BenchmarkReadEpilogue(b, code(lmgR11, br14)) }
func BenchmarkAfterCall(b *testing.B)    { processor.BenchmarkAfterCall(b, code(lmgR11, call)) }
