package crash

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/internal/command/exit"
	"github.com/sfwalk/sfwalk/internal/test/commandtest"
	"github.com/sfwalk/sfwalk/internal/test/dumptest"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
)

// peerFrame is a frame by minidump_stackwalk: a record of -m, and how it was found.
type peerFrame struct {
	record  string // without its level
	scanned bool
}

var (
	frameRecord = regexp.MustCompile(`(?m)^(\d+)\|\d+\|(.*)$`)
	foundBy     = regexp.MustCompile(`(?m)^    Found by: (.*)$`)
)

// stackwalk returns the frames that minidump_stackwalk has, by thread.
func stackwalk(t *testing.T, dump, symbols string) map[string][]peerFrame {
	t.Helper()
	tool := gdbtest.Breakpad(t, "minidump_stackwalk")
	records, err := exec.Command(tool, "-m", dump, symbols).Output()
	if err != nil {
		t.Fatal(err)
	}
	text, err := exec.Command(tool, dump, symbols).Output()
	if err != nil {
		t.Fatal(err)
	}
	all, how := frameRecord.FindAllStringSubmatch(string(records), -1), foundBy.FindAllStringSubmatch(string(text), -1)
	if len(all) != len(how) {
		t.Fatalf("%d frames, of which %d are explained", len(all), len(how))
	}
	threads := map[string][]peerFrame{}
	for i, m := range all {
		threads[m[1]] = append(threads[m[1]], peerFrame{m[2], strings.Contains(how[i][1], "scanning")})
	}
	return threads
}

// ownRecords returns our frames by thread, as --format breakpad has them.
func ownRecords(t *testing.T, dump, symbols string) map[string][]string {
	t.Helper()
	out, _, err := commandtest.Run("minidump", dump, "--format", "breakpad", "--symbols", symbols)
	if err != nil && !errors.Is(err, exit.ErrEarly) {
		t.Fatal(err)
	}
	threads := map[string][]string{}
	for _, m := range frameRecord.FindAllStringSubmatch(out, -1) {
		threads[m[1]] = append(threads[m[1]], m[2])
	}
	return threads
}

// TestStackwalk: of Breakpad's own dumps, we have each frame that minidump_stackwalk finds
// otherwise than by scanning the stack, in the same order. Of some, we have just its frames; of
// others, the words of the stack show which is right: docs/minidumps.md has the table.
func TestStackwalk(t *testing.T) {
	same := []string{"ascii_read_av", "minidump_32bit_crash_addr", "null_read_av"}
	dir, symbols := t.TempDir(), t.TempDir()
	for _, packed := range gdbtest.Glob(t, gdbtest.Testdata(t, "breakpad", "*.dmp.xz")) {
		dump := commandtest.Unpack(t, packed, dir)
		name := strings.TrimSuffix(filepath.Base(dump), ".dmp")
		peer, own := stackwalk(t, dump, symbols), ownRecords(t, dump, symbols)
		frames, certain, common := 0, 0, 0
		for thread, list := range peer {
			at, left := 0, own[thread]
			for _, f := range list {
				frames++
				i := slices.Index(left[at:], f.record)
				if i >= 0 {
					at += i + 1
					common++
				}
				if f.scanned {
					continue
				}
				if certain++; i < 0 {
					t.Errorf("%s: thread %s: no frame %s in %q", name, thread, f.record, left)
				}
			}
		}
		ours := 0
		for _, list := range own {
			ours += len(list)
		}
		t.Logf("%s: minidump_stackwalk has %d frames, %d of them by scanning; ours has %d; %d are in both", name, frames, frames-certain, ours, common)
		if slices.Contains(same, name) && (frames != ours || common != ours) {
			t.Errorf("%s: %d frames are in both, minidump_stackwalk has %d, ours %d", name, common, frames, ours)
		}
	}
}

// foreignDumps names a folder of dumps (*.dmp) of other projects' tests, with their symbols in a
// store, symbols/.
const foreignDumps = "SFWALK_DUMPS"

