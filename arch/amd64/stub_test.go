package amd64

import "testing"

func TestStubFrame(t *testing.T) {
	processor.X86Stubs(t, "-Wl,-z,lazy", "-Wl,-z,now", "-Wl,-z,lazy -fcf-protection=full -Wl,-z,ibtplt", "-Wl,-z,now -Wl,-z,ibtplt", "-no-pie -Wl,-z,lazy")
}

func TestStubFrameDeclines(t *testing.T) {
	for _, code := range [][]byte{
		nil,
		{0x55, 0x48, 0x89, 0xe5, 0xff, 0x25, 0, 0, 0, 0}, // a prologue
		{0xe9, 0, 0, 0, 0}, // a jump, with nothing pushed
		{0xff, 0xe0},       // a jump through a register
		{0x68, 1, 0, 0, 0}, // ends before the jump
		{0xf3, 0x0f, 0x1e, 0xfa, 0xc3, 0, 0, 0, 0, 0, 0, 0, 0}, // a function that returns
	} {
		if n, ok := decoder.StubFrame(code, 0x1000, 0x1000); ok {
			t.Errorf("% x: %d", code, n)
		}
	}
}
