package command_test

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/commandtest"
	"github.com/sfwalk/sfwalk/internal/test/dumptest"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
	"github.com/sfwalk/sfwalk/picture"
)

// overlapping starts a program with n functions on its stack. Their names are suffixes of one name
// of size bytes.
func overlapping(t *testing.T, n, size int) *gdbtest.Process {
	t.Helper()
	dir := t.TempDir()
	code, source, path := filepath.Join(dir, "code.s"), filepath.Join(dir, "program.c"), filepath.Join(dir, "program")
	var b bytes.Buffer
	fmt.Fprintf(&b, ".text\n.globl %s\n%[1]s:\n", strings.Repeat("n", size))
	for i := range n {
		next := fmt.Sprint("f", i+1)
		if i == n-1 {
			next = "leaf"
		}
		fmt.Fprintf(&b, ".globl f%d\n.type f%[1]d,@function\nf%[1]d: .cfi_startproc\npush %%rbx\n.cfi_def_cfa_offset 16\ncall %s\npop %%rbx\n.cfi_def_cfa_offset 8\nret\n.cfi_endproc\n.size f%[1]d,.-f%[1]d\n", i, next)
	}
	b.WriteString(".section .note.GNU-stack,\"\",@progbits\n")
	text := `#include "ready.h"
void leaf(void) { ready(); block(); }
extern void f0(void);
int main(void) { arm(); f0(); return 0; }
`
	if err := os.WriteFile(code, b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(source, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(gdbtest.Tool(t, "gcc"), "-O1", "-I", gdbtest.Testdata(t, "progs"), "-o", path, source, code).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	file, err := elf.NewFile(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	strs := file.Section(".strtab")
	names, err := strs.Data()
	if err != nil {
		t.Fatal(err)
	}
	long := uint32(bytes.Index(names, []byte("nnnn")))
	symbols := file.Section(".symtab")
	for at := symbols.Offset; at < symbols.Offset+symbols.Size; at += symbols.Entsize {
		name := data[at:]
		rest := names[binary.LittleEndian.Uint32(name):]
		if i, err := strconv.Atoi(strings.TrimPrefix(string(rest[:bytes.IndexByte(rest, 0)]), "f")); err == nil && rest[0] == 'f' {
			binary.LittleEndian.PutUint32(name, long+uint32(i))
		}
	}
	if err := os.WriteFile(path, data, 0o700); err != nil {
		t.Fatal(err)
	}
	return gdbtest.Start(t, path)
}

// A name that is too long is cut, and marked as cut, as text and as JSON. Names that overlap can be
// much longer together than their file.
func TestLongNames(t *testing.T) {
	const n, size = 1000, 700_000
	gdbtest.NeedAMD64(t)
	p := overlapping(t, n, size)
	pid := strconv.Itoa(p.PID)
	cut := func(i int) string { return fmt.Sprintf("n…[%d bytes more]", size-i-(1<<16-40)) }
	out, _ := commandtest.Bounded(t, "attach", pid)
	if strings.Count(out, "bytes more]") != n || !strings.Contains(out, cut(0)) || !strings.Contains(out, cut(n-1)) || len(out) > n<<16+n<<10 {
		t.Errorf("%d bytes, %d names are cut, want %d, the outermost %q", len(out), strings.Count(out, "bytes more]"), n, out[strings.LastIndex(out, "nn…["):][:40])
	}
	out, _ = commandtest.Bounded(t, "attach", pid, "--json", "--max-frames", "20")
	var doc struct {
		Threads []struct{ Frames []struct{ Function string } }
	}
	if err := json.Unmarshal([]byte(out), &doc); err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, f := range doc.Threads[0].Frames {
		if len(f.Function) > 1<<16-40 && strings.HasSuffix(f.Function, " bytes more]") && strings.HasPrefix(f.Function, "nnn") {
			found++
		}
	}
	if found < 10 {
		t.Errorf("JSON: %d names are cut", found)
	}
	p.Exit(t)
}

// What is shown of one target without --max-frames is bounded, however long names are: as text, as
// JSON, as a picture. It says that it was cut, and how to have all.
func TestLongText(t *testing.T) {
	const n, size, gathered = 3000, 200_000, 32 << 20
	gdbtest.NeedAMD64(t)
	p := overlapping(t, n, size)
	pid := strconv.Itoa(p.PID)
	for _, args := range [][]string{{}, {"--json"}, {"--merge"}, {"--merge", "--json"}, {"--tree"}, {"--format", "folded"}, {"--outer", strconv.Itoa(n)}} {
		out, warnings := commandtest.Bounded(t, append([]string{"attach", pid}, args...)...)
		want := 64 << 20
		if len(args) > 0 && args[0] != "--json" && args[0] != "--outer" {
			want = gathered
		}
		if len(out) < want || len(out) > want+16<<20 {
			t.Errorf("%q: %d bytes, want %d", args, len(out), want)
		}
		if all := out + warnings; !strings.Contains(all, "MiB of text; --max-frames 0 shows all") {
			t.Errorf("%q: nothing says that the output was cut: %s", args, warnings)
		}
	}
	if out, _ := commandtest.Within(t, 1<<20, "attach", pid, "--max-frames", "0"); strings.Count(out, "bytes more]") != n {
		t.Errorf("--max-frames 0 shows %d frames", strings.Count(out, "bytes more]"))
	}
	p.Exit(t)
}

// What record writes of a process is bounded, however long its names are, in all formats. It says
// what is left out, and --max-size has all.
func TestRecordLongText(t *testing.T) {
	const n, size = 3000, 200_000
	gdbtest.NeedAMD64(t)
	p := overlapping(t, n, size)
	record := []string{"record", strconv.Itoa(p.PID), "--wall", "-d", "300ms", "-o", "-", "--format"}
	for _, f := range picture.Formats {
		format := f.Name
		if f.Binary { // it is packed, or has each name once
			continue
		}
		out, said := commandtest.Bounded(t, append(record, format)...)
		if len(out) < 30<<20 || len(out) > 72<<20 {
			t.Errorf("%s: %d bytes", format, len(out))
		}
		if !strings.Contains(said, "bytes of text; --max-size SIZE allows more") {
			t.Errorf("%s: nothing says that names are left out: %s", format, said)
		}
	}
	if out, said := commandtest.Within(t, 1<<20, append(record, "folded", "--max-size", "1G")...); strings.Count(out, "bytes more]") < n {
		t.Errorf("--max-size 1G: %d long names: %s", strings.Count(out, "bytes more]"), said)
	}
	p.Exit(t)
}

// Each of many frames has many inlined calls, by a symbol file: they count as text, also where they
// are kept until all are walked.
func TestManyInlined(t *testing.T) {
	const frames, inlined, base, stack = 12_000, 20_000, 0x400000, 0x70000000
	d := dumptest.New()
	d.System(9, 0x8201, "")
	var words []byte
	for i := range uint64(frames) {
		words = append(words, d.U64(stack+16*(i+1), base+0x1001+8*i)...)
	}
	memory := d.At(append(words, make([]byte, 16)...))
	d.Stream(3, d.U32(1), d.U32(1, 0, 0, 0), d.U64(0, stack), memory, d.At(d.AMD64(base+0x1000, stack, stack)))
	d.Stream(4, d.U32(1), d.ModuleAt("/prog", base, 0x4000000, 0, append(d.U32(0x4270454c), bytes.Repeat([]byte{0x11}, 16)...)))
	d.Stream(5, d.U32(1), d.U64(stack), memory)
	dir := t.TempDir()
	id := strings.Repeat("1", 32) + "0"
	var symbols strings.Builder
	fmt.Fprintf(&symbols, "MODULE Linux x86_64 %s prog\nSTACK CFI INIT 1000 3000000 .cfa: $rbp 16 + .ra: .cfa -8 + ^ $rbp: .cfa -16 + ^\nFILE 0 a.c\nINLINE_ORIGIN 0 o\nFUNC 1000 3000000 0 f\n", id)
	for i := range inlined {
		fmt.Fprintf(&symbols, "INLINE %d 1 0 0 1000 3000000\n", i)
	}
	dump, store := filepath.Join(dir, "x.dmp"), filepath.Join(dir, "store")
	if err := errors.Join(os.MkdirAll(filepath.Join(store, "prog", id), 0o700), os.WriteFile(dump, d.Bytes(0), 0o600),
		os.WriteFile(filepath.Join(store, "prog", id, "prog.sym"), []byte(symbols.String()), 0o600)); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{}, {"--json"}, {"--merge"}, {"--merge", "--json"}, {"--tree"}, {"--format", "folded"}} {
		out, warnings := commandtest.Bounded(t, append([]string{"minidump", dump, "--symbols", store}, args...)...)
		if len(out) > 72<<20 {
			t.Errorf("%q: %d bytes", args, len(out))
		}
		if !strings.Contains(out+warnings, "MiB of text; --max-frames 0 shows all") {
			t.Errorf("%q: nothing says that the output was cut: %s", args, warnings)
		}
	}
}
