package stub_test

import (
	"bytes"
	_ "embed"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/inferior"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
	"github.com/sfwalk/sfwalk/target"
	"github.com/sfwalk/sfwalk/target/remote"
	"github.com/sfwalk/sfwalk/trad"
)

//go:embed testdata/same.py
var samePy string

// of is how gdb calls things of a processor.
var of = map[string]struct {
	word    func(w *arch.WideReg, size, i int) string // 64 bits of a wide register, of which the stub has size bytes
	general string                                    // a register that main does not read first
	wide    []string                                  // and wide ones; qemu has gdb not write the low halves of s390x's first 16
}{
	"amd64": {wordAMD64, "r15", []string{"zmm3", "zmm15"}},
	"arm64": {wordOf("$%s.d.u[%d]"), "x28", []string{"v3", "v31"}},
	"s390x": {wordOf("$%s.v2_int64[%d]"), "r5", []string{"v17", "v30"}},
}

func wordOf(format string) func(*arch.WideReg, int, int) string {
	return func(w *arch.WideReg, _, i int) string { return fmt.Sprintf(format, w.Name, i) }
}

func wordAMD64(w *arch.WideReg, size, i int) string {
	name := w.Name
	for _, n := range w.Narrower {
		if n.Size == size {
			name = n.Name
		}
	}
	if size == 8 {
		return "$" + name
	}
	return fmt.Sprintf("$%s.v%d_int64[%d]", name, size/8, i)
}

// Two runs of a program that begin alike have the same registers and memory after the same writes
// and steps: gdb makes them in one, we in the other.
func TestAsGDB(t *testing.T) {
	for _, processor := range processors {
		t.Run(processor, func(t *testing.T) {
			t.Parallel()
			p := build(t, processor)
			names := of[processor]
			held := dial(t, p.serve(t), remote.Options{})
			a := held.Arch()
			th := p.to(t, held, "main")

			// All 64-bit words of registers, and gdb's expressions for them.
			type word struct {
				register trad.Reg
				offset   int
			}
			var words []word
			var registers, commands []string
			write := func(w word, name string, v uint64) {
				b := make([]byte, 8)
				a.Order.PutUint64(b, v)
				if err := th.WriteRegister(w.register, w.offset, b); err != nil {
					t.Fatal(err)
				}
				commands = append(commands, fmt.Sprintf("set var %s = %#x", name, v))
			}
			for _, r := range a.Regs {
				if r.Bits == 64 && a.Wide(r.Num) == nil && r.Name != "vg" && !slices.Contains(a.ThreadPointer, r.Num) { // gdb has another name for it, or none
					if th.ReadRegister(r.Num, 0, make([]byte, 8)) != nil {
						continue // the stub has it not
					}
					words, registers = append(words, word{r.Num, 0}), append(registers, "$"+r.Name)
				}
				if r.Name == names.general {
					write(word{r.Num, 0}, "$"+r.Name, 0x1122334455667788)
				}
			}
			for _, w := range a.WideRegs() {
				whole, _ := target.ReadWide(th, &w)
				if strings.HasPrefix(w.Name, "st") { // not in 64-bit words
					continue
				}
				for i := range len(whole) / 8 {
					name := names.word(&w, len(whole), i)
					words, registers = append(words, word{w.Num, 8 * i}), append(registers, name)
					for _, changed := range names.wide {
						if w.Name == changed && i > 0 {
							write(word{w.Num, 8 * i}, name, uint64(i)<<56|0x99aabbccddeeff)
						}
					}
				}
			}
			at, size := p.symbols["counters"], 32
			if n, err := held.Memory().(target.WritableMemory).WriteMemory(at+3, []byte("$#}*written")); n != 11 || err != nil {
				t.Fatalf("%d bytes were written: %v", n, err)
			}
			for i, c := range []byte("$#}*written") {
				commands = append(commands, fmt.Sprintf("set var *(char *)%#x = %d", at+3+uint64(i), c))
			}

			const steps = 60
			for range steps {
				if e := resume(t, held, inferior.Resume{Thread: th, Step: true}); e.Kind != inferior.Stepped || e.TID != th.ID() {
					t.Fatalf("event %+v", e)
				}
			}
			type state struct {
				Registers []string
				Memory    string
			}
			gdb := func() (s state) {
				script := gdbtest.StartScript(t, "gdb-multiarch", samePy, map[string]any{
					"names": map[string]string{}, "stub": strings.TrimPrefix(p.serve(t), "unix:"), "commands": commands, "steps": steps,
					"registers": registers, "address": at, "size": size,
				}, p.path)
				if err := json.Unmarshal(script.Next(t), &s); err != nil {
					t.Fatal(err)
				}
				script.Next(t)
				return s
			}
			want, again := gdb(), gdb()
			memory := make([]byte, size)
			if _, err := held.Memory().ReadMemory(at, memory); err != nil || hex.EncodeToString(memory) != want.Memory {
				t.Errorf("memory %x, %v, gdb has %s", memory, err, want.Memory)
			}
			different := 0
			for i, w := range words {
				b := make([]byte, 8)
				if err := th.ReadRegister(w.register, w.offset, b); err != nil {
					t.Fatal(err)
				}
				// Some systems place stacks at random, and a stack protector's word is random
				// everywhere.
				if want.Registers[i] != again.Registers[i] {
					different++
				} else if got := fmt.Sprintf("%x", a.Order.Uint64(b)); got != want.Registers[i] {
					t.Errorf("%s is %s, gdb has %s", registers[i], got, want.Registers[i])
				}
			}
			if len(words)-different < 30 {
				t.Errorf("only %d words were compared", len(words)-different)
			}
			// Every wide register keeps all its bytes.
			for i, w := range a.WideRegs() {
				size := min(w.Size(), 16)
				if th.ReadRegister(w.Num, 0, make([]byte, size)) != nil {
					continue // the processor has it not
				}
				b := bytes.Repeat([]byte{byte(i + 1)}, size)
				b[1] = 0x7f // of an x87 register: a number
				if err := th.WriteRegister(w.Num, 0, b); err != nil {
					t.Fatal(err)
				}
				if got, err := inferior.RegisterBytes(th, w.Num, size); err != nil || !bytes.Equal(got, b) {
					t.Errorf("%s is %x, want %x: %v", w.Name, got, b, err)
				}
			}
		})
	}
}
