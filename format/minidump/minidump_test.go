package minidump

import (
	"bytes"
	"encoding/binary"
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/sfwalk/sfwalk/internal/test/dumptest"
)

// testDump is a dump with a stream of each kind that is read.
func testDump(order interface {
	binary.ByteOrder
	binary.AppendByteOrder
}) []byte {
	d := dumptest.New()
	d.Order = order
	d.System(9, 2, "Service Pack 1")
	context := d.At(d.AMD64(0x7ff600001234, 0x1008, 0x2000))
	d.Stream(3, d.U32(2),
		d.Thread(77, 0x1000, []byte("stack of the first thread"), d.AMD64(1, 2, 3)),
		d.Thread(78, 0x5000, []byte("stack"), nil))
	d.Stream(24, d.U32(2), d.U32(78), d.U64(uint64(d.Text("worker é"))), d.U32(99), d.U64(uint64(d.Text("of nobody"))))
	guid := dumptest.Join(d.U32(0x11223344), d.U16(0x5566, 0x7788), []byte{0x99, 0xaa, 0xbb, 0xcc, 0xdd, 0xee, 0xff, 0})
	d.Stream(4, d.U32(3, 0), // with padding
		d.Module(`C:\app\main.exe`, 0x7ff600000000, 0x5000, dumptest.Join(d.U32(0x53445352), guid, d.U32(26), []byte("C:\\b\\main.pdb\x00"))),
		d.Module("/usr/lib/libx.so", 0x7ff700000000, 0x6000, dumptest.Join(d.U32(0x4270454c), []byte{0x44, 0x33, 0x22, 0x11, 0x66, 0x55, 0x88, 0x77, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12})),
		d.Module("old.dll", 0x10000, 0x1000, dumptest.Join(d.U32(0x3031424e, 0, 0x40000000, 3), []byte("old.pdb\x00"))))
	d.Stream(14, d.U32(12, 24, 1), d.U64(0x20000), d.U32(0x3000, 0, 5, d.Text("gone.dll")))
	d.Stream(5, d.U32(1), d.U64(0x9000), d.At([]byte("in a list")))
	d.Stream(9, d.U64(2, uint64(d.Put([]byte("firstsecond")))), d.U64(0xa000, 5, 0xb000, 6))
	d.Stream(16, d.U32(16, 48), d.U64(1), d.U64(0xc000, 0xc000), d.U32(0x20, 0), d.U64(0x2000), d.U32(0x1000, 0x20, 0x20000, 0))
	d.Stream(6, d.U32(77, 0, 0xc0000005, 0), d.U64(0, 0x7ff600001234), d.U32(2, 0), d.U64(1, 0x45), make([]byte, 13*8), context)
	d.Stream(15, d.U32(24, 3, 4242, 1600000000, 5, 6))
	d.Stream(0x47670001, d.U32(3, 78, 77))
	wide := func(s string) []byte {
		b := make([]byte, 256)
		for i, c := range s {
			copy(b[2*i:], d.U16(uint16(c)))
		}
		return b
	}
	d.Stream(0x47670002, wide("p != 0"), wide("f"), wide("f.cc"), d.U32(12, 1))
	d.Stream(0x47670004, []byte("Name:\tx\nTgid:\t4711\n"))
	d.Stream(0x47670009, []byte("00400000-00401000 r-xp 00000000 08:01 5 /bin/x\n"))
	pair := d.At(dumptest.Join(d.U32(1), d.U32(d.UTF8("key"), d.UTF8("value"))))
	texts := d.At(d.U32(1, d.UTF8("a text")))
	objects := d.At(dumptest.Join(d.U32(2), d.U32(d.UTF8("object")), d.U16(1, 0), d.U32(d.UTF8("of text")), d.U32(d.UTF8("other")), d.U16(2, 0), d.U32(d.UTF8("?"))))
	info := d.At(dumptest.Join(d.U32(1), texts, pair, objects))
	d.Stream(0x43500001, d.U32(1), guid, guid, pair, d.At(dumptest.Join(d.U32(1, 1), info)), d.U32(0), d.U64(0x7fffffffff))
	d.Stream(10, []byte("a comment\x00"))
	return d.Bytes(1700000000)
}

