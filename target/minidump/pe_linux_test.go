package minidump

import (
	"bytes"
	"debug/pe"
	"encoding/binary"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/arch/amd64"
	"github.com/sfwalk/sfwalk/format/cfi"
	format "github.com/sfwalk/sfwalk/format/minidump"
	peimage "github.com/sfwalk/sfwalk/format/pe"
	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/internal/test/dumptest"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
	"github.com/sfwalk/sfwalk/sniffer"
	"github.com/sfwalk/sfwalk/symbol"
	"github.com/sfwalk/sfwalk/symbol/tables"
	"github.com/sfwalk/sfwalk/trad"
)

// callsIt are functions with frames of different kinds; each calls the one before it.
const callsIt = `
volatile int sink;
__attribute__((noinline)) int inner(int a) { sink = a; return sink + 1; }
__attribute__((noinline)) int middle(int a, int b) { volatile char room[600]; room[a] = b; return inner(a) + inner(b) + room[1]; }
__attribute__((noinline)) int outer(int n) { char *room = __builtin_alloca(n); room[0] = n; sink = room[n / 2]; return middle(n, 2) + sink; }
int main(int argc, char **argv) { return outer(argc) + sink; }
`

// TestPE: a dump of Windows has the stack alone; the program's own file has its unwind codes, its
// code and its names. objdump tells which address each call returns to, and the program's DWARF how
// large each frame is.
func TestPE(t *testing.T) {
	dir := t.TempDir()
	source, exe := filepath.Join(dir, "calls.c"), filepath.Join(dir, "calls.exe")
	if err := os.WriteFile(source, []byte(callsIt), 0o600); err != nil {
		t.Fatal(err)
	}
	run := func(tool string, args ...string) string {
		t.Helper()
		out, err := exec.Command(gdbtest.Tool(t, "x86_64-w64-mingw32-"+tool), args...).CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v\n%s", tool, err, out)
		}
		return string(out)
	}
	run("gcc", "-g", "-O1", "-o", exe, source)
	image, file, err := peimage.OpenFile(exe)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()

	// Where each function begins, and where its first call of the next one returns to.
	begin, returns := map[string]uint64{}, map[string]uint64{}
	label, call := regexp.MustCompile(`^([0-9a-f]+) <(\w+)>:`), regexp.MustCompile(`\tcall\s+[0-9a-f]+ <(\w+)>`)
	function, called := "", ""
	for line := range strings.Lines(run("objdump", "-d", "--no-show-raw-insn", exe)) {
		addr, _, _ := strings.Cut(strings.TrimSpace(line), ":")
		if m := label.FindStringSubmatch(line); m != nil {
			begin[m[2]], _ = strconv.ParseUint(m[1], 16, 64)
			function, called = m[2], ""
			continue
		}
		if called != "" {
			returns[function+"-"+called], _ = strconv.ParseUint(addr, 16, 64)
			called = ""
		}
		if m := call.FindStringSubmatch(line); m != nil && returns[function+"-"+m[1]] == 0 {
			called = m[1]
		}
	}
	const moved = 0x7ff6_0000_0000 // where the dump has the program
	at := func(addr uint64) uint64 { return addr - image.Base + moved }

	// The stack as the calls leave it, by the program's DWARF: frame 0 is at inner's first
	// instruction.
	file2, err := pe.Open(exe)
	if err != nil {
		t.Fatal(err)
	}
	defer file2.Close()
	data, err := file2.Section(".debug_frame").Data()
	if err != nil {
		t.Fatal(err)
	}
	codes, err := cfi.Open(cfi.Debug, data, 0, cfi.Options{ABI: cfi.ABI{Order: binary.LittleEndian, PtrSize: 8, FP: amd64.RBP, Link: amd64.RIP}})
	if err != nil {
		t.Fatal(err)
	}
	const bottom = 0x10_0000
	sp, fp := uint64(bottom), uint64(bottom+0x1000)
	stack := make([]byte, 0x4000)
	word := func(addr, v uint64) { binary.LittleEndian.PutUint64(stack[addr-bottom:], v) }
	pcs := []uint64{begin["inner"], returns["middle-inner"], returns["outer-middle"], returns["main-outer"]}
	for i, pc := range pcs[:3] {
		row, _, err := codes.Row(pc - min(uint64(i), 1))
		if err != nil {
			t.Fatalf("frame %d: %v; %v, %v", i, err, begin, returns)
		}
		cfa := row.CFA.At(sp)
		if row.CFA.Reg == amd64.RBP {
			cfa = row.CFA.At(fp)
		}
		word(row.RA.At(cfa), at(pcs[i+1]))
		if row.FP.Kind == trad.Saved {
			fp += 0x1000
			word(row.FP.At(cfa), fp)
		}
		sp = cfa
	}

	d := dumptest.New()
	d.System(9, 2, "")
	d.Stream(3, d.U32(1), d.Thread(1, bottom, stack, d.AMD64(at(pcs[0]), bottom, bottom+0x1000)))
	d.Stream(4, d.U32(1), d.ModuleAt(`C:\Program Files\calls.exe`, moved, image.Size, image.Timestamp, nil))
	b := d.Bytes(0)
	dump, err := format.Read(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		t.Fatal(err)
	}
	tg, err := New(dump, Options{Beside: dir})
	if err != nil {
		t.Fatal(err)
	}
	defer tg.Close()
	threads, _ := tg.Threads()
	byCodes, err := sniffer.ByName("pdata")
	if err != nil {
		t.Fatal(err)
	}
	s, err := frame.New(tg, threads[0], frame.NewTable(tg.Arch(), byCodes...))
	if err != nil {
		t.Fatal(err)
	}
	symbols := symbol.New(symbol.Options{Sources: []symbol.Source{tables.PE{}}})
	names := []string{"inner", "middle", "outer", "main"}
	i := 0
	for f, err := range s.All() {
		if err != nil || i == len(pcs) {
			break
		}
		where := symbols.Locate(tg.Modules(), f.AddressInBlock())
		if f.PC() != at(pcs[i]) || len(where) == 0 || where[0].Function != names[i] {
			t.Errorf("frame %d: %v in %+v, want %#x in %s", i, f, where, at(pcs[i]), names[i])
		}
		i++
	}
	if i < len(pcs) {
		t.Errorf("%d frames, want %d", i, len(pcs))
	}
}
