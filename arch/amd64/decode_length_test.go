package amd64

import (
	"encoding/hex"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/arch/values"
	"github.com/sfwalk/sfwalk/internal/gdbtest"
	"github.com/sfwalk/sfwalk/internal/rowtest"
)

// TestDecodeLength compares the length of every instruction of libm, which has
// all that AVX, FMA and FMA4 offer, with objdump's; and that of the length
// decoder, which stands in where x86asm does not know an instruction.
func TestDecodeLength(t *testing.T) {
	file := gdbtest.File(t, "/lib/x86_64-linux-gnu/libm.so.6")
	total, undecoded, extension := 0, 0, 0
	rowtest.Lines(t, func(line string) {
		f := strings.Split(line, "\t")
		if len(f) < 3 || strings.Contains(f[2], "(bad)") {
			return
		}
		raw, err := hex.DecodeString(strings.ReplaceAll(strings.TrimSpace(f[1]), " ", ""))
		if err != nil {
			return
		}
		total++
		// What follows must not matter.
		for _, next := range []byte{0x00, 0xff, 0x84} {
			code := append(append([]byte{}, raw...), next, next, next, next, next, next, next, next)
			if len(raw) > 1 && raw[0] == 0x9b {
				continue // fwait and the next instruction, which objdump joins
			}
			if o, _ := decode(code, 0, nil); o.Flow == values.Bad {
				undecoded++
			} else if int(o.Len) != len(raw) {
				t.Errorf("%s: %d bytes, want %d", line, o.Len, len(raw))
			}
			if n, _ := extensionLen(code); n != 0 {
				// vzeroupper and 0F opcodes without ModRM byte are decoded before.
				if raw[0] == 0xc5 && strings.Contains(f[2], "vzero") {
					continue
				}
				extension++
				if n != len(raw) {
					t.Errorf("%s: extension of %d bytes, want %d", line, n, len(raw))
				}
			}
		}
	}, "objdump", "-d", "-w", file)
	t.Logf("%s: %d instructions, %d not decoded, %d lengths by the length decoder", file, total, undecoded, extension)
	if total < 50000 || undecoded > 0 || extension < 1000 {
		t.Errorf("%s: %d instructions, %d not decoded, %d lengths", file, total, undecoded, extension)
	}
}