// TestForeignDumps holds other projects' dumps against minidump_stackwalk: each frame in a module
// that it finds otherwise than by scanning the stack is ours, too, in the same order.
// rust-minidump's and symbolic's, of which symbolic's three of Macs showed that contexts may have
// no flags but the processor's, are in their repositories alone.
func TestForeignDumps(t *testing.T) {
	gdbtest.NeedSoak(t)
	dir := os.Getenv(foreignDumps)
	dumps, _ := filepath.Glob(filepath.Join(dir, "*.dmp"))
	if dir == "" || len(dumps) == 0 {
		gdbtest.Cannot(t, foreignDumps+" names no folder with dumps")
	}
	tool := gdbtest.Breakpad(t, "minidump_stackwalk")
	symbols := filepath.Join(dir, "symbols")
	all, common := 0, 0
	for _, dump := range dumps {
		if err := exec.Command(tool, "-m", dump, symbols).Run(); err != nil {
			t.Logf("NOT TESTED: %s: minidump_stackwalk: %v", filepath.Base(dump), err)
			continue
		}
		own := ownRecords(t, dump, symbols)
		for thread, list := range stackwalk(t, dump, symbols) {
			left := own[thread]
			for _, f := range list {
				if inModule := !strings.HasPrefix(f.record, "|"); f.scanned || !inModule {
					continue
				}
				all++
				if i := slices.IndexFunc(left, func(own string) bool { return own == f.record || own == afterCall(f.record) }); i >= 0 {
					left = left[i+1:]
					common++
				} else {
					t.Errorf("%s: thread %s: no frame %s in %q", filepath.Base(dump), thread, f.record, left)
				}
			}
		}
	}
	t.Logf("%d dumps: minidump_stackwalk has %d frames that are not scanned, of which %d are ours", len(dumps), all, common)
}

// afterCall returns a record of arm64 with the return address: minidump_stackwalk prints the
// address of the call.
func afterCall(record string) string {
	at := strings.LastIndexByte(record, '|') + 1
	offset, _ := strconv.ParseUint(record[at:], 0, 64)
	return record[:at] + fmt.Sprintf("%#x", offset+4)
}

// Addresses of the dumps that [winDump] makes.
const winBase, winStack = 0x400000, 0x100000

// winDump writes a dump of 32-bit x86 on Windows, whose one module has the records as its symbols,
// and returns the dump and the store. words are the stack's, by their distance from its inner end,
// which esp points to. PC is at the beginning of the code at 0x1000, and 8 bytes behind.
func winDump(t *testing.T, ebp uint32, words map[uint32]uint32, records string) (dump, store string) {
	t.Helper()
	d := dumptest.New()
	d.System(0, 2, "")
	context := make([]byte, 716)
	for at, v := range map[int]uint32{0: 0x1001f, 180: ebp, 184: winBase + 0x1008, 196: winStack} {
		copy(context[at:], d.U32(v))
	}
	stack := make([]byte, 0x400)
	for at, v := range words {
		copy(stack[at:], d.U32(v))
	}
	guid := append([]byte("RSDS"), bytes.Repeat([]byte{0x11}, 16)...)
	codeView := append(append(guid, d.U32(1)...), "app.pdb\x00"...)
	d.Stream(3, d.U32(1), d.Thread(1, winStack, stack, context))
	d.Stream(4, d.U32(1), d.Module(`C:\app.exe`, winBase, 0x10000, codeView))
	d.Stream(6, d.U32(1, 0, 0xc0000005, 0), d.U64(0, winBase+0x1008), d.U32(0, 0), make([]byte, 15*8), d.At(context))
	dump, store = filepath.Join(t.TempDir(), "dump.dmp"), t.TempDir()
	const id = "111111111111111111111111111111111"
	inside := filepath.Join(store, "app.pdb", id)
	if err := errors.Join(os.MkdirAll(inside, 0o700), os.WriteFile(dump, d.Bytes(0), 0o600),
		os.WriteFile(filepath.Join(inside, "app.sym"), []byte("MODULE windows x86 "+id+" app.pdb\n"+records), 0o600)); err != nil {
		t.Fatal(err)
	}
	return dump, store
}

