package arm

import (
	"debug/elf"
	"encoding/binary"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/arch/dataflow"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
	"github.com/sfwalk/sfwalk/internal/test/rowtest"
)

func words(list ...uint32) (b []byte) {
	for _, w := range list {
		b = binary.LittleEndian.AppendUint32(b, w)
	}
	return b
}

func halves(list ...uint16) (b []byte) {
	for _, h := range list {
		b = binary.LittleEndian.AppendUint16(b, h)
	}
	return b
}

func library(t *testing.T, name string) string {
	t.Helper()
	return gdbtest.File(t, "/usr/arm-linux-gnueabihf/lib/"+name)
}

// compiled are programs of each instruction set, and the C library, which is Thumb code for the
// most part.
func compiled(t *testing.T) map[string]*rowtest.Processor {
	t.Helper()
	return map[string]*rowtest.Processor{link(t, "-marm -O2"): a32Code, link(t, "-mthumb -O2"): thumbCode}
}

// TestAfterCall: every call of programs is seen from behind.
func TestAfterCall(t *testing.T) {
	for file, p := range compiled(t) {
		p.AfterCall(t, file, 30, 60, func(text string) bool {
			op, _, _ := strings.Cut(text, "\t")
			return op == "bl" || op == "blx"
		})
	}
	for _, c := range []struct {
		code []byte
		want bool
	}{
		{words(0xebfffffe), true}, {words(0x0bfffffe), true}, {words(0xfafffffe), true}, {words(0xe12fff33), true}, // bl, bleq, blx, blx r3
		{words(0xe1a0e00f, 0xe12fff13), true}, {words(0xe1a0e00f, 0xe590f008), true}, {words(0xe1a0f003), false}, // mov lr, pc; bx r3, ldr pc; mov pc, r3
		{words(0xeafffffe), false}, {words(0xe12fff1e), false}, // b, bx lr
		{halves(0xf7ff, 0xfffe), true}, {halves(0xf7ff, 0xeffe), true}, {halves(0x4798), true}, // bl, blx, blx r3
		{halves(0x4718), false}, {halves(0xf7ff, 0xbffe), false}, {nil, false}, // bx r3, b.w
	} {
		if got := afterCall(c.code); got != c.want {
			t.Errorf("% x: %v", c.code, got)
		}
	}
}

// TestCallTarget: where each bl and blx goes is what objdump shows.
func TestCallTarget(t *testing.T) {
	target := regexp.MustCompile(`^blx?\t([0-9a-f]+) <`)
	files := compiled(t)
	files[library(t, "libgcc_s.so.1")] = thumbCode
	for file, p := range files {
		pcs, text := p.Instructions(t, file)
		im := rowtest.Open(t, file)
		n := 0
		for _, pc := range pcs {
			m := target.FindStringSubmatch(text[pc])
			if m == nil {
				continue
			}
			n++
			code, _ := im.Code(t, pc, pc+4, 0)
			if to, ok := callTarget(code, pc+4); !ok || to != rowtest.ParseHex(t, m[1]) {
				t.Errorf("%s: %#x: %s: %#x, %v", file, pc, text[pc], to, ok)
			}
		}
		if n < 20 {
			t.Errorf("%s: only %d calls", file, n)
		}
	}
}

// TestIsThumb: each function of programs and libraries is of the set that its symbol tells by bit
// 0.
func TestIsThumb(t *testing.T) {
	files := []string{library(t, "libc.so.6"), library(t, "libstdc++.so.6")}
	for file := range compiled(t) {
		files = append(files, file)
	}
	for _, file := range files {
		f, err := elf.Open(file)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		symbols, _ := f.Symbols()
		dynamic, _ := f.DynamicSymbols()
		im := rowtest.Open(t, file)
		n, wrong := 0, 0
		for _, s := range append(symbols, dynamic...) {
			if elf.ST_TYPE(s.Info) != elf.STT_FUNC || s.Size < 8 {
				continue
			}
			code, _ := im.Code(t, s.Value&^1, s.Value&^1+s.Size, 0)
			if code == nil {
				continue
			}
			if n++; IsThumb(code, s.Value&^1) != (s.Value&1 == 1) {
				wrong++
				t.Logf("%s: %s: %x", filepath.Base(file), s.Name, code[:min(32, len(code))])
			}
		}
		t.Logf("%s: %d of %d functions taken for the other set", filepath.Base(file), wrong, n)
		if n < 14 || wrong*500 > n {
			t.Errorf("%s: %d of %d functions are taken for the other set", file, wrong, n)
		}
	}
}

