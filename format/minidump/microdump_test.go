package minidump

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/bounds"
	"github.com/sfwalk/sfwalk/internal/test/dumptest"
)

// logged is a log with three microdumps, as logcat and other writers print them: of amd64, of arm64
// and cut short.
func logged() string {
	d := dumptest.New()
	var b strings.Builder
	line := func(pid int, format string, args ...any) {
		fmt.Fprintf(&b, "01-25 09:57:54.139 F/google-breakpad(%d): %s\r\n", pid, fmt.Sprintf(format, args...))
	}
	b.WriteString("01-25 an app's own line: S 0 1 2 3\n")
	for i, x := range []struct {
		os, processor string
		context       []byte
	}{{"L", "x86_64", d.AMD64(0x401234, 0x7010, 0x7020)}, {"A", "arm64", d.ARM64(0x401238, 0x7018, 0x7028, 5)}} {
		pid := 4711 + i
		line(pid, "-----BEGIN BREAKPAD MICRODUMP-----")
		line(pid, "V Chrome_Android:49.0.2623.15")
		line(pid, "O %s %s 0a armv8l vendor/device:5.0 release-keys", x.os, x.processor)
		line(pid, "P webview")
		line(pid, "R 0000000B SIGSEGV 00000010")
		line(pid, "G OpenGL ES 3.0|Qualcomm|Adreno")
		line(pid, "S 0 7010 7000 20")
		line(pid, "S 7000 %x", "0123456789abcdef")
		b.WriteString("another app's line\n")
		line(pid, "S 7010 %X", "ghijklmnopqrstuv")
		line(pid, "C %X", x.context)
		line(pid, "M 400000 0 5000 AF112233445566778899AABBCCDDEEFF0 lib with blanks.so")
		line(pid, "M broken")
		line(pid, "X of a later version")
		line(pid, "-----END BREAKPAD MICRODUMP-----")
	}
	line(4713, "-----BEGIN BREAKPAD MICRODUMP-----")
	line(4713, "O A mips 02 mips")
	return b.String()
}

func TestMicrodumps(t *testing.T) {
	list, err := ReadMicrodumps(strings.NewReader(logged()))
	if err != nil || len(list) != 3 {
		t.Fatalf("%d microdumps, %v", len(list), err)
	}
	for i, want := range []struct {
		system, pc string
		values     [2]uint64
	}{{"Linux amd64 10", "rip", [2]uint64{0x401234, 0x7010}}, {"Android arm64 10", "pc", [2]uint64{0x401238, 0x7018}}} {
		f := list[i]
		if got := fmt.Sprint(f.System.OS, " ", f.System.Processor, " ", f.System.Processors); got != want.system || f.System.Release() != "vendor/device:5.0 release-keys" {
			t.Errorf("%s, %s; want %s", got, f.System.Release(), want.system)
		}
		if f.PID() != 4711+i || f.Reason() != "SIGSEGV / 0x00000000" || f.CrashAddress() != 0x10 {
			t.Errorf("process %d, %s at %#x", f.PID(), f.Reason(), f.CrashAddress())
		}
		regs, err := f.Registers(f.Threads[0].Context)
		values := map[string]uint64{}
		for _, r := range regs {
			values[strings.TrimPrefix(r.Name, "r")] = r.Value
		}
		if got := [2]uint64{values[strings.TrimPrefix(want.pc, "r")], values["sp"]}; err != nil || got != want.values {
			t.Errorf("%#x, %v; want %#x", got, err, want.values)
		}
		if f.System.Graphics != "OpenGL ES 3.0|Qualcomm|Adreno" {
			t.Errorf("graphics %q", f.System.Graphics)
		}
		m := &f.Modules[0]
		if len(f.Modules) != 1 || m.Name != "lib with blanks.so" || m.Base != 0x400000 || m.Size != 0x5000 || m.DebugID(f) != "AF112233445566778899AABBCCDDEEFF0" || m.DebugFile() != m.Name {
			t.Errorf("%+v", f.Modules)
		}
		b := make([]byte, 32)
		if r := f.Ranges(); len(r) != 1 || r[0].Lo != 0x7000 || r[0].Size != 32 {
			t.Errorf("%+v", r)
		} else if f.Reader().ReadAt(b, int64(r[0].Offset)); string(b) != "0123456789abcdefghijklmnopqrstuv" {
			t.Errorf("stack %q", b)
		}
		if want := []Annotation{{"version", "Chrome_Android:49.0.2623.15"}, {"process", "webview"}}; !reflect.DeepEqual(f.Annotations, want) {
			t.Errorf("%+v", f.Annotations)
		}
		if len(f.Warnings) != 1 || !strings.Contains(f.Warnings[0], `"M broken"`) {
			t.Errorf("%q", f.Warnings)
		}
	}
	if f := list[2]; f.System.Processor != MIPS || f.Threads[0].Context.Size != 0 {
		t.Errorf("cut short: %+v", f)
	}
	if _, err := ReadMicrodumps(strings.NewReader(strings.Repeat("\x00", 2*maxLine))); !errors.Is(err, ErrNot) {
		t.Errorf("no log, which has no lines: %v", err)
	}
	if _, err := ReadMicrodumps(strings.NewReader("google-breakpad: nothing\n")); !errors.Is(err, ErrNot) {
		t.Error(err)
	}
}

func FuzzMicrodumps(f *testing.F) {
	f.Add([]byte(logged()))
	f.Add([]byte("google-breakpad(1): -----BEGIN BREAKPAD MICRODUMP-----\ngoogle-breakpad(1): S ffffffffffffffff 00\ngoogle-breakpad(1): M 0 0 ffffffffffffffff A a\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		bounds.Hold(t, 4<<20+64*len(data), func() {
			list, _ := ReadMicrodumps(strings.NewReader(string(data)))
			for _, d := range list {
				d.Registers(d.Threads[0].Context)
				d.Ranges()
				d.Reason()
			}
		})
	})
}
