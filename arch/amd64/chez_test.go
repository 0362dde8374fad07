package amd64

import (
	"encoding/hex"
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/bounds"
)

// FuzzChez has code read for where its frame is.
func FuzzChez(f *testing.F) {
	f.Add([]byte("\x49\x83\xc5\x10\x48\x8d\x0d\x30\x00\x00\x00\x49\x89\x4d\x00\xe9\x00\x00\x00\x00"), uint8(4))
	f.Fuzz(func(t *testing.T, code []byte, at uint8) {
		if int(at) <= len(code) {
			bounds.Hold(t, 1<<20, func() { chezInward(code, int(at)) })
		}
	})
}

// TestChezInward has calls that Chez Scheme's compiler has made (9.5.8 and 10.0, as objdump prints
// them), and the offsets of the instructions at which r13 leads to the callee's frame.
func TestChezInward(t *testing.T) {
	for _, c := range []struct {
		code   string
		inward map[int]uint64
	}{
		// mov [r13+8],rbp; add r13,0x10; lea rcx,[rip+0x30]; mov [r13+0],rcx; jmp; nop; what is
		// said of the place; sub r13,0x10
		{"49896d08" + "4983c510" + "488d0d30000000" + "49894d00" + "e9e43ee9ff" + "0f1f8000000000" + "0000000000000000000000000000000000000000000000000000000000000000" + "4983ed10" + "4889e9" + "90909090",
			map[int]uint64{0: 0, 4: 0, 8: 16, 15: 16, 19: 16, 63: 16, 67: 0}},
		// add r13,0x18; mov r12,imm64; mov r15,[r12+5]; lea rcx,[rip+0x30]; mov [r13+0],rcx;
		// mov rbp,1; jmp [r12+disp32]
		{"4983c518" + "49bc2b06ea4100000000" + "4d8b7c2405" + "488d0d30000000" + "49894d00" + "48c7c501000000" + "41ff64240d" + "90909090909090909090909090909090",
			map[int]uint64{0: 0, 4: 24, 14: 24, 19: 24, 26: 24, 30: 24, 37: 24}},
		// test dil,7; jne: no call
		{"40f6c707" + "7507" + "4889fd" + "9090909090", map[int]uint64{0: 0, 4: 0, 6: 0, 14: 0}},
	} {
		code, err := hex.DecodeString(c.code)
		if err != nil {
			t.Fatal(err)
		}
		for at, want := range c.inward {
			if got := chezInward(code, at); got != want {
				t.Errorf("%s at %d: %d, want %d", c.code, at, got, want)
			}
		}
	}
}
