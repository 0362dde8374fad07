package x86

import (
	"encoding/hex"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/arch/dataflow"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
	"github.com/sfwalk/sfwalk/internal/test/rowtest"
)

// TestDecodeLength compares the length of every instruction of libm, which has all that AVX, FMA
// and FMA4 offer, and of 32-bit libraries with objdump's. It does so, too, with the lengths by the
// length decoder, which stands in where x86asm does not know an instruction.
func TestDecodeLength(t *testing.T) {
	for _, tt := range []struct {
		mode, extensions int
		file             string
	}{
		{64, 1000, "/lib/x86_64-linux-gnu/libm.so.6"},
		{32, 10, "/usr/i686-linux-gnu/lib/libm.so.6"},
		{32, 100, "/usr/i686-linux-gnu/lib/libc.so.6"},
	} {
		testLength(t, New(tt.mode, 16, numbers[:tt.mode/4]...), gdbtest.File(t, tt.file), tt.extensions)
	}
}

var numbers = []dataflow.Reg{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}

func testLength(t *testing.T, d *Decoder, file string, extensions int) {
	t.Helper()
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
			if o, _ := d.Decode(code, 0, nil); o.Flow == dataflow.Bad {
				undecoded++
			} else if int(o.Len) != len(raw) {
				t.Errorf("%s: %d bytes, want %d", line, o.Len, len(raw))
			}
			if n, _ := d.extensionLen(code); n != 0 {
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
	if total < 50000 || undecoded > 0 || extension < extensions {
		t.Errorf("%s: %d instructions, %d not decoded, %d lengths", file, total, undecoded, extension)
	}
}
