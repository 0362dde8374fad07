package pdata

import (
	"encoding/binary"
	"errors"
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/bounds"
	"github.com/sfwalk/sfwalk/trad"
)

// image is an image in memory.
type image []byte

func (m image) ReadRVA(rva uint32, p []byte) int {
	if uint64(rva) >= uint64(len(m)) {
		return 0
	}
	return copy(p, m[rva:])
}

// Where the parts of an image are.
const (
	tableAt  = 0x100
	infoAt   = 0x200
	secondAt = 0x300
	codeAt   = 0x1000
)

// testImage returns an image with entries, unwind information, and code.
func testImage(entries []uint32, info, second, code []byte) image {
	m := make(image, 0x2000)
	for i, v := range entries {
		binary.LittleEndian.PutUint32(m[tableAt+4*i:], v)
	}
	copy(m[infoAt:], info)
	copy(m[secondAt:], second)
	copy(m[codeAt:], code)
	return m
}

func open(t testing.TB, m image, entries int) *Table {
	table, err := New(m, tableAt, uint32(12*entries))
	if err != nil {
		t.Fatal(err)
	}
	return table
}

// want is what a row says.
type want struct {
	reg    trad.Reg // of the CFA
	off    int32
	fp     trad.Rule
	others map[trad.Reg]trad.Rule
	flags  trad.Flags
}

func check(t *testing.T, what string, row trad.Row, err error, w want) {
	t.Helper()
	if err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	if w.fp.Kind == 0 {
		w.fp.Kind = trad.Same
	}
	if row.CFA != (trad.Rule{Kind: trad.InReg, Reg: w.reg, Off: w.off}) || row.RA != (trad.Rule{Kind: trad.Saved, Off: -8}) || row.FP != w.fp || row.Flags != w.flags {
		t.Errorf("%s: %+v, want %+v", what, row, w)
	}
	for reg, rule := range w.others {
		if got := row.Others.Rule(reg); got != rule {
			t.Errorf("%s: register %d: %+v, want %+v", what, reg, got, rule)
		}
	}
	for _, x := range row.Others.Regs {
		if _, ok := w.others[x.Reg]; !ok && x.Rule.Kind != trad.Same {
			t.Errorf("%s: register %d: %+v", what, x.Reg, x.Rule)
		}
	}
}

func savedAt(off int32) trad.Rule { return trad.Rule{Kind: trad.Saved, Off: off} }

// TestCodes: each operation, and what is chained. ("struct UNWIND_CODE", "Chained unwind info
// structures")
func TestCodes(t *testing.T) {
	second := []byte{1, 4, 2, 0, 4, 0x42, 1, 0x30} // alloc 0x28, push rbx
	info := []byte{
		4<<3 | 1, 30, 15, 0,
		30, 0x89, 0x00, 0x00, 0x01, 0x00, // save xmm8 at 0x10000, far
		25, 0x68, 0x02, 0x00, // save xmm6 at 0x20
		20, 0x55, 0x00, 0x10, 0x00, 0x00, // save rbp at 0x1000, far
		15, 0x64, 0x03, 0x00, // save rsi at 0x18
		10, 0x11, 0x00, 0x00, 0x02, 0x00, // alloc 0x20000
		5, 0x01, 0x00, 0x04, // alloc 0x2000
		0, 0, // padding
	}
	info = binary.LittleEndian.AppendUint32(info, codeAt+0x200)
	info = binary.LittleEndian.AppendUint32(info, codeAt+0x300)
	info = binary.LittleEndian.AppendUint32(info, secondAt)
	table := open(t, testImage([]uint32{codeAt, codeAt + 0x100, infoAt, codeAt + 0x200, codeAt + 0x300, secondAt}, info, second, nil), 2)
	f, ok := table.Find(codeAt + 0x50)
	if own, err := table.Primary(f); !ok || err != nil || own.Begin != codeAt+0x200 {
		t.Errorf("%+v, %v, %v", own, ok, err)
	}
	const sum = 0x22000 + 0x28 + 8 + 8
	row, err := table.Row(f, codeAt+0x50, false)
	check(t, "body", row, err, want{rsp, sum, savedAt(0x1000 - sum), map[trad.Reg]trad.Rule{
		25: savedAt(0x10000 - sum), 23: savedAt(0x20 - sum), 4: savedAt(0x18 - sum), 3: savedAt(-16)}, 0})
	row, err = table.Row(f, codeAt+7, true)
	check(t, "prologue", row, err, want{rsp, 0x2000 + 0x28 + 16, trad.Rule{}, map[trad.Reg]trad.Rule{3: savedAt(-16)}, trad.InPrologue})
	if row.Lo != codeAt+5 || row.Len != 5 {
		t.Errorf("the row is of %#x, +%d", row.Lo, row.Len)
	}
}

