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
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/internal/command/exit"
	"github.com/sfwalk/sfwalk/internal/command/report"
	"github.com/sfwalk/sfwalk/internal/command/sniffers"
	"github.com/sfwalk/sfwalk/internal/test/commandtest"
	"github.com/sfwalk/sfwalk/internal/test/dumptest"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
	"github.com/sfwalk/sfwalk/target/minidump"
)

// needSize leaves a test out if LLDB has noted less than a page of the program: its newer releases
// do so for static programs.
func needSize(t *testing.T, path string) {
	t.Helper()
	dump, err := minidump.Open(path, minidump.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer dump.Close()
	if dump.Dump.Modules[0].Size < 4096 {
		gdbtest.Cannot(t, "this release of LLDB writes a minidump without the size of the program")
	}
}

// collectDump returns the document of a minidump.
func collectDump(t *testing.T, path string, opts minidump.Options, flags *report.Flags) *report.Document {
	t.Helper()
	dump, err := minidump.Open(path, opts)
	if err != nil {
		t.Fatal(err)
	}
	s := newDumpSource(path, dump, opts.Sysroot, flags)
	defer s.Close()
	doc, _, err := report.Collect(s, flags)
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

// TestMinidumpIsLive: a minidump of LLDB's has the stacks that gdb shows of the process, all
// threads' also where their stacks lie in one mapping. The process lives, so it has not died of the
// SIGSTOP by which LLDB has stopped it.
func TestMinidumpIsLive(t *testing.T) {
	for _, tt := range [][]string{{"threads.c", "5"}, {"stacksinone.c"}, {"sighandler.c", "normal", "middle"}, {"chain.c"}} {
		p := gdbtest.Start(t, gdbtest.Build(t, tt[0], gdbtest.Plain...), tt[1:]...)
		path := commandtest.LLDBDump(t, p.PID)
		want := gdbtest.Backtrace(t, p.PID)
		doc := collectDump(t, path, minidump.Options{}, &report.Flags{})
		commandtest.CompareAll(t, doc, want)
		if doc.CrashReport.Crash != nil || doc.Threads[0].Died {
			t.Errorf("%s died of %+v", tt[0], doc.CrashReport.Crash)
		}
	}
}

// TestMacMinidump: contexts of Breakpad's client on Macs with Intel's processors, whose flags name
// the processor alone, have the frames that minidump_stackwalk has.
func TestMacMinidump(t *testing.T) {
	const base, stack = 0x10000, 0x60000
	for _, tt := range []struct {
		processor uint16
		word      int // bytes
		size      int // of a context, bytes
		flagsAt   int
		flags     uint32
		pc, sp,
		fp int // where a context has them
	}{
		{9, 8, 1232, 48, 0x100000, 248, 152, 160},
		{0, 4, 716, 0, 0x10000, 184, 196, 180},
	} {
		d := dumptest.New()
		d.System(tt.processor, 0x8101, "19H114")
		context, words := make([]byte, tt.size), make([]byte, 0x200)
		for at, v := range map[int]uint32{tt.flagsAt: tt.flags, tt.pc: base + 0x1010, tt.sp: stack + 0x20, tt.fp: stack + 0x40} {
			copy(context[at:], d.U32(v))
		}
		for at, v := range map[int]uint32{0x40: stack + 0x60, 0x40 + tt.word: base + 0x1234, 0x60: stack + 0x80, 0x60 + tt.word: base + 0x2345} {
			copy(words[at:], d.U32(v))
		}
		codeView := append(append([]byte("RSDS"), bytes.Repeat([]byte{1}, 16)...), "\x00\x00\x00\x00prog\x00"...)
		d.Stream(3, d.U32(2), d.Thread(77, stack, words, context), d.Thread(78, stack, words, context))
		d.Stream(4, d.U32(1), d.Module("/Applications/prog", base, 0x10000, codeView))
		d.Stream(6, d.U32(77, 0, 1, 1), d.U64(0, 0x10), d.U32(0, 0), make([]byte, 15*8), d.At(context))
		path := filepath.Join(t.TempDir(), "mac.dmp")
		if err := os.WriteFile(path, d.Bytes(1700000000), 0o600); err != nil {
			t.Fatal(err)
		}
		for thread, want := range stackwalk(t, path, t.TempDir()) {
			var peer []string
			for _, f := range want {
				peer = append(peer, f.record)
			}
			if own := ownRecords(t, path, t.TempDir())[thread]; !slices.Equal(own, peer) || len(own) < 3 {
				t.Errorf("processor %d, thread %s: %q, minidump_stackwalk has %q", tt.processor, thread, own, peer)
			}
		}
	}
}

// TestMinidumpSymbols: where the program's file is not at hand, names, lines and rows come from its
// symbol file.
func TestMinidumpSymbols(t *testing.T) {
	for _, flags := range [][]string{{"-O2", "-fomit-frame-pointer"}, {"-O0"}} {
		program := gdbtest.Build(t, "chain.c", append(flags, "-gdwarf-4", "-static")...)
		store := commandtest.SymbolStore(t, program, commandtest.FunctionsOfNM)
		p := gdbtest.Start(t, program)
		path := commandtest.LLDBDump(t, p.PID)
		needSize(t, path)
		want := gdbtest.Backtrace(t, p.PID)
		empty := minidump.Options{Sysroot: t.TempDir()}
		doc := collectDump(t, path, empty, &report.Flags{Choice: sniffers.Choice{SymbolDirs: store}})
		frames := doc.Threads[0].Frames
		for i, w := range want[0].Frames {
			if i >= len(frames) {
				t.Fatalf("%v: %d frames, gdb has %d", flags, len(frames), len(want[0].Frames))
			}
			if f := &frames[i]; f.PC.V != w.PC || w.Line != 0 && (f.Function != w.Function || f.Line != w.Line) {
				t.Errorf("%v: frame %d: %s at %#x, line %d; gdb has %s at %#x, line %d", flags, i, f.Function, f.PC.V, f.Line, w.Function, w.PC, w.Line)
			}
		}
		if doc.Modules[0].Symbols != "symbols" || doc.Threads[0].Stop != "outermost" {
			t.Errorf("%v: %+v, stop %s", flags, doc.Modules[0], doc.Threads[0].Stop)
		}
		if doc := collectDump(t, path, empty, &report.Flags{}); doc.Modules[0].Symbols != "none" {
			t.Errorf("%v: without symbols: %+v", flags, doc.Modules[0])
		}
	}
}

// TestMinidumpText: the command's text, JSON and --info.
func TestMinidumpText(t *testing.T) {
	p := gdbtest.Start(t, gdbtest.Build(t, "threads.c", gdbtest.Plain...), "3")
	path := commandtest.LLDBDump(t, p.PID)
	out, stderr, err := commandtest.Run("minidump", path)
	if err != nil || !strings.HasPrefix(out, fmt.Sprintf("Process %d (", p.PID)) || !strings.Contains(out, "\nModules:\n  0x") || !strings.Contains(out, "libc.so.6 ") {
		t.Errorf("%v\n%s%s", err, out, stderr)
	}
	out, _, err = commandtest.Run("minidump", path, "--json", "--registers", "--explain")
	if err != nil {
		t.Fatal(err)
	}
	commandtest.InPage(t, "sfwalk minidump", out)
	out, _, err = commandtest.Run("minidump", path, "--info")
	for _, want := range []string{"  ThreadListStream ", "\nSystem: Linux\n", fmt.Sprintf("\nThread %d ", p.PID), " rip 00", "\nModules:\n", "\nMemory in the dump:\n", "\n/proc/PID/maps:\n"} {
		if err != nil || !strings.Contains(out, want) {
			t.Errorf("--info: %v, no %q in\n%s", err, want, out)
		}
	}
}

// TestMinidumpOfMIPS: of a processor whose stacks cannot be walked, the command prints registers
// and modules, and says so.
func TestMinidumpOfMIPS(t *testing.T) {
	d := dumptest.New()
	d.System(1, 0x8203, "Android 4.4")
	context := make([]byte, 608)
	copy(context, d.U32(0x40002))
	copy(context[8+8*29:], d.U64(0x7fff1000))
	copy(context[312:], d.U64(0x401234))
	d.Stream(3, d.U32(2), d.Thread(5, 0x7fff0000, nil, nil), d.Thread(6, 0x7fff1000, make([]byte, 16), context))
	d.Stream(4, d.U32(1), d.Module("/data/app/libx\x1b.so", 0x400000, 0x2000, nil))
	d.Stream(6, d.U32(6, 0, 11, 2), d.U64(0, 0x10), d.U32(0, 0), make([]byte, 15*8), d.U32(0, 0))
	path := filepath.Join(t.TempDir(), "dump")
	if err := os.WriteFile(path, d.Bytes(0), 0o644); err != nil {
		t.Fatal(err)
	}
	out, _, err := commandtest.Run("minidump", path, "--registers")
	for _, want := range []string{
		"Process (/data/app/libx\\x1b.so) died of SIGSEGV (SEGV_ACCERR) at address 0x10\n", "Android 10.0.19042 Android 4.4 on mips, 4 processors\n",
		"Thread 6 died of SIGSEGV\n#0  0x00401234 in ?? (/data/app/libx\\x1b.so+0x1234)\n", "sp      0x7fff1000",
		"stop: unavailable (it is of processor mips: its stacks cannot be walked)\n\nThread 5\nstop: the dump has no registers of the thread\n",
		"  0x00400000-0x00402000 /data/app/libx",
	} {
		if !errors.Is(err, exit.ErrEarly) || !strings.Contains(out, want) {
			t.Errorf("%v, no %q in\n%s", err, want, out)
		}
	}
	out, _, err = commandtest.Run("minidump", path, "--json")
	if !errors.Is(err, exit.ErrEarly) {
		t.Error(err)
	}
	commandtest.InPage(t, "sfwalk minidump", out)
}

// TestMinidumpBreakpad: the records of minidump_stackwalk -m have gdb's functions and lines.
func TestMinidumpBreakpad(t *testing.T) {
	program := gdbtest.Build(t, "chain.c", "-O1", "-gdwarf-4", "-static")
	p := gdbtest.Start(t, program)
	path := commandtest.LLDBDump(t, p.PID)
	needSize(t, path)
	want := gdbtest.Backtrace(t, p.PID)[0].Frames
	out, _, err := commandtest.Run("minidump", path, "--format", "breakpad", "--symbols", commandtest.SymbolStore(t, program, commandtest.FunctionsOfNM), "--sysroot", t.TempDir())
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	header, stacks, _ := strings.Cut(out, "\n\n")
	id := regexp.MustCompile(`(?m)^Module\|chain\|\|chain\|[0-9A-F]{32}0\|0x00400000\|0x[0-9a-f]+\|1$`)
	if !strings.HasPrefix(header, "OS|Linux|") || !strings.Contains(header, "\nGPU|||\nCrash|SIG") || !id.MatchString(header) {
		t.Errorf("%s", header)
	}
	lines := strings.Split(strings.TrimSpace(stacks), "\n")
	if len(lines) != len(want) {
		t.Fatalf("%s\ngdb has %d frames", stacks, len(want))
	}
	for i, w := range want {
		fields := strings.Split(lines[i], "|")
		if len(fields) != 7 || fields[0] != "0" || fields[1] != fmt.Sprint(i) || fields[2] != "chain" {
			t.Errorf("%s", lines[i])
			continue
		}
		if w.Line != 0 && (fields[3] != w.Function || filepath.Base(fields[4]) != filepath.Base(w.File) || fields[5] != fmt.Sprint(w.Line)) {
			t.Errorf("%s; gdb has %s at %s:%d", lines[i], w.Function, w.File, w.Line)
		}
	}
	if _, _, err := commandtest.Run("minidump", path, "--format", "xml"); err == nil || !strings.Contains(err.Error(), "--format xml: want sfwalk, or breakpad") {
		t.Error(err)
	}
}

// TestMinidumpPeer compares the records with minidump_stackwalk -m's. SFWALK_MINIDUMPS has the
// dumps, and SFWALK_MINIDUMP_SYMBOLS the folder of their symbols.
func TestMinidumpPeer(t *testing.T) {
	dumps, symbols := strings.Fields(os.Getenv("SFWALK_MINIDUMPS")), os.Getenv("SFWALK_MINIDUMP_SYMBOLS")
	if len(dumps) == 0 {
		gdbtest.Cannot(t, "SFWALK_MINIDUMPS names no dumps")
	}
	peer := gdbtest.Breakpad(t, "minidump_stackwalk")
	for _, path := range dumps {
		want, err := exec.Command(peer, "-m", path, symbols).Output()
		if err != nil {
			t.Errorf("%s: %v", path, err)
			continue
		}
		got, _, err := commandtest.Run("minidump", path, "--format", "breakpad", "--symbols", symbols)
		if err != nil && !errors.Is(err, exit.ErrEarly) {
			t.Errorf("%s: %v", path, err)
		}
		header, stacks, _ := strings.Cut(string(want), "\n\n")
		ownHeader, own, _ := strings.Cut(got, "\n\n")
		if header != ownHeader {
			t.Errorf("%s:\n%s\nthe peer has\n%s", path, ownHeader, header)
		}
		same := 0
		for _, line := range strings.Split(stacks, "\n") {
			if line != "" && strings.Contains("\n"+own, "\n"+line+"\n") {
				same++
			}
		}
		t.Logf("%s: %d frames, the peer has %d, %d are the same", filepath.Base(path), strings.Count(own, "\n"), strings.Count(stacks, "\n"), same)
	}
}