// TestStubs: each stub of a program's linkage table jumps through the slot that readelf names for
// the function.
func TestStubs(t *testing.T) {
	cc := gdbtest.Tool(t, "arm-linux-gnueabihf-gcc")
	for _, flags := range []string{"-marm", "-mthumb", "-mthumb -Wl,--long-plt"} {
		out := filepath.Join(t.TempDir(), "stubs")
		cmd := exec.Command(cc, append(strings.Fields(flags), "-O2", "-Wl,-z,lazy", "-o", out, "-x", "c", "-")...)
		cmd.Stdin = strings.NewReader("#include <stdio.h>\n#include <stdlib.h>\nint main(int c, char **v) { puts(v[0]); printf(\"%d\", rand()); return atoi(v[0]); }\n")
		if msg, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, msg)
		}
		slots := map[uint64]bool{}
		rowtest.Lines(t, func(line string) {
			if f := strings.Fields(line); len(f) > 2 && f[2] == "R_ARM_JUMP_SLOT" {
				at, _ := strconv.ParseUint(f[0], 16, 64)
				slots[at] = true
			}
		}, "readelf", "-rW", out)
		f, err := elf.Open(out)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		plt := f.Section(".plt")
		code, err := plt.Data()
		if err != nil {
			t.Fatal(err)
		}
		for off := range uint64(20) { // push {lr}; ldr lr; add lr; ldr pc; a number
			if n, ok := stubFrame(code[:20], plt.Addr, plt.Addr+off); ok != (off < 16 && off%4 == 0) || ok && n != min(4, int32(off)) {
				t.Errorf("%s: first stub, +%d: %d, %v", flags, off, n, ok)
			}
		}
		want := len(slots)
		for at := 20; at < len(code); {
			slot, length, ok := stubSlot(code[at:], plt.Addr+uint64(at), 0)
			if !ok || !slots[slot] {
				t.Fatalf("%s: stub at %#x: slot %#x, %v; slots are %v", flags, plt.Addr+uint64(at), slot, ok, slots)
			}
			delete(slots, slot)
			if n, ok := stubFrame(code[at:at+length], plt.Addr+uint64(at), plt.Addr+uint64(at)+4); !ok || n != 0 || !inStub(code[at:]) {
				t.Errorf("%s: stub at +%d: %d, %v", flags, at, n, ok)
			}
			at += length
		}
		if len(slots) > 0 || want < 4 {
			t.Errorf("%s: no stub for %d of %d slots", flags, len(slots), want)
		}
	}
}

// TestLength: instructions outside of IT blocks are as long as objdump has them.
func TestLength(t *testing.T) {
	file := library(t, "libgcc_s.so.1")
	pcs, text := thumbCode.Instructions(t, file)
	im := rowtest.Open(t, file)
	n, block := 0, uint64(0)
	for i, pc := range pcs[:len(pcs)-1] {
		size := pcs[i+1] - pc
		if size != 2 && size != 4 || strings.HasPrefix(text[pc], ".") || strings.Contains(text[pc], "unpredictable") || strings.Contains(text[pc], "{}") || pc < block {
			continue
		}
		code, section := im.Code(t, pc, pc+size, 16)
		if section != ".text" {
			continue
		}
		in, _ := decodeThumb(code, 0, nil)
		if strings.HasPrefix(text[pc], "it") {
			block = pc + uint64(in.Len)
			if !slices.Contains(pcs, block) {
				t.Errorf("%#x: the block of %s has %d bytes", pc, text[pc], in.Len)
			}
			continue
		}
		if n++; uint64(in.Len) != size || in.Flow == dataflow.Bad {
			t.Errorf("%#x: %s: %d bytes, %v", pc, text[pc], in.Len, in.Flow)
		}
	}
	if n < 5000 {
		t.Errorf("only %d instructions", n)
	}
}

