package minidump

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/sfwalk/sfwalk/internal/test/bounds"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
)

// contents returns the contents of a dump with all that can be written. Registers have values of
// their own.
func contents(p Processor) *Contents {
	var regs []Register
	for _, g := range layouts()[p].groups {
		for _, name := range g.names {
			r := Register{Name: name, Value: 0x0123456789000000 + uint64(len(regs))*0x111, Bits: 8 * g.size}
			if g.size < 8 {
				r.Value &= 1<<r.Bits - 1
			}
			if name == stackPointers[p] {
				r.Value = 0x7010
			}
			regs = append(regs, r)
		}
	}
	return &Contents{
		Time: time.Unix(1700000000, 0).UTC(), PID: 4711,
		System:  System{Known: true, Processor: p, Level: 6, Revision: 0x1703, Processors: 4, OS: LinuxOS, Version: "Linux 6.1 é"},
		Threads: []ThreadContents{{ID: 4711, Name: "main", Registers: regs}, {ID: 4712, Name: "wörker", Registers: regs[:1]}, {ID: 4713}},
		Modules: []Module{
			{Name: "/bin/x", Base: 0x400000, Size: 0x3000, CodeView: CodeView{Kind: ELF, BuildID: []byte{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20}}},
			{Name: "/lib/none.so", Base: 0x500000, Size: 0x1000},
		},
		Memory:    []Block{{0x1000, []byte("some memory")}, {0x7000, []byte(strings.Repeat("the stack ", 40))}},
		Exception: &Exception{Thread: 4711, Code: 11, Flags: 1, Address: 0x45, Params: []uint64{7}},
		Linux:     Linux{CPUInfo: []byte("processor : 0\n"), Status: []byte("Tgid:\t4711\n"), CommandLine: []byte("x\x00y\x00"), Auxv: make([]byte, 32), Maps: []byte("00400000-00401000 r-xp 00000000 08:01 5 /bin/x\n")},
	}
}

// TestWrite: what is written is read again.
func TestWrite(t *testing.T) {
	for p := range contextSizes {
		c := contents(p)
		var out bytes.Buffer
		if err := c.Write(&out); err != nil {
			t.Fatal(err)
		}
		f := read(t, out.Bytes())
		if len(f.Warnings) > 0 {
			t.Errorf("%v: %q", p, f.Warnings)
		}
		equal := func(what string, got, want any) {
			t.Helper()
			if !reflect.DeepEqual(got, want) {
				t.Errorf("%v: %s: %v, want %v", p, what, got, want)
			}
		}
		equal("time", f.Time, c.Time)
		equal("PID", f.PID(), c.PID)
		equal("Linux", f.Linux, c.Linux)
		equal("modules", f.Modules, c.Modules)
		equal("system", []any{f.System.Processor, f.System.Level, f.System.Revision, f.System.Processors, f.System.OS, f.System.Version}, []any{p, uint16(6), uint16(0x1703), 4, LinuxOS, "Linux 6.1 é"})
		got, err := f.Registers(f.Threads[0].Context)
		equal("registers", got, c.Threads[0].Registers)
		equal("error", err, nil)
		equal("exception", []any{f.Exception.Thread, f.Exception.Code, f.Exception.Address, f.Exception.Params, f.Exception.Context}, []any{uint32(4711), uint32(11), uint64(0x45), []uint64{7}, f.Threads[0].Context})
		for i := range f.Threads {
			equal("thread", []any{f.Threads[i].ID, f.Threads[i].Name}, []any{c.Threads[i].ID, c.Threads[i].Name})
		}
		stack := f.Threads[0].Stack
		equal("stack", []uint64{stack.Lo, stack.Size}, []uint64{0x7000, 400})
		for i, r := range f.Memory {
			data := make([]byte, r.Size)
			f.Reader().ReadAt(data, int64(r.Offset))
			equal("memory", Block{r.Lo, data}, c.Memory[i])
		}
	}
}

