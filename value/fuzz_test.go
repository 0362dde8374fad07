//go:build linux

package value_test

import (
	"bytes"
	"debug/elf"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"io"
	"io/fs"
	"os"
	"slices"
	"testing"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/arch/amd64"
	"github.com/sfwalk/sfwalk/arch/s390x"
	elfimage "github.com/sfwalk/sfwalk/format/elf"
	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/internal/test/bounds"
	"github.com/sfwalk/sfwalk/internal/test/elftest"
	"github.com/sfwalk/sfwalk/internal/xzfile"
	"github.com/sfwalk/sfwalk/logical"
	"github.com/sfwalk/sfwalk/symbol"
	"github.com/sfwalk/sfwalk/target"
	"github.com/sfwalk/sfwalk/value"
	"github.com/sfwalk/sfwalk/value/printers"
)

// everywhere is memory that has the same bytes again and again, at every address: whatever a
// pointer is, it leads to something, and lists have no end.
type everywhere []byte

func (m everywhere) ReadMemory(addr uint64, p []byte) (int, error) {
	for i := range p {
		p[i] = m[(addr+uint64(i))%uint64(len(m))]
	}
	return len(p), nil
}

// process is one thread at a PC in code that debug information describes.
type process struct {
	arch    *arch.Arch
	memory  everywhere
	modules *target.Modules
	pc      uint64
}

func (p *process) Arch() *arch.Arch                  { return p.arch }
func (p *process) Memory() target.Memory             { return p.memory }
func (p *process) Modules() *target.Modules          { return p.modules }
func (p *process) Threads() ([]target.Thread, error) { return []target.Thread{p}, nil }
func (p *process) Close() error                      { return nil }
func (p *process) ID() int                           { return 1 }
func (p *process) Name() string                      { return "" }

func (p *process) Registers(r *arch.Registers) error {
	for _, x := range p.arch.Regs {
		r.Value[x.Num] = uint64(x.Num) * 0x101
		r.Known.Add(x.Num)
	}
	r.Value[p.arch.PC] = p.pc
	return nil
}

const codeStart, codeSize = 0x401000, 0x200

// show writes all variables at some addresses, and walks their values as a debugger does.
func show(t testing.TB, a *arch.Arch, im *elfimage.Image, memory []byte) (variables int) {
	m := target.NewModule("/fuzzed", []target.Mapping{{Lo: codeStart, Hi: codeStart + codeSize, Exec: true}}, func() (*elfimage.Image, error) { return im, nil })
	p := &process{arch: a, memory: memory, modules: target.NewModules([]*target.Module{m}, nil)}
	symbols := symbol.New(symbol.Options{DebugDirs: []string{}})
	defer symbols.Close()
	table := &frame.Table{Arch: a}
	reader := value.NewReader(p, symbols, printers.All())
	printer := &value.Printer{Elements: 5, Depth: 4, MaxText: 2 << 10}
	raw := &value.Printer{Elements: 5, Depth: 4, MaxText: 2 << 10, Raw: true}
	for pc := uint64(codeStart); pc < codeStart+codeSize; pc += codeSize / 16 {
		p.pc = pc
		s, err := frame.New(p, p, table)
		if err != nil {
			t.Fatal(err)
		}
		for f, err := range logical.New(p, symbols).All(s) {
			if err != nil {
				break
			}
			in, err := reader.Frame(&f, p.memory)
			if err != nil {
				continue
			}
			printer.Arguments(&in)
			for _, list := range [][]value.Variable{in.Arguments, in.Locals} {
				for i := range list {
					variables++
					if i < 2 {
						evaluate(&in, list[i].Name)
						evaluate(&in, "*"+list[i].Name+"@2")
						evaluate(&in, list[i].Name+"->next->a[1] + 2")
						evaluate(&in, "(struct s *) &"+list[i].Name)
						evaluate(&in, "ns::T::"+list[i].Name)
					}
					printer.Local(&list[i])
					raw.Local(&list[i])
					x := list[i].Value()
					x.Type.ABI() // as an argument, and as what is called
					x.Type.Strip().Elem().Strip().ABIFunc()
					walk(&x, 3)
				}
			}
		}
	}
	return variables
}

