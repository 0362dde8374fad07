package crash

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/commandtest"
	"github.com/sfwalk/sfwalk/internal/test/dumptest"
)

// sharedByThreads makes a dump of n threads that have one context and one stack. The file of their
// code has the name given.
func sharedByThreads(d *dumptest.Dump, n int, context, stack []byte, name string) []byte {
	const base, at = 0x400000, 0x70000000
	registers, memory := d.At(context), d.At(stack)
	var list []byte
	for i := range n {
		list = dumptest.Join(list, d.U32(uint32(i+1), 0, 0, 0), d.U64(0, at), memory, registers)
	}
	d.Stream(3, d.U32(uint32(n)), list)
	d.Stream(4, d.U32(1), d.ModuleAt(name, base, 0x10000, 0, nil))
	return d.Bytes(0)
}

// deepShared is a dump of 10,000 threads on one stack of 25,000 frames.
func deepShared() []byte {
	const base, at, frames = 0x400000, 0x70000000, 25_000
	d := dumptest.New()
	d.System(9, 0x8201, "")
	var stack []byte
	for i := range uint64(frames) {
		stack = append(stack, d.U64(at+16*(i+1), base+1+i%512)...)
	}
	return sharedByThreads(d, 10_000, d.AMD64(base, at, at), stack, "/prog")
}

// unwalkedShared is a dump of 16,000 threads of a processor whose stacks cannot be walked, in one
// file with a long name.
func unwalkedShared() []byte {
	d := dumptest.New()
	d.System(1, 0x8203, "")
	context := make([]byte, 608)
	copy(context, d.U32(0x40002))
	copy(context[312:], d.U64(0x401234)) // PC
	return sharedByThreads(d, 16_000, context, make([]byte, 16), "/"+strings.Repeat("n", 32_000))
}

// What a small dump becomes where all threads share what is large is bounded, says that it was cut,
// and keeps the form that was asked for.
func TestSharedByThreads(t *testing.T) {
	const most, says = 72 << 20, "MiB of text; --max-frames 0 shows all"
	deep, unwalked := deepShared(), unwalkedShared()
	for name, dump := range map[string][]byte{"deep": deep, "unwalked": unwalked} {
		if len(dump) > 1<<20 {
			t.Fatalf("%s: a dump of %d bytes", name, len(dump))
		}
		path := filepath.Join(t.TempDir(), "x.dmp")
		if err := os.WriteFile(path, dump, 0o600); err != nil {
			t.Fatal(err)
		}
		for _, args := range [][]string{{path}, {path, "--json"}, {path, "--format", "breakpad"}, {filepath.Dir(path)}} {
			out, _ := commandtest.Bounded(t, append([]string{"minidump"}, args...)...)
			if len(out) > most {
				t.Errorf("%s: %q: %d bytes", name, args, len(out))
			}
			if len(args) != 3 && !strings.Contains(out, says) { // Breakpad's form has no place for it
				t.Errorf("%s: %q: nothing says that it was cut", name, args)
			}
			if isJSON := len(args) == 2 || args[0] != path; isJSON && (!json.Valid([]byte(out)) || strings.Count(out, "\n") != 1) {
				t.Errorf("%s: %q: it is no line of JSON", name, args)
			}
		}
	}
}

// The records of a dump that are no stacks are written as they are made, one after the other, also
// where several dumps are read at the same time.
func TestBatchOfLongNames(t *testing.T) {
	dir := t.TempDir()
	d := dumptest.New()
	d.System(9, 0x8201, "")
	name := d.Text("/" + strings.Repeat("\x01", 32_000))
	buildID := d.At(append(d.U32(0x4270454c), make([]byte, 20)...)) // such a module's symbols have its name, too
	var modules []byte
	const n = 130
	for i := range uint32(n) {
		modules = dumptest.Join(modules, d.U64(0x400000+0x1000*uint64(i)), d.U32(0x1000, 0, 0, name), make([]byte, 52), buildID, make([]byte, 24))
	}
	d.Stream(4, d.U32(n), modules)
	dump := d.Bytes(0)
	for _, one := range []string{"a.dmp", "b.dmp", "c.dmp", "d.dmp", "e.dmp"} {
		if err := os.WriteFile(filepath.Join(dir, one), dump, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	out, _ := commandtest.Bounded(t, "minidump", dir)
	if lines, names := strings.Count(out, "\n"), strings.Count(out, `"/\u0001`); lines != 5 || names < 5*2*n {
		t.Errorf("%d lines with %d names", lines, names)
	}
}
