package stub_test

import (
	_ "embed"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
)

//go:embed testdata/writes.py
var writesPy string

// What gdb writes into registers of frames of one run, we write in another; then all frames have
// the same registers. The registers that an inner frame has saved are written where they are saved,
// and others in the thread.
func TestWritesAsGDB(t *testing.T) {
	const frames = 9
	for _, processor := range processors {
		t.Run(processor, func(t *testing.T) {
			t.Parallel()
			p := buildProgram(t, processor, "frames.c")
			x := p.runner(t)
			x.to(t, "leaf")
			a := x.held.Arch()
			names := map[string]string{}
			var writes [][]any
			saved := 0
			for level := range frames {
				for i, r := range a.Regs {
					if r.Bits == 64 && a.CalleeSaved.Has(r.Num) && a.Wide(r.Num) == nil && r.Name != "vg" && !slices.Contains(a.ThreadPointer, r.Num) { // gdb has another name for it, or none
						names[fmt.Sprint(r.Num)] = r.Name
					}
					f := x.frame(t, level)
					v := f.Register(r.Num)
					if names[fmt.Sprint(r.Num)] == "" || r.Num == a.PC || r.Num == a.SP || r.Num == a.FP || r.Num == a.RA || !v.Known() {
						continue
					}
					bits := uint64(0x1000*level + i)
					if v.Lval == frame.Computed {
						if err := f.SetRegister(r.Num, bits); err == nil {
							t.Errorf("%s of frame %v was written, though it is computed", r.Name, f)
						}
						continue
					}
					if err := f.SetRegister(r.Num, bits); err != nil {
						t.Fatal(err)
					}
					if v.Lval == frame.InMemory {
						saved++
					}
					writes = append(writes, []any{level, r.Name, fmt.Sprint(bits)})
					// The frame of before is found out.
					if got := f.Register(r.Num); got.Known() {
						t.Fatalf("a frame of before the write has %s %v", r.Name, got)
					}
					if got := x.frame(t, level).Register(r.Num); got.Bits != bits {
						t.Fatalf("%s of frame %d is %v, want %#x", r.Name, level, got, bits)
					}
				}
			}
			if len(writes) < 20 || saved < 1 {
				t.Errorf("%d registers were written, %d of them in memory", len(writes), saved)
			}
			script := gdbtest.StartScript(t, "gdb-multiarch", writesPy, map[string]any{
				"names": names, "stub": strings.TrimPrefix(p.serve(t), "unix:"), "function": "leaf", "writes": writes, "frames": frames,
			}, p.path)
			var record struct {
				Frames []struct {
					PC        uint64
					Registers map[uint16]uint64
				}
			}
			if err := json.Unmarshal(script.Next(t), &record); err != nil {
				t.Fatal(err)
			}
			want := record.Frames
			script.Next(t)
			compared := 0
			for level := range want {
				f := x.frame(t, level)
				if f.PC() != want[level].PC {
					t.Errorf("frame %d is at %#x, gdb has %#x", level, f.PC(), want[level].PC)
				}
				for _, r := range a.Regs {
					bits, ok := want[level].Registers[uint16(r.Num)]
					if v := f.Register(r.Num); ok && v.Known() && r.Num != a.SP && r.Num != a.FP && bits < 1<<16 {
						compared++
						if v.Bits != bits {
							t.Errorf("%s of frame %d is %v, gdb has %#x", r.Name, level, v, bits)
						}
					}
				}
			}
			if compared < 20 {
				t.Errorf("only %d registers were compared", compared)
			}
		})
	}
}

// Vector registers are written and read in their full width; SP of an outer frame is nowhere, and a
// register that a call may have changed is lost.
func TestWritesRefused(t *testing.T) {
	for _, processor := range processors {
		t.Run(processor, func(t *testing.T) {
			t.Parallel()
			x := buildProgram(t, processor, "frames.c").runner(t)
			x.to(t, "leaf")
			a := x.held.Arch()
			wide := a.WideRegs()[slices.IndexFunc(a.WideRegs(), func(w arch.WideReg) bool { return strings.HasSuffix(w.Name, "7") && w.Name != "st7" })].Num
			b := binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(nil, 0x0102030405060708), 0x090a0b0c0d0e0f10)
			if err := x.frame(t, 0).WriteRegister(wide, 0, b); err != nil {
				t.Fatal(err)
			}
			got, err := x.frame(t, 0).WideRegister(wide)
			if err != nil || string(got[:16]) != string(b) {
				t.Errorf("a wide register is %x, want %x: %v", got, b, err)
			}
			argument := map[string]string{"amd64": "rdi", "arm64": "x0", "s390x": "r2"}[processor]
			for _, r := range a.Regs {
				why := ""
				switch {
				case r.Num == a.SP && processor != "s390x": // it saves SP
					why = "computed"
				case r.Name == argument:
					why = "may have changed it"
				default:
					continue
				}
				f := x.frame(t, 3)
				if err := f.SetRegister(r.Num, 1); err == nil || !strings.Contains(err.Error(), why) || !strings.Contains(err.Error(), r.Name+" of frame #3") {
					t.Errorf("%s: %v, want an error with %q", r.Name, err, why)
				}
			}
		})
	}
}
