package amd64

import (
	"testing"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/internal/test/bounds"
)

// FuzzSBCL has code read for where its frame is.
func FuzzSBCL(f *testing.F) {
	f.Add([]byte("\x48\x89\x2c\x24\x48\x8b\xec\x8d\x58\xf5\xf6\xc3\x0f\x74\x09\xff\x14\x25\x20\x04\x00\x50\xeb\x03\xff\x50\xfd"), uint8(10))
	f.Add([]byte("\x48\x8b\x6d\x00\x45\x31\xc9\xf9\x50\xc3"), uint8(7))
	f.Fuzz(func(t *testing.T, code []byte, at uint8) {
		if int(at) <= len(code) {
			bounds.Hold(t, 1<<20+64*len(code), func() {
				sbclMoment(code, int(at))
				sbclMoves(code, int(at))
				sbclGate(code)
			})
		}
	})
}

// TestSBCLMoment has moments of (defun foo (f x) (1+ (funcall f x))), as SBCL 2.2.9 compiles and
// disassembles it.
func TestSBCLMoment(t *testing.T) {
	const foo = "\x8f\x45\x08" + // pop [rbp+8]
		"\x48\x83\xec\x10" + // sub rsp, 16
		"\x48\x89\x2c\x24" + // mov [rsp], rbp
		"\x48\x8b\xec" + // mov rbp, rsp
		"\x8d\x58\xf5" + // lea ebx, [rax-11]
		"\xf6\xc3\x0f" + // test bl, 15
		"\x74\x09" + // je
		"\xff\x14\x25\x20\x04\x00\x50" + // call CALL-SYMBOL
		"\xeb\x03" + // jmp
		"\xff\x50\xfd" + // call [rax-3]
		"\x48\x0f\x42\xe3" + // cmovb rsp, rbx
		"\x48\x8b\xe5\xf8\x5d\xc3" // mov rsp, rbp; clc; pop rbp; ret
	for at, want := range map[int]arch.SBCLMoment{
		0: arch.SBCLEntered, 3: arch.SBCLRuns, 7: arch.SBCLRuns, 11: arch.SBCLRuns, 14: arch.SBCLCalls, 17: arch.SBCLCalls, 20: arch.SBCLCalls,
		22: arch.SBCLCalls, 29: arch.SBCLRuns, 31: arch.SBCLCalls, 34: arch.SBCLRuns, 38: arch.SBCLRuns, 41: arch.SBCLRuns, 42: arch.SBCLRuns, 43: arch.SBCLLeft,
	} {
		if got := sbclMoment([]byte(foo), at); got != want {
			t.Errorf("at %d: %d, want %d", at, got, want)
		}
	}
}
