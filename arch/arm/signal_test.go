package arm

import "testing"

// TestInfoOnStack: arguments and saved registers on a stack are not taken for the kernel's frame.
// The one was on the stack of a function with eight arguments; the other is what setup_rt_frame
// (arch/arm/kernel/signal.c) writes.
func TestInfoOnStack(t *testing.T) {
	const context, mcontext = rtSigframeUContext, rtSigframeUContext + ucontextSigcontext
	kernels := map[int]uint64{0: 11, 8: 1, context + 12: 2, mcontext: 14, mcontext + 12 + 15*4: 0x10e4a, mcontext + 12 + 16*4: 0x60000030}
	arguments := map[int]uint64{0: 6, 4: 7, 8: 8, mcontext + 12 + 15*4: 0x10e4a, mcontext + 12 + 16*4: 0x7dd30}
	for _, x := range []struct {
		words map[int]uint64
		want  bool
	}{{kernels, true}, {arguments, false}} {
		if got := infoOnStack(0, func(off int) uint64 { return x.words[off] }); got != x.want {
			t.Errorf("%v: %v", x.words, got)
		}
	}
	delete(arguments, 4)
	if infoOnStack(0, func(off int) uint64 { return arguments[off] }) {
		t.Error("a pointer is taken for cpsr")
	}
}
