package minidump

import (
	"encoding/binary"
	"reflect"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/dumptest"
)

// lldbException returns an exception as LLDB 21 writes it (MinidumpFileBuilder::AddExceptions): its
// flags are "LLDB", its words stand in place of parameters, and its address is the PC.
func lldbException(d *dumptest.Dump, thread, code uint32, words string, context []byte) []byte {
	text := append([]byte(words), make([]byte, 15*8-len(words))...)
	return dumptest.Join(d.U32(thread, 0, code, 0x4c4c4442), d.U64(0, 0x401000), d.U32(1, 0), text, context)
}

// lldbDump returns a dump as LLDB 21 writes it of threads 31 to 33, whose stacks lie in one
// mapping. The list of threads has 33 twice, and lacks 32, whose exception has a code and words.
func lldbDump(code uint32, words string) []byte {
	d := dumptest.New()
	d.System(9, 0x8201, "")
	first, second, third := d.At(d.AMD64(0x1001, 2, 3)), d.At(d.AMD64(0x1002, 2, 3)), d.At(d.AMD64(0x1003, 2, 3))
	record := func(id uint32, stack, context []byte) []byte {
		return dumptest.Join(d.U32(id, 0, 0, 0), d.U64(0, 0x5000), stack, context)
	}
	stack := d.At([]byte("the stack of 33"))
	d.Stream(3, d.U32(3), record(33, d.U32(0, 0), third), record(31, d.U32(0, 0), first), record(33, stack, third))
	d.Stream(6, lldbException(d, 31, 19, "signal SIGSTOP", first))
	d.Stream(6, lldbException(d, 32, code, words, second))
	d.Stream(6, lldbException(d, 33, 17, "signal SIGCHLD", third))
	return d.Bytes(1)
}

// TestLLDB: of a thread that is listed twice, one record counts. One that is not listed is known by
// its exception.
func TestLLDB(t *testing.T) {
	for _, tt := range []struct {
		code    uint32
		words   string
		died    bool
		reason  string
		address uint64
	}{
		{19, "signal SIGSTOP", false, "SIGSTOP", 0x401000},
		{2, "breakpoint 1.1", false, "breakpoint 1.1", 0x401000}, // the code counts breakpoints
		{11, "signal SIGSEGV: address not mapped to object (fault address=0x45)", true, "SIGSEGV: address not mapped to object", 0x45},
		{6, "signal SIGABRT", true, "SIGABRT", 0x401000},
	} {
		f := read(t, lldbDump(tt.code, tt.words))
		var ids []uint32
		var pcs []uint64
		for i := range f.Threads {
			ids = append(ids, f.Threads[i].ID)
			regs, err := f.Registers(f.ContextOf(&f.Threads[i]))
			if err != nil {
				t.Fatal(err)
			}
			for _, r := range regs {
				if r.Name == "rip" {
					pcs = append(pcs, r.Value)
				}
			}
		}
		if !reflect.DeepEqual(ids, []uint32{33, 31, 32}) || !reflect.DeepEqual(pcs, []uint64{0x1003, 0x1001, 0x1002}) {
			t.Errorf("threads %d at %#x", ids, pcs)
		}
		if f.Threads[0].Stack.Size == 0 || len(f.Warnings) != 2 {
			t.Errorf("a stack of %d bytes, warnings %q", f.Threads[0].Stack.Size, f.Warnings)
		}
		x := &f.Exceptions[1]
		if got := []any{f.ReasonOf(x), f.AddressOf(x), f.Died()}; !reflect.DeepEqual(got, []any{tt.reason, tt.address, tt.died}) {
			t.Errorf("%s: %v", tt.words, got)
		}
		if tt.died != (f.Exception == x) || len(f.Exceptions) != 3 {
			t.Errorf("%s: the dump's exception is %+v of %d", tt.words, f.Exception, len(f.Exceptions))
		}
	}
}

// TestDied: what ends no process by the manuals of the systems and of Crashpad, and what does.
func TestDied(t *testing.T) {
	for _, tt := range []struct {
		os   OS
		code uint32
		died bool
	}{
		{LinuxOS, 19, false}, {LinuxOS, 18, false}, {Android, 20, false}, {LinuxOS, 0xffffffff, false}, {LinuxOS, 5, true}, {LinuxOS, 11, true}, {LinuxOS, 9, true},
		{Windows, 0x517a7ed, false}, {Windows, 0xc0000005, true}, {Windows, 19, true}, {MacOS, 0x43507378, false}, {MacOS, 1, true}, {Solaris, 11, true},
	} {
		f := &File{System: System{Known: true, OS: tt.os}, Exception: &Exception{Code: tt.code}}
		if f.Died() != tt.died {
			t.Errorf("%v %#x: %v", tt.os, tt.code, f.Died())
		}
	}
}

// TestContextsWithoutGroups: a context whose flags name the processor alone, as Breakpad's client
// on Macs with Intel's processors writes them, has the registers that the same context has with all
// flags.
func TestContextsWithoutGroups(t *testing.T) {
	for p, l := range layouts() {
		context := make([]byte, 2048)
		for i := range context {
			context[i] = byte(i)
		}
		registers := func(flags uint32) []Register {
			binary.LittleEndian.PutUint32(context[l.flagsAt:], flags)
			binary.LittleEndian.PutUint32(context[l.flagsAt+4:], 0)
			d := dumptest.New()
			d.System(uint16(p), 0x8101, "")
			d.Stream(3, d.U32(1), d.Thread(1, 0x1000, nil, context))
			f := read(t, d.Bytes(1))
			list, err := f.Registers(f.Threads[0].Context)
			if err != nil {
				t.Errorf("%v, flags %#x: %v", p, flags, err)
			}
			return list
		}
		if bare, all := registers(l.cpu), registers(l.cpu|0x3f); !reflect.DeepEqual(bare, all) || len(bare) < 10 {
			t.Errorf("%v: %v, with all flags %v", p, bare, all)
		}
		if some := registers(l.cpu | control); p == AMD64 && (len(some) != 5 || !strings.HasSuffix(some[4].Name, "ip")) {
			t.Errorf("%v: %v of the control registers", p, some)
		}
	}
}
