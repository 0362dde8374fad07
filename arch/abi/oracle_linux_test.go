package abi_test

import (
	"bytes"
	"debug/dwarf"
	"debug/elf"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/arch/abi"
	"github.com/sfwalk/sfwalk/internal/test/abidwarf"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
)

// build is one way to compile the functions.
type build struct {
	*machine
	name     string
	compiler string
	flags    []string
	vector   uint64
	emulator []string
}

// builds returns the four ways to compile functions for a processor.
func (m *machine) builds(t *testing.T) (list []build) {
	gcc := m.triple + "-gcc"
	var emulator []string
	if m.qemu != "" {
		emulator = []string{gdbtest.Tool(t, m.qemu)}
		gdbtest.File(t, "/usr/"+m.triple+"/lib/libc.a")
	} else {
		gdbtest.NeedAMD64(t)
		if m.triple == "x86_64-linux-gnu" {
			gcc = "gcc"
		}
	}
	for _, level := range []string{"-O0", "-O2"} {
		list = append(list, build{m, level, gcc, append([]string{level, "-std=gnu11"}, m.narrow...), 0, emulator}, build{m, level + " wide", gcc, append([]string{level, "-std=gnu11"}, m.wide...), m.vector, emulator})
	}
	return list
}

// perBuild is how many functions each build has.
const perBuild = 80

// TestCalls calls functions that compilers have made, of generated types, with what PushDummyCall
// says in registers and on the stack. They tell what they were given, and ReturnValue finds what
// they return.
func TestCalls(t *testing.T) {
	for _, m := range machines {
		t.Run(m.Name, func(t *testing.T) {
			t.Parallel()
			for i, b := range m.builds(t) {
				t.Run(b.name, func(t *testing.T) {
					if b.vector > 16 {
						gdbtest.NeedFlag(t, "avx")
					}
					g := newGenerator(m, uint64(i+1))
					for n := range perBuild {
						g.function(n)
					}
					b.calls(t, g.defs.String(), ".c", perBuild)
				})
			}
		})
	}
}

// TestAVX512 is TestCalls for vectors of 64 bytes, in the registers that have room for them and
// where there are none.
func TestAVX512(t *testing.T) {
	gdbtest.NeedFlag(t, "avx512f")
	m := *machines[slices.IndexFunc(machines, func(m *machine) bool { return m.Name == "amd64" })]
	m.wide, m.vector = []string{"-mavx512f", "-mno-vzeroupper"}, 64
	for i, b := range m.builds(t) {
		t.Run(b.name, func(t *testing.T) {
			g := newGenerator(&m, uint64(2001+i))
			g.vectors = []string{"v8df", "v64qi", "v8df", "v4df", "v4sf"}
			g.floats = append(g.floats, []string{"v8df"}, []string{"v8df", "v64qi"})
			for n := range perBuild {
				g.function(n)
			}
			b.calls(t, g.defs.String(), ".c", perBuild)
		})
	}
}

// TestModels is TestCalls on processors that this machine has not: the first has no AVX.
func TestModels(t *testing.T) {
	qemu := gdbtest.Tool(t, "qemu-x86_64")
	for i, model := range []string{"Opteron_G1", "Nehalem", "Haswell", "EPYC", "max"} {
		t.Run(model, func(t *testing.T) {
			m := machines[slices.IndexFunc(machines, func(m *machine) bool { return m.Name == "amd64" })]
			for k, b := range m.builds(t) {
				if b.vector > 16 && !emulatesAVX(t, qemu, model) {
					continue // as programs for AVX cannot run there
				}
				b.emulator = []string{qemu, "-cpu", model}
				t.Run(b.name, func(t *testing.T) {
					g := newGenerator(m, uint64(1000+10*i+k))
					for n := range perBuild {
						g.function(n)
					}
					b.calls(t, g.defs.String(), ".c", perBuild)
				})
			}
		})
	}
}

