package dummy_test

import (
	"bytes"
	"debug/elf"
	_ "embed"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"testing"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/arch/amd64"
	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/inferior"
	"github.com/sfwalk/sfwalk/inferior/native"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
	"github.com/sfwalk/sfwalk/internal/test/walktest"
	"github.com/sfwalk/sfwalk/sniffer"
	"github.com/sfwalk/sfwalk/sniffer/dummy"
	"github.com/sfwalk/sfwalk/target"
	"github.com/sfwalk/sfwalk/trad"
)

//go:embed testdata/ymm.py
var ymmPy string

// TestCallSeen has a thread call a function that returns to the program's entry point, or to the
// thread's stack, and looks at the stack within the function. The stack that gdb sees before the
// call lies beyond the dummy frame, with the vector registers that gdb sees. Before, the same table
// has walked the stack of a thread that was at the place.
func TestCallSeen(t *testing.T) {
	gdbtest.NeedAMD64(t)
	program := gdbtest.Build(t, "held.c", "-O1", "-g", "-pthread", "-no-pie", "-fno-pie")
	add := symbol(t, program, "add")
	for _, onStack := range []bool{false, true} {
		t.Run(fmt.Sprintf("on the stack %v", onStack), func(t *testing.T) {
			p := gdbtest.StartRunning(t, program, "read")
			p.Rest(t)
			want := gdbtest.Backtrace(t, p.PID)[0].Frames
			ymm := vectors(t, p.PID)

			held, err := native.Attach(t.Context(), p.PID, native.Options{})
			if err != nil {
				t.Fatal(err)
			}
			defer held.Close()
			th := held.Thread(p.PID)
			a := held.Arch()
			frames := &dummy.Frames{}
			table := sniffer.Table(a)
			table.Prepend(dummy.New(frames))
			stack, err := frame.New(held, th, table)
			if err != nil {
				t.Fatal(err)
			}
			compare(t, stack, 0, want)

			var regs arch.Registers
			if err := th.Registers(&regs); err != nil {
				t.Fatal(err)
			}
			place, err := held.EntryPoint()
			if err != nil {
				t.Fatal(err)
			}
			sp := a.FrameAlign(regs.Value[a.SP] - uint64(a.RedZone) - 64) // when the function has returned
			if onStack {
				place = sp + 16
			}
			d := &dummy.Frame{Thread: p.PID, PC: place, SP: sp}
			if !onStack {
				// A row is kept for the place.
				regs.Set(a.PC, place)
				seen, err := frame.New(held, &at{th, regs}, table)
				if err != nil {
					t.Fatal(err)
				}
				if f, err := seen.Frame(0); err != nil || f.PC() != place || f.Type() != frame.Normal {
					t.Fatalf("frame 0 at the place is %v, %v", f, err)
				}
			}
			if err := d.Save(th, a); err != nil {
				t.Fatal(err)
			}
			if err := th.Save(); err != nil {
				t.Fatal(err)
			}
			returns := binary.LittleEndian.AppendUint64(nil, place)
			if _, err := held.Memory().(target.WritableMemory).WriteMemory(sp-8, returns); err != nil {
				t.Fatal(err)
			}
			if err := th.WriteRegister(a.SP, 0, binary.LittleEndian.AppendUint64(nil, sp-8)); err != nil {
				t.Fatal(err)
			}
			if err := th.Jump(add); err != nil {
				t.Fatal(err)
			}
			changed := bytes.Repeat([]byte{0x5a}, 16)
			for i := range 16 {
				if err := th.WriteRegister(amd64.XMM0+trad.Reg(i), 0, changed); err != nil {
					t.Fatal(err)
				}
			}
			frames.Add(d)
			if err := held.Resume(inferior.Resume{Thread: th, Alone: true, Step: true}); err != nil {
				t.Fatal(err)
			}
			e, err := held.Wait(t.Context())
			if err != nil || e.Kind != inferior.Stepped {
				t.Fatalf("event %+v, %v", e, err)
			}

			if err := stack.Reset(held, th); err != nil {
				t.Fatal(err)
			}
			if err := walktest.New(held.Modules(), table.Clone()).Check(held, th); err != nil {
				t.Error(err)
			}
			f1, err := stack.Frame(1)
			if err != nil || f1.Type() != frame.Dummy || f1.PC() != place || f1.Sniffer() != "dummy" {
				t.Fatalf("frame 1 is %v, %v, %v", f1, f1.Type(), err)
			}
			if id := (frame.ID{Stack: d.SP, Code: place, Has: frame.HasStack | frame.HasCode}); f1.ID() != id {
				t.Errorf("the dummy's ID is %v, want %v", f1.ID(), id)
			}
			compare(t, stack, 2, want)
			f0, _ := stack.Frame(0)
			f2, err := stack.Frame(2)
			if err != nil {
				t.Fatal(err)
			}
			different := 0
			for i, words := range ymm {
				r := amd64.XMM0 + trad.Reg(i)
				if b, err := f0.WideRegister(r); err != nil || len(b) < len(words) || !bytes.Equal(b[:16], changed) {
					t.Errorf("frame 0: ymm%d is %x, %v", i, b, err)
				}
				if _, err := f1.WideRegister(r); err == nil {
					t.Errorf("frame 1 has ymm%d, which the function may change", i)
				}
				b, err := f2.WideRegister(r)
				if err != nil || len(b) < len(words) || !bytes.Equal(b[:len(words)], words) {
					t.Errorf("frame 2: ymm%d is %x, %v, gdb has %x", i, b, err, words)
				}
				if !bytes.Equal(b, make([]byte, len(b))) {
					different++
				}
			}
			if different == 0 {
				t.Error("all vector registers are zero: nothing was compared")
			}

			frames.Remove(d)
			if err := th.Restore(); err != nil {
				t.Fatal(err)
			}
			if err := stack.Reset(held, th); err != nil {
				t.Fatal(err)
			}
			compare(t, stack, 0, want)
		})
	}
}

