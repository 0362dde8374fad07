package rowtest

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
	"github.com/sfwalk/sfwalk/trad"
)

// Compile makes a shared object of a source file, so that nothing else is in it.
func (p *Processor) Compile(t testing.TB, source string, flags ...string) string {
	t.Helper()
	out := filepath.Join(t.TempDir(), "frames.so")
	args := append([]string{"-w", "-shared", "-fPIC", "-nostartfiles", "-o", out}, flags...)
	if msg, err := exec.Command(gdbtest.Tool(t, p.CC), append(args, source)...).CombinedOutput(); err != nil {
		t.Fatalf("%s %v: %v\n%s", p.CC, flags, err, msg)
	}
	return out
}

// Builds demands for every instruction of every function of a source file that a row that is not a
// guess is right, and that nearly every instruction has a row. more, if any, demands more of a
// build.
func (p *Processor) Builds(t *testing.T, source string, builds []string, more func(t *testing.T, flags string, c *Tally)) {
	for variant, flags := range builds {
		t.Run(flags, func(t *testing.T) {
			gdbtest.Share(t, variant)
			file := p.Compile(t, source, strings.Fields(flags)...)
			for _, extra := range []uint64{0, 4096} {
				c := p.Compare(t, file, extra)
				t.Logf("with %d bytes more than the function: %s", extra, c)
				if c.Functions < 25 || c.Total < 500 {
					t.Errorf("only %d functions with %d instructions compared", c.Functions, c.Total)
				}
				if c.Wrong > 0 || c.Rules > 0 || c.WrongEpilogue > 0 || c.Unlike > 0 {
					t.Errorf("%d wrong rows, %d wrong rules of other registers, %d wrong epilogue rows, %d rows that cannot be compared", c.Wrong, c.Rules, c.WrongEpilogue, c.Unlike)
				}
				if c.None*1000 > c.Total {
					t.Errorf("%d of %d instructions have no row", c.None, c.Total)
				}
				if c.Sure*100 < c.Total*90 {
					t.Errorf("only %d of %d instructions have a row that is no guess", c.Sure, c.Total)
				}
				if c.WrongGuess*100 > c.Total {
					t.Errorf("%d of %d guesses are wrong", c.WrongGuess, c.Guess)
				}
				if c.SeenReturns != c.Returns {
					t.Errorf("%d of %d returns seen", c.SeenReturns, c.Returns)
				}
				if more != nil {
					more(t, flags, c)
				}
			}
		})
	}
}

// System demands of a large file of the system, a few of whose tables are wrong, that hardly a row
// is: it allows one wrong rule of other registers in as many rows as ruleIn.
func (p *Processor) System(t *testing.T, file string, ruleIn int) *Tally {
	c := p.Compare(t, file, 0)
	t.Logf("%s: %s", file, c)
	if c.Wrong*10000 > c.Sure || c.Rules*ruleIn > c.Sure { // 0.01 %
		t.Errorf("%s: %d of %d rows are wrong, %d rules of other registers", file, c.Wrong, c.Sure, c.Rules)
	}
	if c.WrongGuess*100 > 2*c.Total {
		t.Errorf("%s: %d of %d guesses are wrong", file, c.WrongGuess, c.Guess)
	}
	if c.None*1000 > c.Total {
		t.Errorf("%s: %d of %d instructions have no row", file, c.None, c.Total)
	}
	if c.WrongEpilogue*1000 > c.Epilogues || c.SeenReturns != c.Returns {
		t.Errorf("%s: %d of %d epilogue rows are wrong, %d of %d returns seen", file, c.WrongEpilogue, c.Epilogues, c.SeenReturns, c.Returns)
	}
	return c
}

// Inside demands that any byte of a call gives the row of its first, as a caller's address in
// block (return address - 1) needs it.
func (p *Processor) Inside(t *testing.T, file string) {
	calls := 0
	for _, f := range p.functions(t, file, 0) {
		for i, pc := range f.pcs {
			if f.section != ".text" || !strings.HasPrefix(f.lines[i], p.Call) {
				continue
			}
			calls++
			end := f.Hi
			if i+1 < len(f.pcs) {
				end = f.pcs[i+1]
			}
			want, _, why := p.Machine.ReadFrame(f.code, f.Lo, pc)
			if why != "" {
				t.Fatalf("%#x: %s", pc, why)
			}
			for at := pc; at < end; at++ {
				got, _, why := p.Machine.ReadFrame(f.code, f.Lo, at)
				if got.Lo != pc || uint64(got.Len) != end-pc || got.CFA != want.CFA || got.RA != want.RA || got.FP != want.FP || why != "" {
					t.Errorf("%#x inside %#x: %s %q, at the start %s", at, pc, got.Format(p.Arch.RegName), why, want.Format(p.Arch.RegName))
				}
			}
		}
	}
	if calls < 40 {
		t.Errorf("only %d calls", calls)
	}
}

// InPrologue demands of a file whose functions with a frame all have a frame pointer that set-up
// and teardown are told from the body. The table's rows do so: they have the CFA from the stack
// pointer.
func (p *Processor) InPrologue(t *testing.T, file string) {
	before, body := 0, 0
	for _, f := range p.functions(t, file, 0) {
		if p.LeaveOut(f.FDE, f.lines) != "" {
			continue
		}
		last := ""
		for i, pc := range f.pcs {
			text := f.lines[i]
			if f.section != ".text" || p.Padding(&Instruction{PC: pc, Code: f.code[pc-f.Lo:], Text: text, Before: last}) {
				continue
			}
			last = text
			row, _, why := p.Machine.ReadFrame(f.code, f.Lo, pc)
			if why != "" {
				t.Fatalf("%#x: %s", pc, why)
			}
			in := row.Flags&trad.InPrologue != 0
			switch cfa := f.At(pc).CFA; {
			case strings.HasPrefix(cfa, p.Arch.RegName(p.Arch.SP)):
				if before++; !in {
					t.Errorf("%#x: %s: not in the prologue, with the CFA at %s", pc, text, cfa)
				}
			case strings.HasPrefix(text, p.Call):
				if body++; in {
					t.Errorf("%#x: %s: in the prologue, with the CFA at %s", pc, text, cfa)
				}
			}
		}
	}
	if before < 60 || body < 60 {
		t.Errorf("only %d instructions before and behind, %d in the bodies", before, body)
	}
}
