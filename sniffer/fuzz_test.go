package sniffer_test

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"testing"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/arch/amd64"
	elfimage "github.com/sfwalk/sfwalk/format/elf"
	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/internal/test/bounds"
	"github.com/sfwalk/sfwalk/internal/test/elftest"
	"github.com/sfwalk/sfwalk/internal/test/walktest"
	"github.com/sfwalk/sfwalk/sniffer"
	"github.com/sfwalk/sfwalk/target"
)

// hostile is a target whose only module, and whose stack, are arbitrary bytes.
type hostile struct {
	image   *elfimage.Image
	bias    uint64
	stack   []byte
	pc, fp  uint64
	modules *target.Modules
}

const (
	hostileBias  = 0x10000
	hostileStack = 0x7fff0000
	hostileLimit = 16
)

// newHostile maps a file with size bytes of code at text. pc is an offset in the code, fp is one in
// the stack. words are the words of the stack. Their upper bits tell whether they are numbers, or
// addresses in the code or in the stack.
func newHostile(t testing.TB, file, words []byte, text, size, pc, fp uint64) *hostile {
	im, err := elfimage.Open(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		t.Fatal(err)
	}
	h := &hostile{image: im}
	m := target.NewModule("hostile", []target.Mapping{{Lo: hostileBias, Hi: hostileBias + 1<<24, Exec: true}}, func() (*elfimage.Image, error) { return im, nil })
	if _, h.bias, err = m.Image(); err != nil {
		t.Fatal(err)
	}
	h.modules = target.NewModules([]*target.Module{m}, nil)
	code := func(w uint64) uint64 { return text + h.bias + w%(size+1) }
	for ; len(words) >= 8; words = words[8:] {
		w := binary.LittleEndian.Uint64(words)
		switch w >> 62 {
		case 1:
			w = hostileStack + w%1024
		case 2, 3:
			w = code(w << 2 >> 2)
		}
		h.stack = binary.LittleEndian.AppendUint64(h.stack, w)
	}
	h.pc, h.fp = code(pc), hostileStack+fp%uint64(len(h.stack)+1)
	return h
}

func (h *hostile) Arch() *arch.Arch                  { return amd64.Arch }
func (h *hostile) Memory() target.Memory             { return h }
func (h *hostile) Threads() ([]target.Thread, error) { return []target.Thread{h}, nil }
func (h *hostile) Modules() *target.Modules          { return h.modules }
func (h *hostile) Close() error                      { return nil }
func (h *hostile) ID() int                           { return 1 }
func (h *hostile) Name() string                      { return "hostile" }

func (h *hostile) Registers(r *arch.Registers) error {
	for n := range amd64.R15 {
		r.Set(n, hostileStack+8*uint64(n))
	}
	r.Set(amd64.RIP, h.pc)
	r.Set(amd64.RSP, hostileStack)
	r.Set(amd64.RBP, h.fp)
	return nil
}

func (h *hostile) ReadMemory(addr uint64, p []byte) (int, error) {
	n := 0
	switch {
	case addr < hostileStack:
		n = h.image.ReadLoaded(addr-h.bias, p)
	case addr-hostileStack < uint64(len(h.stack)):
		n = copy(p, h.stack[addr-hostileStack:])
	}
	if n < len(p) {
		return n, target.ErrUnmapped
	}
	return n, nil
}