// emulatesAVX reports whether a model of qemu's has AVX: no release before 7.2 emulates it.
func emulatesAVX(t *testing.T, qemu, model string) bool {
	t.Helper()
	dir := t.TempDir()
	src, program := filepath.Join(dir, "avx.c"), filepath.Join(dir, "avx")
	if err := os.WriteFile(src, []byte("int main(void) { return !__builtin_cpu_supports(\"avx\"); }\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(gdbtest.Tool(t, "gcc"), "-static", "-o", program, src).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return exec.Command(qemu, "-cpu", model, program).Run() == nil
}

// TestClang is TestCalls for functions that clang has made. gcc tells their types: clang leaves out
// parameters that have no data. Where clang 14 and gcc disagree, gcc is followed, and the types are
// left out: __int128 beyond amd64's registers, vectors of 32 bytes there where a function is
// variadic or the processor has no AVX, vectors of 4 bytes on arm64, structs with a flexible array.
func TestClang(t *testing.T) {
	gdbtest.NeedSoak(t)
	for _, m := range machines {
		t.Run(m.Name, func(t *testing.T) {
			for i, b := range m.builds(t) {
				t.Run(b.name, func(t *testing.T) {
					if b.vector > 16 {
						gdbtest.NeedFlag(t, "avx")
					}
					m := *m
					m.floats = nil
					g := newGenerator(&m, uint64(i+101))
					g.scalars = slices.DeleteFunc(g.scalars, func(t string) bool { return strings.Contains(t, "int128") })
					g.vectors = slices.DeleteFunc(g.vectors, func(t string) bool { return t == "v4qi" || t == "v4df" })
					g.rigid = true
					for n := range perBuild {
						g.function(n)
					}
					gcc := b.compile(t, g.defs.String(), ".c")
					b.compiler = "clang"
					b.flags = append(b.flags[:len(b.flags):len(b.flags)], "--target="+m.triple, "-gdwarf-4")
					p := b.compile(t, g.defs.String(), ".c")
					p.types, p.entries, p.unit = gcc.types, gcc.entries, gcc.unit
					for n := range perBuild {
						p.call(t, n)
					}
				})
			}
		})
	}
}

// TestClasses is TestCalls for the classes of C++ in testdata/classes.cc: empty ones, base classes,
// and what is passed by reference.
func TestClasses(t *testing.T) {
	classes, err := os.ReadFile("testdata/classes.cc")
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range machines {
		t.Run(m.Name, func(t *testing.T) {
			b := m.builds(t)[0]
			b.compiler = strings.TrimSuffix(b.compiler, "gcc") + "g++"
			b.flags = []string{"-O1", "-std=c++20"}
			n := strings.Count(string(classes), "CASE(") - 1
			b.calls(t, string(classes), ".cc", n)
		})
	}
}

// calls compiles n functions, and calls them.
func (b *build) calls(t *testing.T, functions, ext string, n int) {
	p := b.compile(t, functions, ext)
	for i := range n {
		p.call(t, i)
	}
}

// compile makes a program of the functions, and starts it.
func (b *build) compile(t *testing.T, functions, ext string) *program {
	src := filepath.Join(t.TempDir(), "calls"+ext)
	var text []byte
	for _, file := range []string{b.Name + ".c", "driver.c"} {
		part, err := os.ReadFile(filepath.Join("testdata", file))
		if err != nil {
			t.Fatal(err)
		}
		text = append(text, part...)
	}
	if err := os.WriteFile(src, append(text, functions...), 0o644); err != nil {
		t.Fatal(err)
	}
	// With strict aliasing, gcc 12 loses a homogeneous aggregate that it takes of a va_list on
	// arm64.
	cmd := append([]string{gdbtest.Tool(t, b.compiler), "-g", "-w", "-static", "-no-pie", "-fno-pie", "-fno-strict-aliasing"}, b.flags...)
	return b.open(t, gdbtest.Compile(t, src, cmd...), src)
}

// program is a program of testdata/driver.c that runs.
type program struct {
	*build
	path, src string
	in        io.Writer
	out       io.Reader
	symbols   map[string]uint64
	entries   map[string]dwarf.Offset
	unit      *dwarf.Entry
	types     *abidwarf.Reader
	rand      *rand.Rand
}

func (b *build) open(t *testing.T, path, src string) *program {
	p := &program{build: b, path: path, src: src, symbols: map[string]uint64{}, entries: map[string]dwarf.Offset{}, rand: rand.New(rand.NewPCG(1, 2))}
	f, err := elf.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	symbols, err := f.Symbols()
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range symbols {
		p.symbols[s.Name] = s.Value
	}
	data, err := f.DWARF()
	if err != nil {
		t.Fatal(err)
	}
	p.types = abidwarf.NewReader(data, b.LongDouble, b.PtrSize)
	entries := data.Reader()
	for {
		e, err := entries.Next()
		if err != nil {
			t.Fatal(err)
		}
		if e == nil {
			break
		}
		switch name, _ := e.Val(dwarf.AttrName).(string); {
		case e.Tag == dwarf.TagCompileUnit:
			p.unit = e
		case e.Tag == dwarf.TagSubprogram:
			p.entries[name] = e.Offset
		}
	}
	cmd := exec.CommandContext(t.Context(), path)
	if len(b.emulator) > 0 {
		cmd = exec.CommandContext(t.Context(), b.emulator[0], append(slices.Clone(b.emulator[1:]), path)...)
	}
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { in.Close(); cmd.Wait() })
	p.in, p.out = in, out
	return p
}

func (p *program) function(t *testing.T, name string) *abi.Func {
	t.Helper()
	off, ok := p.entries[name]
	if !ok {
		t.Fatalf("%s has no function %s", p.path, name)
	}
	f, err := p.types.Func(off, p.unit)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	f.VectorBytes = p.vector
	return f
}

// call calls one function, and compares. It returns what the function was given, and what it was
// told to return.
func (p *program) call(t *testing.T, n int) (args []abi.Value, result []byte) {
	t.Helper()
	name := fmt.Sprintf("case_%d", n)
	f, all := p.function(t, name), p.function(t, fmt.Sprintf("proto_%d", n))
	result = p.value(f.Result)
	for _, param := range all.Params {
		args = append(args, abi.Value{Type: param, Bytes: p.value(param)})
	}
	sp := p.base() + 0xc0000 - 8*uint64(p.rand.IntN(64))
	call, err := p.Calls.PushDummyCall(f, args, sp, p.symbols["call_returned"])
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	ret, err := p.Calls.ReturnValue(f)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	if end := call.SP + uint64(len(call.Stack)); end > sp-uint64(p.RedZone) || ret.Memory && (call.Result < end || call.Result+f.Result.Size > sp-uint64(p.RedZone)) {
		t.Errorf("%s: SP %#x: the stack from %#x to %#x, the result at %#x", name, sp, call.SP, end, call.Result)
	}
	record, out, memory := p.run(t, name, call, ret, result)
	source := p.source(name)
	for i, arg := range args {
		if len(record) < len(arg.Bytes) {
			t.Fatalf("%s: the record has %d bytes too few\n%s", name, len(arg.Bytes)-len(record), source)
		}
		if got := record[:len(arg.Bytes)]; !p.same(arg.Type, got, arg.Bytes) {
			t.Errorf("%s: argument %d is %x, want %x\n%s", name, i, got, arg.Bytes, source)
			return args, result
		}
		record = record[len(arg.Bytes):]
	}
	got := memory
	if !ret.Memory {
		if got, err = ret.Bytes(out.read); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	} else if ret.HasAddress {
		b := make([]byte, 8)
		if err := out.read(ret.Address, 0, b); err != nil || p.Order.Uint64(b) != call.Result {
			t.Errorf("%s: the address of the result is %x, %v, want %#x", name, b, err, call.Result)
		}
	}
	if !p.same(f.Result, got, result) {
		t.Errorf("%s returns %x, want %x (in memory: %t)\n%s", name, got, result, ret.Memory, source)
	}
	return args, result
}

// run has the program call a function.
func (p *program) run(t *testing.T, name string, call *abi.Call, ret *abi.Return, result []byte) (record []byte, out block, memory []byte) {
	t.Helper()
	in := bytes.Repeat([]byte{0x5a}, blockSize)
	for _, r := range call.Registers {
		at, ok := p.register(r.Reg)
		if !ok {
			t.Fatalf("%s: no argument is in register %d", name, r.Reg)
		}
		copy(in[at+r.Offset:], r.Bytes)
	}
	var memorySize uint64
	if ret.Memory {
		memorySize = uint64(len(result))
	}
	var head []byte
	for _, v := range []uint64{p.symbols[name], call.SP, uint64(len(call.Stack)), call.Result, memorySize, uint64(len(result))} {
		head = p.append(head, v)
	}
	head = append(append(append(head, in...), call.Stack...), result...)
	if _, err := p.in.Write(head); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	size := make([]byte, 8)
	if _, err := io.ReadFull(p.out, size); err != nil {
		t.Fatalf("%s: the program has ended: %v\n%s", name, err, p.source(name))
	}
	record, out, memory = make([]byte, p.Order.Uint64(size)), block{p.machine, make([]byte, blockSize)}, make([]byte, memorySize)
	for _, b := range [][]byte{record, out.b, memory} {
		if _, err := io.ReadFull(p.out, b); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
	}
	return record, out, memory
}

func (p *program) append(b []byte, v uint64) []byte {
	word := make([]byte, 8)
	p.Order.PutUint64(word, v)
	return append(b, word...)
}
