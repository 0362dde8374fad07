package gopclntab

import (
	"debug/elf"
	"debug/gosym"
	"encoding/binary"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// The header has the properties of the processor.
func TestHeader(t *testing.T) {
	each(t, func(t *testing.T, p *program) {
		want := map[elf.Machine]Table{
			elf.EM_X86_64:  {PtrSize: 8, Quantum: 1, ByteOrder: binary.LittleEndian},
			elf.EM_AARCH64: {PtrSize: 8, Quantum: 4, ByteOrder: binary.LittleEndian},
			elf.EM_S390:    {PtrSize: 8, Quantum: 2, ByteOrder: binary.BigEndian},
			elf.EM_MIPS:    {PtrSize: 4, Quantum: 4, ByteOrder: binary.BigEndian},
		}[p.file.Machine]
		got := p.table
		if got.Version != Go120 || got.PtrSize != want.PtrSize || got.Quantum != want.Quantum || got.ByteOrder != want.ByteOrder {
			t.Errorf("version %d, pointers of %d bytes, quantum %d, %v; want %d, %d, %d, %v", got.Version, got.PtrSize, got.Quantum, got.ByteOrder,
				Go120, want.PtrSize, want.Quantum, want.ByteOrder)
		}
	})
}

// Names and addresses are as in the symbol table. Each function of the table is a symbol. Each
// function symbol is in the table, unless it is an alias or data in code.
func TestSymbols(t *testing.T) {
	each(t, func(t *testing.T, p *program) {
		names := make(map[uint64][]string)
		for _, s := range p.symbols {
			if elf.ST_TYPE(s.Info) == elf.STT_FUNC && s.Size > 0 {
				name := strings.TrimSuffix(s.Name, ".abi0")
				names[s.Value] = append(names[s.Value], name)
			}
		}
		generic := 0
		functions := p.functions(t)
		for _, f := range functions {
			found := false
			for _, name := range names[f.Lo] {
				found = found || name == strings.ReplaceAll(f.Name(), "·", ".")
			}
			if !found {
				t.Errorf("%#x is %s, the symbol table says %q", f.Lo, f.Name(), names[f.Lo])
			}
			if strings.Contains(f.Name(), "[go.shape.") {
				generic++
			}
			delete(names, f.Lo)
		}
		for addr, list := range names {
			t.Errorf("%q at %#x is not in the table", list, addr)
		}
		if generic == 0 {
			t.Error("no generic function")
		}
		checkFind(t, p.table, functions)
	})
}

// checkFind looks each function up by its first and its last address.
func checkFind(t *testing.T, table *Table, functions []Func) {
	t.Helper()
	for _, f := range functions {
		for _, pc := range []uint64{f.Lo, f.Hi - 1} {
			if got, ok := table.Find(pc); !ok || got != f {
				t.Fatalf("Find(%#x) = %+v, %t; want %+v", pc, got, ok, f)
			}
		}
	}
	lo, hi := functions[0].Lo, functions[len(functions)-1].Hi
	for _, pc := range []uint64{0, lo - 1, hi, hi + 1<<32, lo + 1<<32, 1<<64 - 1} {
		if f, ok := table.Find(pc); ok {
			t.Errorf("Find(%#x) = %+v outside of [%#x, %#x)", pc, f, lo, hi)
		}
	}
}

// Names, files and lines are as debug/gosym has them, at every address.
func TestLines(t *testing.T) {
	each(t, func(t *testing.T, p *program) {
		gosymLines(t, p.table, p.from(t, "runtime.pclntab"), p.functions(t))
	})
}

func gosymLines(t *testing.T, table *Table, data []byte, functions []Func) {
	t.Helper()
	want, err := gosym.NewTable(nil, gosym.NewLineTable(data, table.Text))
	if err != nil {
		t.Fatal(err)
	}
	if len(want.Funcs) < len(functions) {
		t.Fatalf("%d functions, gosym has %d", len(functions), len(want.Funcs))
	}
	lines := 0
	for _, f := range functions {
		step := uint64(table.Quantum) * 3
		if strings.HasPrefix(f.Name(), "main.") {
			step = uint64(table.Quantum)
		}
		for pc := f.Lo; pc < f.Hi; pc += step {
			file, line, ok := f.Line(pc)
			wantFile, wantLine, fn := want.PCToLine(pc)
			if fn == nil || fn.Name != f.Name() || fn.Entry != f.Lo || fn.End != f.Hi {
				t.Fatalf("%#x: %s [%#x, %#x), gosym says %+v", pc, f.Name(), f.Lo, f.Hi, fn)
			}
			if f.word(wordLine) == 0 {
				wantLine = -1 // gosym takes the first table for no table
			}
			if wantLine == -1 || wantFile == "" {
				if ok {
					t.Errorf("%#x, %s: %s:%d, gosym has none", pc, f.Name(), file, line)
				}
				continue
			}
			if file != wantFile || line != wantLine || !ok {
				t.Errorf("%#x, %s: %s:%d, gosym says %s:%d", pc, f.Name(), file, line, wantFile, wantLine)
			}
			lines++
		}
	}
	if lines < 20*len(functions) {
		t.Errorf("%d lines compared", lines)
	}
}

// Functions have the flags that the runtime's sources give them, or that follow from their code:
// gogo sets the stack pointer.
func TestFlags(t *testing.T) {
	p := build(t, "amd64")
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		t.Fatal(err)
	}
	source, err := os.ReadFile(filepath.Join(strings.TrimSpace(string(root)), "src/runtime/asm_amd64.s"))
	if err != nil {
		t.Fatal(err)
	}
	want := make(map[string]Flags)
	for _, m := range regexp.MustCompile(`(?m)^TEXT (?:runtime)?·(\w+)(?:<ABIInternal>)?\(SB\), *(\S*),`).FindAllStringSubmatch(string(source), -1) {
		flags := Assembly
		if strings.Contains(m[2], "TOPFRAME") {
			flags |= TopFrame
		}
		want["runtime."+m[1]] = flags
	}
	seen := make(map[Flags]int)
	for _, f := range p.functions(t) {
		switch flags, ok := want[f.Name()]; {
		case strings.HasPrefix(f.Name(), "main."):
			if f.Flags != 0 {
				t.Errorf("%s has flags %#x", f.Name(), f.Flags)
			}
		case ok && f.Flags&Assembly != 0: // others of that name are wrappers
			seen[flags]++
			if f.Flags&^SPWrite != flags {
				t.Errorf("%s has flags %#x, want %#x", f.Name(), f.Flags, flags)
			}
		}
		if name := f.Name(); (name == "runtime.asmcgocall" || name == "runtime.mcall") && f.Flags&(SPWrite|Assembly) == Assembly {
			t.Errorf("%s does not write to the stack pointer", name)
		}
	}
	if seen[Assembly] < 20 || seen[Assembly|TopFrame] < 2 {
		t.Errorf("flags seen: %v", seen)
	}
}