// FuzzUnwind unwinds any stack by any tables, through any code. The stack must end with a reason,
// and go only outward between two normal frames.
func FuzzUnwind(f *testing.F) {
	names := []string{".text", ".eh_frame", ".eh_frame_hdr", ".sframe"}
	segments := []elf.ProgType{0, 0, elf.PT_GNU_EH_FRAME, 0x6474e554} // PT_GNU_SFRAME
	build := func(parts [4][]byte, at [4]uint64, bare bool) []byte {
		file := elftest.File{Machine: elf.EM_X86_64, Type: elf.ET_DYN, Bare: bare}
		for i, name := range names {
			if len(parts[i]) > 0 {
				file.Sections = append(file.Sections, elftest.Section{Name: name, Flags: elf.SHF_ALLOC, Segment: segments[i], Addr: at[i], Data: parts[i]})
			}
		}
		if len(parts[0]) > 0 {
			file.Sections[0].Flags |= elf.SHF_EXECINSTR
		}
		return file.Bytes()
	}
	stack := func(stride uint64) (words []byte) { // return addresses, and frame pointers
		for i := range uint64(24) {
			w := uint64(2<<62) + 0xc0 + i*stride
			if i%3 == 0 {
				w = 1<<62 + 8*(i+3)
			}
			words = binary.LittleEndian.AppendUint64(words, w)
		}
		return words
	}
	for _, path := range []string{"mix-v3", "steps-v2"} {
		file, err := elf.Open("../testdata/bin/" + path)
		if err != nil {
			f.Fatal(err)
		}
		defer file.Close()
		var parts [4][]byte
		var at [4]uint64
		for i, name := range names {
			s := elftest.Of(f, file, name)
			parts[i], at[i] = s.Data, s.Addr
		}
		for _, pc := range []uint64{0, 0xc0, 0x400} {
			words := stack(pc + 1)
			f.Add(parts[0], parts[1], parts[2], parts[3], words, at[0], at[1], at[2], at[3], pc, uint64(64), false)
			f.Add(parts[0], parts[1], parts[2], parts[3], words, at[0], at[1], at[2], at[3], pc, uint64(64), true)
			f.Add(parts[0], parts[1], []byte(nil), []byte(nil), words, at[0], at[1], at[2], at[3], pc, uint64(0), false) // without an index
			f.Add(parts[0], []byte(nil), []byte(nil), []byte(nil), words, at[0], at[1], at[2], at[3], pc, uint64(0), false)
		}
	}
	u := newUnwinding(tables())
	f.Fuzz(func(t *testing.T, text, eh, header, sframe, words []byte, textAt, ehAt, headerAt, sframeAt, pc, fp uint64, bare bool) {
		file := build([4][]byte{text, eh, header, sframe}, [4]uint64{textAt & 0xfffff, ehAt & 0xfffff, headerAt & 0xfffff, sframeAt & 0xfffff}, bare)
		h := newHostile(t, file, words, textAt&0xfffff, uint64(len(text)), pc, fp)
		// Searches in code without tables leave most of it behind: some 200 KiB for each of 24
		// frames, walked twice.
		bounds.Hold(t, 16<<20+64*len(file), func() { u.walk(t, h, true) })
	})
}

// tables are the sniffers that read code only near a frame's PC. FuzzCode has the others.
func tables() *frame.Table {
	var list []frame.Sniffer
	for _, x := range (sniffer.Options{Scan: true}).Default() {
		if x.Name() != "prologue" {
			list = append(list, x)
		}
	}
	return frame.NewTable(amd64.Arch, list...)
}