// TestFramePointer: with one, registers are saved at distances from what it was set from.
// ("UNWIND_INFO structure", Frame register)
func TestFramePointer(t *testing.T) {
	info := []byte{
		1, 20, 5, 0x25, // rbp = rsp + 0x20
		20, 0x74, 0x01, 0x00, // save rdi at 8
		15, 0x03, // set frame pointer
		10, 0x72, // alloc 0x40
		1, 0x50, // push rbp
	}
	table := open(t, testImage([]uint32{codeAt, codeAt + 0x100, infoAt}, info, nil, nil), 1)
	f, _ := table.Find(codeAt)
	row, err := table.Row(f, codeAt+0x50, true)
	check(t, "body", row, err, want{rbp, 0x30, savedAt(-16), map[trad.Reg]trad.Rule{5: savedAt(8 - 0x50)}, 0})
	row, err = table.Row(f, codeAt+16, true)
	check(t, "set", row, err, want{rbp, 0x30, savedAt(-16), nil, trad.InPrologue})
	row, err = table.Row(f, codeAt+12, true)
	check(t, "not yet set", row, err, want{rsp, 0x50, savedAt(-16), nil, trad.InPrologue})
}

// TestMachineFrame: the processor has pushed SS, RSP, RFLAGS, CS, RIP, and perhaps an error code.
// ("UWOP_PUSH_MACHFRAME")
func TestMachineFrame(t *testing.T) {
	for kind, off := range []int32{0x10, 0x18} {
		info := []byte{1, 4, 2, 0, 4, 0x02, 0, byte(kind)<<4 | 10} // alloc 8
		table := open(t, testImage([]uint32{codeAt, codeAt + 0x100, infoAt}, info, nil, nil), 1)
		f, _ := table.Find(codeAt)
		row, err := table.Row(f, codeAt+0x50, true)
		check(t, "machine frame", row, err, want{rsp, off, trad.Rule{}, map[trad.Reg]trad.Rule{rsp: savedAt(16)}, trad.Signal})
	}
}

// TestVersion2: codes tell where epilogues are; where the code is not at hand, a PC there is not
// unwound.
func TestVersion2(t *testing.T) {
	info := []byte{2, 4, 4, 0, 3, 0x16, 0x20, 0x06, 4, 0x42, 1, 0x30} // an epilogue of 3 bytes at the end, one 0x20 before; alloc 0x28, push rbx
	m := testImage([]uint32{codeAt, codeAt + 0x100, infoAt}, info, nil, nil)
	table := open(t, m, 1)
	f, _ := table.Find(codeAt)
	x, err := table.Info(f)
	if err != nil || len(x.Epilogues) != 2 || x.Epilogues[0] != (Range{codeAt + 0xfd, codeAt + 0x100}) || x.Epilogues[1] != (Range{codeAt + 0xe0, codeAt + 0xe3}) {
		t.Fatalf("%+v, %v", x, err)
	}
	if _, err := table.Row(f, codeAt+0xfe, true); !errors.Is(err, errEpilogue) {
		t.Errorf("in an epilogue without code: %v", err)
	}
	copy(m[codeAt+0xfd:], []byte{0x5b, 0xf3, 0xc3})
	row, err := table.Row(f, codeAt+0xfd, true)
	check(t, "pop rbx", row, err, want{rsp, 16, trad.Rule{}, map[trad.Reg]trad.Rule{3: savedAt(-16)}, trad.InPrologue})
	row, err = table.Row(f, codeAt+0xfe, true)
	check(t, "ret", row, err, want{rsp, 8, trad.Rule{}, nil, trad.InPrologue})
	row, err = table.Row(f, codeAt+0x50, true)
	check(t, "body", row, err, want{rsp, 0x38, trad.Rule{}, map[trad.Reg]trad.Rule{3: savedAt(-16)}, 0})
}

