package remote

import (
	"fmt"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/internal/test/bounds"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
)

// gdbLayout returns where gdb has a target's registers: by name the number, the offset in g, and
// the size.
func gdbLayout(t *testing.T, commands ...string) map[string][3]int {
	t.Helper()
	args := []string{"-nx", "-batch"}
	for _, c := range append(commands, "maint print remote-registers") {
		args = append(args, "-ex", c)
	}
	out, err := exec.Command(gdbtest.Tool(t, "gdb-multiarch"), args...).CombinedOutput()
	if err != nil {
		t.Fatalf("gdb-multiarch: %v\n%s", err, out)
	}
	// Name Nr Rel Offset Size Type Rmt-Nr g/G-Offset
	line := regexp.MustCompile(`(?m)^ *(\S+) +\d+ +\d+ +\d+ +(\d+) +\S+ +(\d+) +(\d+)`)
	list := map[string][3]int{}
	for _, m := range line.FindAllStringSubmatch(string(out), -1) {
		var n [3]int
		for i, text := range []string{m[3], m[4], m[2]} {
			n[i], _ = strconv.Atoi(text)
		}
		list[m[1]] = n
	}
	if len(list) < 20 {
		t.Fatalf("gdb-multiarch: %s", out)
	}
	return list
}

// compareLayout compares l with gdb's layout.
func compareLayout(t *testing.T, a *arch.Arch, l *layout, want map[string][3]int) {
	t.Helper()
	for _, p := range l.regs {
		name := a.RegName(p.reg)
		w, ok := want[name]
		if !ok && name[0] == 'd' {
			if w, ok = want["v"+name[1:]]; !ok || w == [3]int{} {
				w, ok = want["z"+name[1:]] // on processors with scalable registers, v8 is a part of z8
			}
		}
		if name == "tpidr" && !ok {
			w, ok = want["TPIDR_EL0"] // qemu's name
		}
		if name == "vg" || name == "tpidr" {
			// gdb 13 assumes that qemu's predicate registers, which come before it, are larger than
			// they are. This register is read by p, not from g.
			w[1] = p.off
		}
		if !ok || w != [3]int{p.num, p.off, p.bytes} {
			t.Errorf("%s %s: number, offset and size %d, %d, %d; gdb has %v", a.Name, name, p.num, p.off, p.bytes, w)
		}
	}
	if len(l.regs) < 18 {
		t.Errorf("%s: only %d registers", a.Name, len(l.regs))
	}
	t.Logf("%s: %d registers", a.Name, len(l.regs))
}

// A stub that describes nothing has the registers that gdb takes for granted.
func TestUndescribedLayout(t *testing.T) {
	for name, bfd := range map[string]string{"amd64": "i386:x86-64", "arm64": "aarch64", "s390x": "s390:64-bit"} {
		a := arch.ByName(name)
		l, err := newLayout(a, undescribed(a))
		if err != nil {
			t.Fatal(err)
		}
		compareLayout(t, a, l, gdbLayout(t, "set architecture "+bfd))
	}
}

// The values of registers, in either byte order.
func TestValue(t *testing.T) {
	for _, tt := range []struct {
		arch, text string
		want       uint64
		ok         bool
	}{
		{"amd64", "1122334455667788", 0x8877665544332211, true},
		{"s390x", "1122334455667788", 0x1122334455667788, true},
		{"s390x", "80000001", 0x80000001, true},
		{"arm64", "01000000", 1, true},
		{"arm64", "0123456789abcdef" + "ff00000000000000", 0xefcdab8967452301, true},        // v8, whose low half is d8
		{"arm64", "0123456789abcdef" + strings.Repeat("ff", 248), 0xefcdab8967452301, true}, // z8, the longest
		{"arm64", "0123456789abcdef" + strings.Repeat("ff", 249), 0, false},
		{"amd64", strings.Repeat("x", 16), 0, false},
		{"amd64", "", 0, false},
	} {
		if v, ok := value(arch.ByName(tt.arch), []byte(tt.text)); v != tt.want || ok != tt.ok {
			t.Errorf("%s %q: %#x, %v", tt.arch, tt.text, v, ok)
		}
	}
}

func FuzzDescription(f *testing.F) {
	f.Add(`<target><architecture>aarch64</architecture><reg name="x0" bitsize="64"/><xi:include href="target.xml"/></target>`, "")
	f.Add(`<?xml version="1.0"?><!DOCTYPE target SYSTEM "gdb-target.dtd"><target><xi:include href="a.xml"/></target>`, `<feature><reg name="pswa" bitsize="64" regnum="1"/></feature>`)
	f.Add(`<?xml version="1.0"?><target version="1.0"><architecture>x86_64</architecture><feature>`+
		`<reg name="rax" bitsize="64" regnum="0" offset="0"/><reg name="rflags" bitsize="64" regnum="17" offset="136"/>`+
		`<reg name="eax" bitsize="32" regnum="31" offset="0" value_regnums="0"/>`+
		`<reg name="ymm0" bitsize="256" regnum="119" offset="576"/></feature></target>`, "")
	f.Fuzz(func(t *testing.T, main, part string) {
		bounds.Hold(t, 4<<20+1024*(len(main)+len(part)), func() { checkDescription(t, main, part) })
	})
}

// checkDescription reads a description of two files, and registers laid out as it says.
func checkDescription(t *testing.T, main, part string) {
	d, err := readDescription(func(annex string) ([]byte, error) {
		if annex == "target.xml" {
			return []byte(main), nil
		}
		return []byte(part), nil
	})
	if err != nil {
		return
	}
	for _, name := range []string{"amd64", "arm64", "s390x"} {
		a := arch.ByName(name)
		l, err := newLayout(a, d.regs)
		if err != nil {
			continue
		}
		var r arch.Registers
		behind := l.get(a, []byte(strings.Repeat("5a", 300)), &r)
		if len(behind)+r.Known.Len() < len(l.regs) {
			t.Error(fmt.Sprint("registers are lost: ", len(behind), r.Known.Len(), len(l.regs)))
		}
	}
}
