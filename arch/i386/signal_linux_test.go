//go:build amd64

package i386

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
	"github.com/sfwalk/sfwalk/trad"
)

// stack is a part of a program's memory, and its registers.
type stack struct {
	regs arch.Registers
	at   uint64
	b    []byte
}

func (s *stack) Register(r trad.Reg) (uint64, bool) { return s.regs.Get(r) }

func (s *stack) Word(addr uint64) (uint64, error) {
	if off := addr - s.at; off+4 <= uint64(len(s.b)) {
		return uint64(Arch.Order.Uint32(s.b[off:])), nil
	}
	return 0, trad.ErrUnavailable
}

// TestSignalFrames: what the kernel has put on the stack for handlers of each kind, with
// trampolines of the vDSO and with the program's own, is what the rows say: at each instruction of
// the trampolines, the registers have the values that the program had in them.
func TestSignalFrames(t *testing.T) {
	file := filepath.Join(t.TempDir(), "signal")
	if msg, err := exec.Command(gdbtest.Tool(t, "i686-linux-gnu-gcc"), "-O0", "-fno-pie", "-no-pie", "-static", "-fno-omit-frame-pointer", "-mpreferred-stack-boundary=2", "-w", "-o", file, "testdata/signal.c").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, msg)
	}
	names, err := exec.Command(gdbtest.Tool(t, "nm"), file).Output()
	if err != nil {
		t.Fatal(err)
	}
	var trap uint64
	for line := range strings.Lines(string(names)) {
		if f := strings.Fields(line); len(f) == 3 && f[2] == "trap" {
			trap, _ = strconv.ParseUint(f[0], 16, 64)
		}
	}
	rows := 0
	for kind := range 4 {
		out, err := exec.Command(file, strconv.Itoa(kind)).Output()
		if err != nil {
			t.Fatalf("kind %d: %v: %s", kind, err, out)
		}
		var name string
		var ra, sp uint64
		var code, data string
		if _, err := fmt.Sscanf(string(out), "%s %x %s %x %s", &name, &ra, &code, &sp, &data); err != nil {
			t.Fatalf("kind %d: %v: %s", kind, err, out)
		}
		at, err := hex.DecodeString(code)
		if err != nil {
			t.Fatal(err)
		}
		s := &stack{at: sp}
		if s.b, err = hex.DecodeString(data); err != nil {
			t.Fatal(err)
		}
		word := func(sp uint64) func(off int) uint64 {
			return func(off int) uint64 {
				lo, _ := s.Word(sp + uint64(off))
				hi, _ := s.Word(sp + uint64(off) + 4)
				return lo | hi<<32
			}
		}
		found := 0
		for off := range at {
			for i := range Arch.Trampolines {
				tramp := &Arch.Trampolines[i]
				for _, pc := range tramp.PCs {
					if off < pc || !bytes.HasPrefix(at[off-pc:], tramp.Code) {
						continue
					}
					found++
					now := sp
					if name == "plain" && off > 0 { // behind pop
						now += 4
					}
					s.regs = arch.Registers{}
					s.regs.Set(ESP, now)
					row := tramp.Row(ra+uint64(off-pc), uint32(len(tramp.Code)))
					if row.Lo > ra+uint64(off) || row.Lo+uint64(row.Len) <= ra+uint64(off) || row.Flags&trad.Signal == 0 {
						t.Errorf("%s, offset %d: row of [%#x,+%d)", name, off, row.Lo, row.Len)
					}
					s.check(t, fmt.Sprintf("%s, kind %d, offset %d", name, kind, off), &row, trap)
					if !tramp.OnStack(now, word(now)) {
						t.Errorf("%s, kind %d, offset %d: the frame is not known by the stack", name, kind, off)
					}
					rows++
				}
			}
		}
		if want := map[string]int{"plain": 3, "siginfo": 2}[name]; found != want {
			t.Errorf("%s, kind %d: %d instructions of trampolines in % x, want %d", name, kind, found, at, want)
		}
		s.interrupted(t, name)
	}
	if rows != 10 {
		t.Errorf("%d rows", rows)
	}
}

// check compares the registers by a row with the program's registers.
func (s *stack) check(t *testing.T, where string, row *trad.Row, trap uint64) {
	t.Helper()
	value := func(rule trad.Rule) uint64 {
		sp, _ := s.regs.Get(rule.Reg)
		v, err := s.Word(sp + uint64(int64(rule.Off)))
		if rule.Kind != trad.SavedAt || err != nil {
			t.Errorf("%s: rule %v: %v", where, rule, err)
		}
		return v
	}
	for r, want := range map[trad.Reg]uint64{EAX: 0x11111111, EBX: 0x22222222, ECX: 0x33333333, EDX: 0x44444444, ESI: 0x55555555, EDI: 0x66666666} {
		if got := value(row.Others.Rule(r)); got != want {
			t.Errorf("%s: %s is %#x, want %#x", where, Arch.RegName(r), got, want)
		}
	}
	sp := value(row.Others.Rule(ESP))
	if got := value(row.FP); got != sp+0x1000 {
		t.Errorf("%s: ebp is %#x, esp %#x", where, got, sp)
	}
	if got := value(row.RA); got != trap {
		t.Errorf("%s: eip is %#x, want %#x", where, got, trap)
	}
	if got := value(row.CFA); got != sp || sp <= s.at || sp-s.at > 0x2000 {
		t.Errorf("%s: the CFA is %#x, esp %#x, of a frame at %#x", where, got, sp, s.at)
	}
	if cs, ss := value(row.Others.Rule(CS)), value(row.Others.Rule(SS)); uint16(cs) != 0x23 || uint16(ss) != 0x2b {
		t.Errorf("%s: cs %#x, ss %#x", where, cs, ss)
	}
}

// interrupted demands that Arch.SigContext, and Arch.UContext where there is a struct ucontext,
// know the interrupted SP.
func (s *stack) interrupted(t *testing.T, name string) {
	t.Helper()
	at := map[string]int{"plain": sigframeSigcontext, "siginfo": rtSigcontext}[name]
	sp, ok := Arch.SigContext(s.at+uint64(at), s.b[at:])
	if want, _ := s.Word(s.at + uint64(at) + sigcontextSP); !ok || sp != want {
		t.Errorf("%s: the interrupted SP is %#x %v, want %#x", name, sp, ok, want)
	}
	if name == "siginfo" {
		if got := Arch.Word(s.b[rtSigframeUContext+Arch.UContext.SP:]); got != sp {
			t.Errorf("struct ucontext has the SP %#x, want %#x", got, sp)
		}
	}
}