// winRecords are functions whose STACK WIN records are of all kinds. Each has as many bytes of
// arguments, since minidump_stackwalk takes frame 0's for every frame's.
const winRecords = `FUNC 1000 100 4 f0
FUNC 2000 100 4 f1
FUNC 3000 100 4 f2
FUNC 4000 100 4 f3
FUNC 5000 100 4 f4
FUNC 6000 100 4 f5
STACK WIN 4 1000 100 3 0 4 4 8 0 1 $T0 .raSearch = $eip $T0 ^ = $esp $T0 4 + = $20 $T0 8 - ^ =
STACK WIN 4 2000 100 3 0 4 4 8 0 1 $T0 $ebp = $eip $T0 4 + ^ = $ebp $T0 ^ = $esp $T0 8 + = $23 $T0 4 - ^ =
STACK WIN 0 3000 100 0 0 4 8 10 0 0 1
STACK WIN 0 4000 100 0 0 4 0 4 0 0 0
STACK WIN 4 5000 100 3 0 4 4 8 0 1 $T1 .raSearch = $T0 $T1 4 - 8 @ = $ebp $T1 4 - ^ = $eip $T1 ^ = $esp $T1 4 + =
STACK WIN 4 6000 100 3 0 4 4 8 0 1 $T0 $ebp =$eip $T0 4 + ^ =$ebp $T0 ^ =$esp $T0 8 + =
`

// winWords is the stack of f5, which has called f4, and so on to f0.
func winWords() map[uint32]uint32 {
	return map[uint32]uint32{
		0x0c: winBase + 0x2010,                        // behind f0's 8 bytes of locals and 4 of registers
		0x30: winStack + 0x90, 0x34: winBase + 0x3010, // f1's record at ebp
		0x3c: winStack + 0xa0,                         // f2 has saved ebp
		0x54: winBase + 0x4010,                        // behind f1's arguments, f2's locals and registers
		0x60: winBase + 0x5010,                        // behind f2's arguments and f3's locals
		0xa0: winStack + 0xc0, 0xa4: winBase + 0x6010, // f4's record at ebp
	}
}

// TestStackWin: frame data and FPO as minidump_stackwalk takes them.
func TestStackWin(t *testing.T) {
	moved := winWords() // f3 has aligned its stack: the return address is two words further out
	delete(moved, 0x60)
	moved[0x68] = winBase + 0x5010
	for name, words := range map[string]map[uint32]uint32{"in place": winWords(), "moved": moved} {
		dump, store := winDump(t, winStack+0x30, words, winRecords)
		want, got := stackwalk(t, dump, store)["0"], ownRecords(t, dump, store)["0"]
		for i := range max(len(want), len(got)) {
			if i >= len(want) || i >= len(got) || want[i].record != got[i] || !strings.Contains(got[i], fmt.Sprintf("|f%d|", i)) {
				t.Errorf("%s: frame %d: %q, minidump_stackwalk has %+v", name, i, got, want)
				break
			}
		}
		if len(got) != 6 {
			t.Errorf("%s: %d frames", name, len(got))
		}
		out, _, err := commandtest.Run("minidump", dump, "--symbols", store)
		if err != nil || strings.Contains(out, "[guess]") != (name == "moved") {
			t.Errorf("%s: %v, %s", name, err, out)
		}
	}
}

// TestStackWinArguments: the arguments that count belong to the function that was called
// ("Interpreting a STACK WIN record"), not, as in minidump_stackwalk, frame 0's.
func TestStackWinArguments(t *testing.T) {
	records := strings.Replace(winRecords, "STACK WIN 4 1000 100 3 0 4 ", "STACK WIN 4 1000 100 3 0 0 ", 1)
	dump, store := winDump(t, winStack+0x30, winWords(), records)
	for i, f := range ownRecords(t, dump, store)["0"] {
		if !strings.Contains(f, fmt.Sprintf("|f%d|", i)) {
			t.Errorf("frame %d: %s", i, f)
		}
	}
}

// TestMicrodumpOracle: of a microdump, the records that are no frames are Breakpad's, and so is the
// first frame's address.
func TestMicrodumpOracle(t *testing.T) {
	dir, folder := t.TempDir(), filepath.Join("..", "..", "..", "testdata", "breakpad")
	want, err := os.ReadFile(commandtest.Unpack(t, filepath.Join(folder, "microdump-arm.out.xz"), dir))
	if err != nil {
		t.Fatal(err)
	}
	got, _, err := commandtest.Run("minidump", commandtest.Unpack(t, filepath.Join(folder, "microdump-arm.log.xz"), dir), "--format", "breakpad")
	if err != nil && !errors.Is(err, exit.ErrEarly) {
		t.Fatal(err)
	}
	heading, _, _ := strings.Cut(string(want), "\n\n")
	if !strings.HasPrefix(got, heading+"\n\n0|0|breakpad_unittests||||0x1e307\n") { // pc 0xaaaeb307 of the module at 0xaaacd000
		t.Errorf("%s\nBreakpad has\n%s", got, want)
	}
}