// walk goes through the parts of a value.
func walk(v *value.Value, depth int) {
	t := v.Type.Strip()
	_ = t.String()
	if depth == 0 || v.Err() != nil {
		return
	}
	switch t.Kind {
	case value.Struct, value.Union:
		fields := t.Fields()
		for i := range fields[:min(4, len(fields))] {
			x := v.Field(&fields[i])
			walk(&x, depth-1)
		}
	case value.Array:
		x := v.Index(1)
		walk(&x, depth-1)
	case value.Pointer, value.Reference, value.RvalueReference:
		x := v.Deref()
		walk(&x, depth-1)
	}
}

var debugSections = []string{".debug_info", ".debug_abbrev", ".debug_str", ".debug_line_str", ".debug_str_offsets", ".debug_addr", ".debug_rnglists", ".debug_ranges", ".debug_loc", ".debug_loclists", ".debug_types"}

// FuzzFrame changes the debug information of variables, and what they lead to.
func FuzzFrame(f *testing.F) {
	build := func(t testing.TB, big bool, parts [][]byte) *elfimage.Image {
		file := &elftest.File{
			Machine: elf.EM_X86_64, Type: elf.ET_EXEC,
			Sections: []elftest.Section{{Name: ".text", Flags: elf.SHF_ALLOC | elf.SHF_EXECINSTR, Addr: codeStart, Data: make([]byte, codeSize)}},
		}
		if big {
			file.Machine, file.Order = elf.EM_S390, binary.BigEndian
		}
		for i, p := range parts {
			if len(p) > 0 {
				file.Sections = append(file.Sections, elftest.Section{Name: debugSections[i], Data: p})
			}
		}
		data := file.Bytes()
		im, err := elfimage.Open(bytes.NewReader(data), int64(len(data)))
		if err != nil {
			t.Fatal(err)
		}
		return im
	}
	of := func(big bool) *arch.Arch {
		if big {
			return s390x.Arch
		}
		return amd64.Arch
	}
	memory := []byte("\x00\x10\x40\x00\x00\x00\x00\x00text\x00\x08\x10\x40\x00\x00\x00\x00\x00\x03\x00\x00\x00\x00\x00\x00\x00")
	for _, name := range []string{"c5", "c4", "c2", "cxx5", "cxx4-types", "s390x5", "params", "tails5"} {
		file, err := elf.NewFile(bytes.NewReader(fixture(f, name)))
		if err != nil {
			f.Fatal(err)
		}
		var parts [][]byte
		for _, s := range debugSections {
			parts = append(parts, elftest.Of(f, file, s).Data)
		}
		big := file.Data == elf.ELFDATA2MSB
		if n := show(f, of(big), build(f, big, parts), memory); n == 0 {
			f.Fatalf("%s: %d variables", name, n)
		}
		f.Add(big, memory, parts[0], parts[1], parts[2], parts[3], parts[4], parts[5], parts[6], parts[7], parts[8], parts[9], parts[10])
	}
	f.Fuzz(func(t *testing.T, big bool, memory, info, abbrev, str, lineStr, strOffsets, addr, rngLists, ranges, loc, locLists, types []byte) {
		if len(memory) == 0 {
			return
		}
		parts := [][]byte{info, abbrev, str, lineStr, strOffsets, addr, rngLists, ranges, loc, locLists, types}
		size := len(slices.Concat(parts...))
		bounds.Hold(t, 64<<20+2000*size, func() { show(t, of(big), build(t, big, parts), memory) })
	})
}

// fixture returns a program of package symbol's testdata.
func fixture(t testing.TB, name string) []byte {
	t.Helper()
	path := "../symbol/testdata/small/" + name + ".xz"
	packed, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		if packed, err = os.ReadFile(path + ".txt"); err == nil {
			packed, err = base64.StdEncoding.DecodeString(string(packed))
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	x, err := xzfile.Open(bytes.NewReader(packed), int64(len(packed)))
	if err != nil {
		t.Fatal(err)
	}
	data, err := io.ReadAll(x.Reader())
	if err != nil {
		t.Fatal(err)
	}
	return data
}
