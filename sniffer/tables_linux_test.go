package sniffer_test

import (
	"debug/elf"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/arch"
	elfimage "github.com/sfwalk/sfwalk/format/elf"
	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
	"github.com/sfwalk/sfwalk/sniffer"
	"github.com/sfwalk/sfwalk/target"
)

// inFile is a thread somewhere in the code of a file, which is mapped at its link-time addresses.
type inFile struct {
	arch   *arch.Arch
	loaded *target.Modules
	elf    *elf.File
	pc     uint64
}

func openFile(t *testing.T, path string) *inFile {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { file.Close() })
	f, err := elf.NewFile(file)
	if err != nil {
		t.Fatal(err)
	}
	st, err := file.Stat()
	if err != nil {
		t.Fatal(err)
	}
	var mappings []target.Mapping
	for _, p := range f.Progs {
		if p.Type == elf.PT_LOAD {
			lo, hi := p.Vaddr&^0xfff, (p.Vaddr+p.Memsz+0xfff)&^0xfff
			mappings = append(mappings, target.Mapping{Lo: lo, Hi: hi, Offset: p.Off &^ 0xfff, Exec: p.Flags&elf.PF_X != 0})
		}
	}
	m := target.NewModule(path, mappings, func() (*elfimage.Image, error) { return elfimage.Open(file, st.Size()) })
	return &inFile{arch: arch.ByMachine(f.Machine, f.ByteOrder), loaded: target.NewModules([]*target.Module{m}, nil), elf: f}
}

func (x *inFile) Arch() *arch.Arch                  { return x.arch }
func (x *inFile) Memory() target.Memory             { return x }
func (x *inFile) Threads() ([]target.Thread, error) { return []target.Thread{x}, nil }
func (x *inFile) Modules() *target.Modules          { return x.loaded }
func (x *inFile) Close() error                      { return nil }
func (x *inFile) ID() int                           { return 1 }
func (x *inFile) Name() string                      { return "" }

func (x *inFile) Registers(f *arch.Registers) error {
	for _, r := range x.arch.Regs {
		f.Set(r.Num, 0x7fff0000)
	}
	f.Set(x.arch.PC, x.pc)
	return nil
}

func (x *inFile) ReadMemory(addr uint64, p []byte) (int, error) {
	for _, s := range x.elf.Progs {
		if s.Type == elf.PT_LOAD && addr-s.Vaddr < s.Filesz {
			n, _ := s.ReadAt(p, int64(addr-s.Vaddr))
			return n, nil
		}
	}
	return 0, target.ErrUnmapped
}

// TestGoodTables asks for the row of every instruction of files whose tables are good, as far as
// known. No row is declined because the code contradicts it.
func TestGoodTables(t *testing.T) {
	// A guarded indirect call has a return that is a jump.
	guarded := gdbtest.Build(t, "steps.c", "-O2", "-mindirect-branch=thunk")
	files := map[string][]string{
		"":                   {guarded, "/lib64/ld-linux-x86-64.so.2", "/lib/x86_64-linux-gnu/libgcc_s.so.1"},
		"aarch64-linux-gnu-": {"/usr/aarch64-linux-gnu/lib/ld-linux-aarch64.so.1"},
		"s390x-linux-gnu-":   {"/usr/s390x-linux-gnu/lib/ld64.so.1"},
	}
	if os.Getenv("SFWALK_SOAK") != "" {
		files[""] = append(files[""], "/lib/x86_64-linux-gnu/libc.so.6", "/usr/bin/gdb")
		for _, triple := range []string{"aarch64-linux-gnu", "s390x-linux-gnu"} {
			files[triple+"-"] = append(files[triple+"-"], "/usr/"+triple+"/lib/libc.so.6", "/usr/"+triple+"/lib/libstdc++.so.6")
		}
	}
	for tools, paths := range files {
		for _, path := range paths {
			t.Run(path, func(t *testing.T) { goodTables(t, gdbtest.File(t, path), gdbtest.Tool(t, tools+"objdump")) })
		}
	}
}

func goodTables(t *testing.T, path, objdump string) {
	x := openFile(t, path)
	sniffers, err := sniffer.ByName("dwarf")
	if err != nil {
		t.Fatal(err)
	}
	stack, err := frame.New(x, x, frame.NewTable(x.arch, sniffers...))
	if err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command(objdump, "-d", "-w", "--no-show-raw-insn", path).Output()
	if err != nil {
		t.Fatal(err)
	}
	n, declined := 0, 0
	for line := range strings.Lines(string(out)) {
		addr, text, ok := strings.Cut(line, ":\t")
		if !ok || strings.Contains(text, "nop") || strings.Contains(text, "xchg   %ax,%ax") {
			continue // between functions
		}
		if x.pc, err = strconv.ParseUint(strings.TrimSpace(addr), 16, 64); err != nil {
			continue
		}
		if err := stack.Reset(x, x); err != nil {
			t.Fatal(err)
		}
		f0, _ := stack.Frame(0)
		if n++; f0.Sniffer() != "" {
			continue
		}
		if why := f0.Claim().Declined[0].Reason; strings.Contains(why, "leaves out") {
			if declined++; declined <= 10 {
				t.Logf("%x: %s", x.pc, text)
			}
		}
	}
	if declined*10_000 > n {
		t.Errorf("the code of %d of %d instructions contradicts the tables", declined, n)
	}
	if n < 400 {
		t.Errorf("only %d instructions", n)
	}
}