// at is a thread as if it stood elsewhere.
type at struct {
	target.Thread
	regs arch.Registers
}

func (a *at) Registers(r *arch.Registers) error {
	*r = a.regs
	return nil
}

// compare compares a stack's frames from a level on with gdb's.
func compare(t *testing.T, s *frame.Stack, level int, want []gdbtest.Frame) {
	t.Helper()
	want = slices.DeleteFunc(slices.Clone(want), func(f gdbtest.Frame) bool { return !f.Physical() })
	if len(want) < 3 {
		t.Fatalf("gdb has %d frames", len(want))
	}
	for i, w := range want {
		f, err := s.Frame(level + i)
		if f == nil || err != nil {
			t.Fatalf("frame %d: %v, gdb has %#x", level+i, err, w.PC)
		}
		if cfa, _ := f.CFA(); f.PC() != w.PC || w.CFA != 0 && cfa != w.CFA {
			t.Errorf("%v with CFA %#x, gdb has %#x with %#x", f, cfa, w.PC, w.CFA)
		}
	}
}

func symbol(t *testing.T, path, name string) uint64 {
	t.Helper()
	f, err := elf.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	list, err := f.Symbols()
	for _, s := range list {
		if s.Name == name {
			return s.Value
		}
	}
	t.Fatalf("%s has no symbol %s: %v", path, name, err)
	return 0
}

// vectors returns the vector registers of a process's main thread as gdb sees them.
func vectors(t *testing.T, pid int) (list [][]byte) {
	t.Helper()
	script := gdbtest.StartScript(t, "gdb", ymmPy, map[string]any{"pid": pid, "names": map[string]string{}})
	var said struct{ Registers [][]string }
	if err := json.Unmarshal(script.Next(t), &said); err != nil {
		t.Fatal(err)
	}
	script.Next(t)
	for _, words := range said.Registers {
		var b []byte
		for _, word := range words {
			v, err := strconv.ParseUint(word, 16, 64)
			if err != nil {
				t.Fatal(err)
			}
			b = binary.LittleEndian.AppendUint64(b, v)
		}
		list = append(list, b)
	}
	return list
}