// TestWritePeer: minidump_dump reads the registers, modules and names.
func TestWritePeer(t *testing.T) {
	tool := gdbtest.Breakpad(t, "minidump_dump")
	for p := range contextSizes {
		c := contents(p)
		file := filepath.Join(t.TempDir(), "dump")
		var b bytes.Buffer
		if err := errors.Join(c.Write(&b), os.WriteFile(file, b.Bytes(), 0o644)); err != nil {
			t.Fatal(err)
		}
		out, err := exec.Command(tool, file).Output() // its status is 1: the third thread has no context
		if len(out) == 0 {
			t.Fatalf("%v: %v", p, err)
		}
		shown := map[string]bool{}
		for _, m := range regexp.MustCompile(`(?m)^ +(\S+|iregs\[ *\d+\]) += (0x[0-9a-f]+)`).FindAllStringSubmatch(string(out), -1) {
			v, _ := strconv.ParseUint(m[2], 0, 64)
			shown[fmt.Sprintf("%s %#x", strings.ReplaceAll(m[1], " ", ""), v)] = true
		}
		for _, r := range c.Threads[0].Registers {
			name := r.Name
			switch {
			case p == ARM64 && (name[0] == 'x' || name == "sp" || name == "pc"):
				name = "iregs[" + strings.NewReplacer("sp", "31", "pc", "32", "x", "").Replace(name) + "]"
			case p == ARM64 && name[0] == 'd':
				continue // printed as bytes of the vector register
			}
			if !shown[fmt.Sprintf("%s %#x", name, r.Value)] {
				t.Errorf("%v: %s %#x is not in\n%s", p, name, r.Value, out)
			}
		}
		for _, want := range []string{"stack.start_of_memory_range = 0x7000\n", `(code_file)                     = "/bin/x"`, `"0102030405060708090a0b0c0d0e0f1011121314"`, "= 0x1269\n", "\"main\"", "\"wörker\"", "size_of_image                   = 0x3000", "exception_code            = 0xb"} {
			if !strings.Contains(string(out), want) {
				t.Errorf("%v: no %s in\n%s", p, want, out)
			}
		}
	}
}

// TestWriteRefused: what no dump can hold is refused before anything is written.
func TestWriteRefused(t *testing.T) {
	for want, change := range map[string]func(c *Contents){
		"mips":          func(c *Contents) { c.System.Processor = MIPS },
		"not behind":    func(c *Contents) { c.Memory[1].Addr = 0x1005 },
		"kind \"RSDS\"": func(c *Contents) { c.Modules[1].CodeView.Kind = RSDS },
		"4 GiB":         func(c *Contents) { c.Modules[0].Size = 1 << 32 },
		"less than 4096": func(c *Contents) {
			large := make([]byte, 64<<20) // none of it is touched
			for i := range uint64(64) {
				c.Memory = append(c.Memory, Block{1<<40 + i<<30, large})
			}
		},
	} {
		c := contents(AMD64)
		change(c)
		var out bytes.Buffer
		if err := c.Write(&out); err == nil || !strings.Contains(err.Error(), want) || out.Len() > 0 {
			t.Errorf("%v, want %q; %d bytes", err, want, out.Len())
		}
	}
}

// FuzzWrite: whatever a process is like, the dump of it is read again, or refused.
func FuzzWrite(f *testing.F) {
	f.Add(uint16(9), "name", "/path", []byte("build"), uint64(0x1000), []byte("memory"), uint64(0x1002))
	f.Add(uint16(12), "é", "", []byte{}, uint64(0xfffffffffffffff0), make([]byte, 16), uint64(0xfffffffffffffff8))
	f.Fuzz(func(t *testing.T, processor uint16, name, path string, id []byte, at uint64, data []byte, sp uint64) {
		c := contents(AMD64)
		c.System.Processor = Processor(processor)
		c.Threads[1].Name, c.Modules[0].Name, c.Modules[0].CodeView.BuildID = name, path, id
		c.Memory = []Block{{at, data}}
		for i, r := range c.Threads[0].Registers {
			if r.Name == "rsp" {
				c.Threads[0].Registers[i].Value = sp
			}
		}
		var out bytes.Buffer
		bounds.Hold(t, 1<<20+4*len(data), func() {
			if c.Write(&out) != nil {
				out.Reset()
			}
		})
		if out.Len() == 0 {
			return
		}
		d, err := Read(bytes.NewReader(out.Bytes()), int64(out.Len()))
		if err != nil || len(d.Threads) != 3 || len(d.Modules) != 2 {
			t.Fatalf("%v: %+v", err, d)
		}
		if len(name) < 1<<10 && len(path) < 1<<10 && len(d.Warnings) > 0 {
			t.Error(d.Warnings)
		}
		stack := d.Threads[0].Stack
		if in := sp >= at && sp-at < uint64(len(data)); Processor(processor) == AMD64 && in != (stack.Size > 0 && sp-stack.Lo < stack.Size) {
			t.Errorf("stack %+v, SP %#x, memory %#x", stack, sp, at)
		}
	})
}