// TestBad: what is malformed is an error, and says where.
func TestBad(t *testing.T) {
	for name, info := range map[string][]byte{
		"version":           {3, 0, 0, 0},
		"operation":         {1, 4, 1, 0, 4, 0x0f},
		"epilogue of v1":    {1, 4, 1, 0, 4, 0x06},
		"operand":           {1, 4, 1, 0, 4, 0x01},
		"allocation":        {1, 4, 1, 0, 4, 0x21},
		"machine frame":     {1, 4, 1, 0, 4, 0x2a},
		"chained to itself": {4<<3 | 1, 0, 0, 0, 0, 0x10, 0, 0, 0, 0x11, 0, 0, 0, 2, 0, 0},
	} {
		table := open(t, testImage([]uint32{codeAt, codeAt + 0x100, infoAt}, info, nil, nil), 1)
		f, _ := table.Find(codeAt)
		if row, err := table.Row(f, codeAt+0x50, false); err == nil {
			t.Errorf("%s: %+v", name, row)
		}
	}
	if _, err := New(image{}, 0x10, 24); err == nil {
		t.Error("a table outside of the image is read")
	}
}

// FuzzRow unwinds by any tables, in any code.
func FuzzRow(f *testing.F) {
	f.Add([]byte{1, 20, 5, 0x25, 20, 0x74, 0x01, 0x00, 15, 0x03, 10, 0x72, 1, 0x50}, []byte{0x48, 0x83, 0xc4, 0x28, 0x5b, 0xc3}, uint16(0x50), true)
	f.Add([]byte{2, 4, 4, 0, 3, 0x16, 0x20, 0x06, 4, 0x42, 1, 0x30}, []byte{0x48, 0x8d, 0x65, 0x10, 0x41, 0x5c, 0xe9, 0, 1, 0, 0}, uint16(0), true)
	f.Add([]byte{4<<3 | 1, 0, 0, 0, 0, 0x10, 0, 0, 0, 0x11, 0, 0, 0, 2, 0, 0}, []byte{0x5b}, uint16(1), false)
	f.Fuzz(func(t *testing.T, info, code []byte, at uint16, innermost bool) {
		m := testImage([]uint32{codeAt, codeAt + 0x100, infoAt, codeAt + 0x100, codeAt + 0x200, infoAt | 1}, info, info, code)
		bounds.Hold(t, 4<<20, func() {
			table := open(t, m, 2)
			rva := codeAt + uint32(at)%0x220
			fn, ok := table.Find(rva)
			if !ok {
				return
			}
			row, err := table.Row(fn, rva, innermost)
			if err == nil && (!row.Contains(uint64(rva)) || row.CFA.Kind != trad.InReg) {
				t.Errorf("%#x: %+v", rva, row)
			}
			table.Primary(fn)
		})
	})
}

// TestUnix reads what .NET has of its own: a frame pointer far from rsp, a method's end that frees
// two frames, and the System V ABI's registers.
func TestUnix(t *testing.T) {
	m := make(image, 0x60)
	// push rbp; sub rsp, 0x400; lea rbp, [rsp+0x200]
	copy(m, "\x01\x10\x06\x05"+"\x10\x0b\x20\x00\x00\x00"+"\x08\x01\x80\x00"+"\x01\x50")
	// add rsp, 8; pop rbx; add rsp, 0x10; pop rbp; ret
	copy(m[0x50:], "\x48\x83\xc4\x08\x5b\x48\x83\xc4\x10\x5d\xc3")
	f := Function{Begin: 0x20, End: 0x60}
	row, err := OfUnix(m).Row(f, 0x40, false)
	want := trad.Rule{Kind: trad.InReg, Reg: rbp, Off: 0x400 - 0x200 + 16}
	if err != nil || row.CFA != want || row.Others.Default != trad.Undefined {
		t.Errorf("%v, %v, want %v", row.CFA, err, want)
	}
	for _, r := range row.Others.Regs {
		if r.Reg == 4 || r.Reg == 5 {
			t.Errorf("register %d is preserved", r.Reg)
		}
	}
	row, err = OfUnix(m).Row(f, 0x50, true)
	want = trad.Rule{Kind: trad.InReg, Reg: rsp, Off: 8 + 8 + 0x10 + 8 + 8}
	if err != nil || row.CFA != want || row.FP != (trad.Rule{Kind: trad.Saved, Off: -16}) {
		t.Errorf("%v, %v, %v, want %v", row.CFA, row.FP, err, want)
	}
	if _, err := (&Table{r: m}).Row(f, 0x40, false); err == nil {
		t.Error("a frame pointer far from rsp is known on Windows")
	}
}