// FuzzCode unwinds any stack through any code, with few tables or none, and with symbols, if there
// are any. If both is true, it uses both walkers, which takes four times as long.
func FuzzCode(f *testing.F) {
	file, err := elf.Open("../internal/sframeverify/testdata/simple.so")
	if err != nil {
		f.Fatal(err)
	}
	defer file.Close()
	text, eh, sf := elftest.Of(f, file, ".text"), elftest.Of(f, file, ".eh_frame"), elftest.Of(f, file, ".sframe")
	stack := make([]byte, 64)
	for i := range uint64(len(stack) / 8) {
		w := uint64(2<<62) + 5*i
		if i%4 == 1 {
			w = 1<<62 + 8*(i+2)
		}
		amd64.Arch.Order.PutUint64(stack[8*i:], w)
	}
	var symbols bytes.Buffer
	for i := range uint64(3) {
		binary.Write(&symbols, binary.LittleEndian, elf.Sym64{Name: uint32(1 + 5*(i/2)), Info: byte(elf.STT_FUNC), Shndx: 1, Value: text.Addr + 16*i, Size: 16})
	}
	for i, code := range []string{
		// As gcc 12 makes it: a frame pointer, a call, leave; pushes, a call, pops; realigned.
		"\x55\x48\x89\xe5\x48\x83\xec\x10\x89\x7d\xfc\xe8\x00\x00\x00\x00\xc9\xc3",
		"\x41\x54\x55\x53\x48\x83\xec\x10\xe8\x02\x00\x00\x00\xff\xd0\x48\x83\xc4\x10\x5b\x5d\x41\x5c\xc3\x66\x0f\x1f\x44\x00\x00\x31\xc0\xc3",
		"\x4c\x8d\x54\x24\x08\x48\x83\xe4\xe0\x41\xff\x72\xf8\x55\x48\x89\xe5\x41\x52\x48\x83\xec\x78\xe8\x00\x00\x00\x00\x48\x83\xc4\x78\x41\x5a\x5d\x49\x8d\x62\xf8\xc3",
	} {
		for _, pc := range []uint64{0, 5, 16, 30} {
			f.Add([]byte(code), stack, []byte(nil), []byte(nil), []byte(nil), pc, uint64(16), pc == 0)
			f.Add([]byte(code), stack, eh.Data, []byte(nil), []byte(nil), pc, uint64(16), pc == 0)
			f.Add([]byte(code), stack, []byte(nil), sf.Data, symbols.Bytes()[:24*i], pc, uint64(8), pc == 5)
			f.Add([]byte(code), stack, []byte(nil), []byte(nil), append(make([]byte, 24), symbols.Bytes()...), pc, uint64(16), pc == 16)
		}
	}
	u := newUnwinding(sniffer.Table(amd64.Arch))
	u.limit = 6
	f.Fuzz(func(t *testing.T, code, words, ehFrame, sframe, symtab []byte, pc, fp uint64, both bool) {
		code, words = code[:min(len(code), 64)], words[:min(len(words), 8*8)] // more takes longer, and reaches nothing new
		in := elftest.File{Machine: elf.EM_X86_64, Type: elf.ET_DYN, Sections: []elftest.Section{
			{Name: ".text", Flags: elf.SHF_ALLOC | elf.SHF_EXECINSTR, Addr: text.Addr, Data: code},
			{Name: ".symtab", Type: elf.SHT_SYMTAB, Data: symtab, Link: 3, Entsize: 24},
			{Name: ".strtab", Type: elf.SHT_STRTAB, Data: []byte("\x00work\x00work.cold\x00")},
		}}
		for _, s := range []elftest.Section{{Name: ".eh_frame", Addr: eh.Addr, Data: ehFrame}, {Name: ".sframe", Addr: sf.Addr, Data: sframe}} {
			if s.Flags = elf.SHF_ALLOC; len(s.Data) > 0 {
				in.Sections = append(in.Sections, s)
			}
		}
		data := in.Bytes()
		h := newHostile(t, data, words, text.Addr, uint64(len(code)), pc, fp)
		bounds.Hold(t, 64<<20+64*len(data), func() { u.walk(t, h, both) })
	})
}

// unwinding walks stacks of hostile targets, one after the other, with one walker or both. It keeps
// the walkers, because new caches would take half of the time.
type unwinding struct {
	table   *frame.Table
	checker *walktest.Checker
	limit   int // frames
}

func newUnwinding(table *frame.Table) *unwinding {
	return &unwinding{table, walktest.New(target.NewModules(nil, nil), table), hostileLimit}
}

func (u *unwinding) walk(t *testing.T, h interface {
	target.Target
	target.Thread
}, both bool) {
	u.table.Reset()
	s, err := frame.New(h, h, u.table)
	if err != nil {
		t.Fatal(err)
	}
	s.Limit = u.limit
	var last *frame.Frame
	first := make(map[uint64]string) // the sniffer that claimed the first frame at a PC
	learned := false
	for x, err := range s.All() {
		if err != nil {
			break
		}
		by, again := first[x.AddressInBlock()]
		learned = learned || again && by != x.Sniffer()
		first[x.AddressInBlock()] = x.Sniffer()
		if last != nil && last.Level > 0 && last.Type() == frame.Normal && last.Next().Type() == frame.Normal {
			this, _ := last.CFA()
			next, _ := last.Next().CFA()
			if this < next {
				t.Fatalf("%v lies inside %v and has a PREVIOUS", last, last.Next())
			}
		}
		for _, r := range amd64.Arch.Regs {
			x.Register(r.Num)
		}
		last = x
	}
	if last.StopReason() == frame.NoReason {
		t.Fatal("the stack ended without a reason")
	}
	if !both || last.StopReason() == frame.Limit || learned {
		// A stack may go on as long as memory does. Also, a row that one frame has found may be
		// used for another frame at the same PC only in the next walk.
		return
	}
	u.checker.SetModules(h.Modules()) // clears the caches
	if err := u.checker.Check(h, h); err != nil {
		t.Fatal(err)
	}
}