func read(t *testing.T, b []byte) *File {
	t.Helper()
	f, err := Read(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// TestRead reads a dump that has all streams, in both byte orders.
func TestRead(t *testing.T) {
	for _, order := range []interface {
		binary.ByteOrder
		binary.AppendByteOrder
	}{binary.LittleEndian, binary.BigEndian} {
		f := read(t, testDump(order))
		if len(f.Warnings) > 0 || f.Order.String() != order.String() || !f.Time.Equal(time.Unix(1700000000, 0)) || f.Flags != 0x800 {
			t.Errorf("%v, %v, %#x, warnings %q", f.Order, f.Time, f.Flags, f.Warnings)
		}
		equal := func(what string, got, want any) {
			t.Helper()
			if !reflect.DeepEqual(got, want) {
				t.Errorf("%v: %s: %+v, want %+v", order, what, got, want)
			}
		}
		s := &f.System
		equal("system", []any{s.OS.String(), s.Processor.String(), s.Release(), s.Describe(), s.Processors},
			[]any{"Windows NT", "amd64", "10.0.19042 Service Pack 1", "family 6 model 23 stepping 3", 4})
		equal("threads", []any{f.Threads[0].ID, f.Threads[0].Name, f.Threads[0].Stack.Lo, f.Threads[0].TEB, f.Threads[1].ID, f.Threads[1].Name},
			[]any{uint32(77), "", uint64(0x1000), uint64(0x7ff000), uint32(78), "worker é"})
		for i, want := range [][]string{
			{`C:\app\main.exe`, `C:\b\main.pdb`, "1122334455667788" + "99AABBCCDDEEFF00" + "1a", "5F0000005000", "10.1.7.2"},
			{"/usr/lib/libx.so", "/usr/lib/libx.so", "", "5F0000006000", "10.1.7.2"},
			{"old.dll", "old.pdb", "400000003", "5F0000001000", "10.1.7.2"},
		} {
			m := &f.Modules[i]
			got := []string{m.Name, m.DebugFile(), m.DebugID(f), m.CodeID(f), m.Version}
			if i == 1 {
				got[2] = "" // the number depends on the byte order
			}
			equal("module", got, want)
		}
		if order == interface{}(binary.LittleEndian) {
			equal("build ID's identifier", f.Modules[1].DebugID(f), "112233445566778801020304050607080")
			f.System.OS = LinuxOS
			equal("build ID", f.Modules[1].CodeID(f), "44332211665588770102030405060708090a0b0c")
			f.System.OS = Windows
		}
		equal("annotations", f.Modules[1].Annotations, []Annotation{{"", "a text"}, {"key", "value"}, {"object", "of text"}})
		equal("unloaded", f.Unloaded, []Unloaded{{"gone.dll", 0x20000, 0x3000, 5}})
		equal("region", f.Regions, []Region{{0xc000, 0x2000, 0x1000, 0x20, 0x20000}})
		equal("executable", f.Regions[0].Executable(), true)
		equal("exception", []any{f.Reason(), f.CrashAddress(), f.Exception.Thread, f.Exception.Params},
			[]any{"EXCEPTION_ACCESS_VIOLATION_WRITE", uint64(0x45), uint32(77), []uint64{1, 0x45}})
		equal("process", []any{f.PID(), f.Misc.Created.Unix(), f.Misc.User, f.Misc.Kernel}, []any{4242, int64(1600000000), uint32(5), uint32(6)})
		equal("writer", f.Breakpad, BreakpadInfo{78, 77})
		equal("assertion", *f.Assertion, Assertion{"p != 0", "f", "f.cc", 12, 1})
		equal("crashpad", *f.Crashpad, Crashpad{"11223344-5566-7788-99aa-bbccddeeff00", "11223344-5566-7788-99aa-bbccddeeff00", 0x7fffffffff})
		equal("annotations of the process", f.Annotations, []Annotation{{"key", "value"}})
		equal("comment", f.Comment, "a comment")
		equal("maps", strings.HasPrefix(string(f.Linux.Maps), "00400000-"), true)

		var texts []string
		for _, r := range f.Ranges() {
			b := make([]byte, r.Size)
			f.Reader().ReadAt(b, int64(r.Offset))
			texts = append(texts, string(b))
		}
		equal("memory", texts, []string{"stack of the first thread", "stack", "in a list", "first", "second"})
		regs, err := f.Registers(f.Exception.Context)
		values := map[string]uint64{}
		for _, r := range regs {
			values[r.Name] = r.Value
		}
		equal("registers", []any{err, values["rip"], values["rsp"], values["rbp"], values["rax"], values["r15"], values["cs"]},
			[]any{nil, uint64(0x7ff600001234), uint64(0x1008), uint64(0x2000), uint64(0), uint64(0xf000), uint64(0x33)})
		if _, err := f.Registers(f.Threads[1].Context); err == nil {
			t.Error("registers of a thread that has none")
		}
	}
}

// TestReasons: what processes died of, in the words of their systems' headers.
func TestReasons(t *testing.T) {
	for _, tt := range []struct {
		os    OS
		p     Processor
		code  uint32
		flags uint32
		param uint64
		want  string
	}{
		{LinuxOS, AMD64, 11, 1, 0, "SIGSEGV / SEGV_MAPERR"},
		{Android, ARM64, 11, 2, 0, "SIGSEGV / SEGV_ACCERR"},
		{LinuxOS, AMD64, 11, 128, 0, "SIGSEGV / 0x00000080"},
		{LinuxOS, AMD64, 6, 0xfffffffa, 0, "SIGABRT"},
		{LinuxOS, AMD64, 8, 1, 0, "SIGFPE / FPE_INTDIV"},
		{LinuxOS, AMD64, 0xffffffff, 0, 0, "DUMP_REQUESTED"},
		{LinuxOS, AMD64, 200, 5, 0, "0x000000c8 / 0x00000005"},
		{Windows, AMD64, 0xc0000005, 0, 8, "EXCEPTION_ACCESS_VIOLATION_EXEC"},
		{Windows, AMD64, 0xc0000006, 0, 1, "EXCEPTION_IN_PAGE_ERROR_WRITE"},
		{Windows, AMD64, 0xc0000409, 0, 7, "FAST_FAIL_FATAL_APP_EXIT"},
		{Windows, AMD64, 0xc0000409, 0, 0, "EXCEPTION_STACK_BUFFER_OVERRUN"},
		{Windows, X86, 0xc00000fd, 1, 0, "EXCEPTION_STACK_OVERFLOW"},
		{MacOS, AMD64, 1, 13, 0, "EXC_BAD_ACCESS / EXC_I386_GPFLT"},
		{MacOS, ARM64, 1, 1, 0, "EXC_BAD_ACCESS / KERN_INVALID_ADDRESS"},
		{MacOS, ARM64, 6, 1, 0, "EXC_BREAKPOINT / EXC_ARM_BREAKPOINT"},
		{IOS, ARM64, 5, 0x10002, 0, "EXC_SOFTWARE / SIGABRT"},
		{Fuchsia, AMD64, 0x108, 3, 0, "FATAL_PAGE_FAULT / 0x00000003"},
	} {
		f := &File{System: System{Known: true, OS: tt.os, Processor: tt.p}, Exception: &Exception{Code: tt.code, Flags: tt.flags, Params: []uint64{tt.param}}}
		if got := f.Reason(); got != tt.want {
			t.Errorf("%v %#x: %s, want %s", tt.os, tt.code, got, tt.want)
		}
	}
	f := &File{System: System{Known: true, OS: LinuxOS, Processor: X86}, Exception: &Exception{Address: 0xffffffff41414141}}
	if f.CrashAddress() != 0x41414141 {
		t.Errorf("%#x of a processor of 32 bits", f.CrashAddress())
	}
}

// TestDescribeARM: what Breakpad says of a Cortex-A9.
func TestDescribeARM(t *testing.T) {
	s := System{Processor: ARM, Level: 7, armID: 0x413fc090, armFeatures: 1<<0 | 1<<2 | 1<<12}
	if got, want := s.Describe(), "ARMv7 ARM Cortex-A9 features: swp,thumb,neon"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	s = System{Processor: ARM, Level: 8, armID: 0x51af8014}
	if got, want := s.Describe(), "ARMv8 Qualcomm part(0x51008010)"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestRanges: ranges that overlap, end behind the file or around the end of the addresses, are cut.
func TestRanges(t *testing.T) {
	f := &File{r: &reader{size: 100}, Memory: []Range{
		{50, Location{20, 0}}, {40, Location{20, 30}}, {60, Location{5, 5}}, {200, Location{50, 90}}, {300, Location{5, 100}}, {^uint64(0) - 3, Location{20, 10}}, {400, Location{0, 0}},
	}}
	want := []Range{{40, Location{20, 30}}, {60, Location{10, 10}}, {200, Location{10, 90}}, {^uint64(0) - 3, Location{4, 10}}}
	if got := f.Ranges(); !reflect.DeepEqual(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// TestBroken: what is no dump is refused, and what is broken in one costs itself.
func TestBroken(t *testing.T) {
	whole := testDump(binary.LittleEndian)
	for _, b := range [][]byte{nil, []byte("MDMP"), []byte("\x7fELF plus enough bytes for a header of a dump"), append([]byte("MDMP\x93\xa8"), make([]byte, 40)...)} {
		if _, err := Read(bytes.NewReader(b), int64(len(b))); !errors.Is(err, ErrNot) {
			t.Errorf("%q: %v", b, err)
		}
	}
	for cut := 500; cut < len(whole); cut += 97 {
		f := read(t, whole[:cut])
		if cut < len(whole)-200 && len(f.Warnings) == 0 {
			t.Errorf("cut at %d: no warning", cut)
		}
	}
	bad := bytes.Clone(whole)
	f := read(t, whole)
	s, _ := f.Stream(ThreadList)
	binary.LittleEndian.PutUint32(bad[s.Offset:], 1<<30)
	if f := read(t, bad); len(f.Threads) != 1 || f.Threads[0].ID != 77 || len(f.Modules) != 3 || len(f.Warnings) != 2 || !strings.HasPrefix(f.Warnings[0], "ThreadListStream: 1073741824 entries") {
		t.Errorf("%d threads, %d modules, %q", len(f.Threads), len(f.Modules), f.Warnings)
	}
}

// Of many warnings, the first ones are kept, and it is said that there are more.
func TestManyWarnings(t *testing.T) {
	for _, n := range []int{maxWarnings, maxWarnings + 1, 2 * maxWarnings} {
		var f File
		for i := range n {
			f.warn("stream %d is broken", i)
		}
		if last := f.Warnings[len(f.Warnings)-1]; len(f.Warnings) != min(n, maxWarnings+1) || strings.Contains(last, "more warnings") != (n > maxWarnings) {
			t.Errorf("of %d, %d are kept, the last is %q", n, len(f.Warnings), last)
		}
	}
}