// Real code, as gcc 12 made it, in each set.
var fuzzA32 = [][]byte{
	words(0xe92d4110, 0xe24ddd4e, 0xe24dd00c, 0xebffff90, 0xe28ddd4e, 0xe28dd00c, 0xe8bd8110),                         // a large frame
	words(0xe1a0c00d, 0xe92dd810, 0xe24cb004, 0xe1a04000, 0xebfffffe, 0xe24bd010, 0xe89d6810, 0xe12fff1e),             // APCS
	words(0xe92d4800, 0xe28db004, 0xed2d8b04, 0xe04dd000, 0xe3cdd007, 0xecbd8b04, 0xe24bd004, 0xe8bd8800),             // vpush, alloca
	words(0xe52de004, 0xe59fe004, 0xe08fe00e, 0xe5bef008, 0, 0xe28fc600, 0xe28cca10, 0xe5bcfff4),                      // linkage stubs
	words(0xe3500003, 0x908ff100, 0xea000001, 0x08bd8010, 0x01a0f00e, 0xe49df004, 0xe3a07001, 0xef000000, 0xe7f000f0), // switch, conditional returns
}

var fuzzThumb = [][]byte{
	halves(0xb5f0, 0xb083, 0xaf00, 0x2807, 0xd836, 0xe8df, 0xf000, 0x1f17, 0xf7ff, 0xff9d, 0x3708, 0x46bd, 0xbd80),
	halves(0xe92d, 0x4ff0, 0xed2d, 0x8b04, 0xf5ad, 0x5d9c, 0xebad, 0x0d03, 0xf50d, 0x5d9c, 0xecbd, 0x8b04, 0xe8bd, 0x8ff0),
	halves(0xbf18, 0xbd10, 0xbf0e, 0x2001, 0x2002, 0x4770, 0x4778, 0x46c0, 0xb108, 0xf85d, 0xfb04),
}

func FuzzReadFrame(f *testing.F)         { a32Code.FuzzReadFrame(f, fuzzA32) }
func FuzzReadFrameThumb(f *testing.F)    { thumbCode.FuzzReadFrame(f, fuzzThumb) }
func FuzzReadEpilogue(f *testing.F)      { a32Code.FuzzReadEpilogue(f, fuzzA32) }
func FuzzReadEpilogueThumb(f *testing.F) { thumbCode.FuzzReadEpilogue(f, fuzzThumb) }
func FuzzReadAhead(f *testing.F)         { a32Code.FuzzReadAhead(f, slices.Concat(fuzzA32, fuzzThumb)) }
func FuzzCallTarget(f *testing.F)        { a32Code.FuzzCallTarget(f, slices.Concat(fuzzA32, fuzzThumb)) }

func FuzzStubFrame(f *testing.F) {
	a32Code.FuzzStubFrame(f, fuzzA32, func(fromSP int32) bool { return fromSP == 0 || fromSP == word })
}

func FuzzAfterCall(f *testing.F) {
	thumbCode.FuzzAfterCall(f, slices.Concat(fuzzA32, fuzzThumb), arch.MaxCall)
}

// TestHostileCode: the bounds hold on code made to be slow.
func TestHostileCode(t *testing.T) {
	a32Code.Hostile(t, string(words(0x0a000040, 0xe92d4800)), string(words(0xebfffffe, 0x1afffff0, 0xe24dd008)), string(words(0xe12fff1e)))
	thumbCode.Hostile(t, string(halves(0xd010, 0xb580)), string(halves(0xbf08)), string(halves(0xffff)))
}
