package remote

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
	"github.com/sfwalk/sfwalk/target"
)

func TestDescribesItself(t *testing.T) {
	s := sleepy()
	tg, err := s.dial(t, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer tg.Close()
	threads, _ := tg.Threads()
	if tg.PID != 0x2a || tg.StopSignal != 5 || tg.StopName != "SIGTRAP" || tg.Running || tg.Arch().Name != "amd64" || len(threads) != 2 {
		t.Errorf("target %+v", tg)
	}
	first, second := threads[0].(*Thread), threads[1].(*Thread)
	if first.ID() != 0x2b || first.Name() != "main" || !first.Current || second.ID() != 0x2c || second.Name() != "w&er" || second.Current {
		t.Errorf("threads %+v, %+v", first, second)
	}
	var r arch.Registers
	if err := second.Registers(&r); err != nil {
		t.Fatal(err)
	}
	if pc, ok := r.Get(tg.Arch().PC); !ok || pc != 0x401000 {
		t.Errorf("PC %#x, %v", pc, ok)
	}
	// gdb's classic g ends with the segment registers. Their bases are asked for, one by one, only
	// if the stub has them.
	if got := strings.Join(s.packets(), " "); !strings.Contains(got, "Hgp2a.2c g") {
		t.Errorf("packets %s", got)
	}
}

// An answer may come in every way: run lengths, escapes, notifications and noise before it, a wrong
// checksum at first.
func TestWire(t *testing.T) {
	const text = "T05thread:p2a.2b;"
	for name, wire := range map[string]string{
		"run length":      "$T05thread:p2a.2b;0*\x22#" + string(hexByte(sum([]byte("T05thread:p2a.2b;0*\x22")))),
		"escape":          "$T05thread:}\x502a.2b;#" + string(hexByte(sum([]byte("T05thread:}\x502a.2b;")))),
		"notification":    "%Stop:T05thread:p1.1;#00" + string(frame(text)),
		"noise":           "+++garbage+" + string(frame(text)),
		"output":          string(frame("O48656c6c6f")) + string(frame(text)),
		"upper-case sum":  "$" + text + "#" + strings.ToUpper(string(hexByte(sum([]byte(text))))),
		"wrong, then not": "$" + text + "#00" + string(frame(text)),
	} {
		s := sleepy()
		s.answer = func(packet string) any {
			if packet == "?" {
				return raw(wire)
			}
			return nil
		}
		tg, err := s.dial(t, Options{})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if tg.PID != 0x2a || tg.StopSignal != 5 {
			t.Errorf("%s: process %d, signal %d", name, tg.PID, tg.StopSignal)
		}
		tg.Close()
	}
}

func TestNoAckMode(t *testing.T) {
	s := sleepy()
	s.answers["qSupported*"] += ";QStartNoAckMode+"
	s.answers["QStartNoAckMode"] = "OK"
	tg, err := s.dial(t, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if !tg.s.link.noAck || tg.PID != 0x2a {
		t.Errorf("acknowledgements are still on, process %d", tg.PID)
	}
	tg.Close()
}

// Whenever a stub stops answering, hangs up, or lies, an error says what was asked for.
func TestBadStubs(t *testing.T) {
	long := strings.Repeat("x", maxReply+1)
	for _, tt := range []struct {
		name, packet string
		answer       any
		want         string // part of the error, either Dial's or the one when registers are first read
	}{
		{"silent at first", "qSupported", silent{}, "no answer in 300ms to qSupported: is it a GDB stub?"},
		{"silent on threads", "qXfer:threads", silent{}, "read threads: no answer in 300ms"},
		{"silent on registers", "g", silent{}, "registers of thread 43: no answer in 300ms"},
		{"hangs up at first", "qSupported", hangUp{}, "the stub hung up"},
		{"hangs up later", "qXfer:features", hangUp{}, "the stub hung up"},
		{"hangs up on registers", "g", hangUp{}, "the stub hung up"},
		{"has no process", "?", "W00", `the target has ended ("W00")`},
		{"was killed", "?", "X09;process:2a", "the target has ended"},
		{"has an error", "?", "E01", "the stub has no target"},
		{"knows no ?", "?", "", "does not tell whether the target is stopped"},
		{"answers nonsense", "?", "hello", `answers "hello" where a stop reply was expected`},
		{"bad thread", "?", "T05thread:pzz.1;", `thread "pzz.1"`},
		{"tiny packets", "qSupported", "PacketSize=1", `the stub's packets have "1" bytes`},
		{"long packets", "qSupported", "PacketSize=fffffffffffffffff", "bytes: want"},
		{"endless packet", "?", raw("$" + long), "is longer than 1048576 bytes"},
		{"endless noise", "?", raw(strings.Repeat("+", maxNoise+1)), "sends no packets"},
		{"wrong checksums", "?", raw(strings.Repeat("$T05#00", maxRetries+1)), "has a wrong checksum"},
		{"repeats nothing", "?", raw("$*~#a8"), "repeats nothing"},
		{"no end of threads", "qXfer:threads", "m<thread/>", "it does not end, after 16384 pieces"},
		{"a vax", "qXfer:features:read:target.xml", "l<target><architecture>vax</architecture></target>", `the target is a "vax": known are amd64, arm64, s390x`},
		{"an offset", "qXfer:features:read:target.xml", `l<target><architecture>x86_64</architecture><feature><reg name="rip" bitsize="64" offset="-8"/></feature></target>`, `register "rip" is at offset "-8"`},
		{"no architecture", "qXfer:features:read:target.xml", "l<target/>", "give the program by --exe"},
		{"includes itself", "qXfer:features:read:target.xml", `l<target><xi:include href="target.xml"/></target>`, "one within another"},
		{"broken XML", "qXfer:features:read:target.xml", "l<target><architecture", "target description: target.xml"},
		{"no PC", "qXfer:features:read:target.xml", `l<target><architecture>aarch64</architecture><reg name="x0" bitsize="64"/></target>`, `it has no register "pc", which arm64 has`},
		{"huge register", "qXfer:features:read:target.xml", `l<target><architecture>aarch64</architecture><reg name="x0" bitsize="9999999"/></target>`, `register "x0" has "9999999" bits`},
		{"registers are refused", "g", "E45", `the stub answers "E45"`},
		{"unknown thread", "Hg", "E01", "the stub does not know the thread"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := sleepy()
			s.answer = func(packet string) any {
				if strings.HasPrefix(packet, tt.packet) {
					return tt.answer
				}
				return nil
			}
			tg, err := s.dial(t, Options{Timeout: 300 * time.Millisecond})
			if err == nil {
				defer tg.Close()
				var r arch.Registers
				threads, _ := tg.Threads()
				err = threads[0].Registers(&r)
			}
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v, want %q", err, tt.want)
			}
		})
	}
}

// TestForeignName: the program tells the architecture where the stub has a name for it that nobody
// knows.
func TestForeignName(t *testing.T) {
	s := sleepy()
	s.answers["qXfer:features:read:target.xml:*"] = "l<target><architecture>x86-64-of-tomorrow</architecture></target>"
	tg, err := s.dial(t, Options{Exe: gdbtest.Testdata(t, "bin", "mix-v3")})
	if err != nil {
		t.Fatal(err)
	}
	if tg.Arch().Name != "amd64" {
		t.Errorf("%s", tg.Arch().Name)
	}
	tg.Close()
}

// The same thread repeated is no list of threads.
func TestThreadsWithoutXML(t *testing.T) {
	s := sleepy()
	s.answers["qSupported*"] = "PacketSize=400;qXfer:features:read+"
	s.answers["?"] = "T05thread:2c;"
	s.answers["qfThreadInfo"] = "m2b,2c"
	s.answers["qsThreadInfo"] = "l"
	tg, err := s.dial(t, Options{})
	if err != nil {
		t.Fatal(err)
	}
	threads, _ := tg.Threads()
	if len(threads) != 2 || threads[0].ID() != 0x2c || !threads[0].(*Thread).Current || threads[1].ID() != 0x2b {
		t.Errorf("threads %+v", threads)
	}
	tg.Close()
	s = sleepy()
	s.answers["qSupported*"] = "PacketSize=400;qXfer:features:read+"
	s.answers["qfThreadInfo"], s.answers["qsThreadInfo"] = "m1", "m1"
	if _, err := s.dial(t, Options{}); err == nil || !strings.Contains(err.Error(), "it does not end") {
		t.Errorf("error %v", err)
	}
}

// A running target is interrupted, and goes on in the end, even if the user gives up in between.
func TestRunningTarget(t *testing.T) {
	s := sleepy()
	s.running = true
	tg, err := s.dial(t, Options{Timeout: 300 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	if !tg.Running || tg.StopName != "SIGINT" {
		t.Errorf("running %v, stopped by %s", tg.Running, tg.StopName)
	}
	if err := tg.Close(); err != nil {
		t.Error(err)
	}
	if got := strings.Join(s.packets(), " "); !strings.Contains(got, "interrupt") || !strings.HasSuffix(got, "D;2a") {
		t.Errorf("packets %s", got)
	}

	ctx, cancel := context.WithCancel(context.Background())
	s = sleepy()
	s.running = true
	s.answer = func(packet string) any {
		if packet == "g" {
			cancel()
			return silent{}
		}
		return nil
	}
	if tg, err = s.dialContext(t, ctx, Options{Timeout: time.Minute}); err != nil {
		t.Fatal(err)
	}
	var r arch.Registers
	threads, _ := tg.Threads()
	if err := threads[0].Registers(&r); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	if err := tg.Close(); err != nil {
		t.Error(err)
	}
	if got := s.packets(); got[len(got)-1] != "D;2a" {
		t.Errorf("packets %q", got)
	}

	// A stub that no longer answers is still asked to let the target go on, and the user is told.
	s = sleepy()
	s.running = true
	s.answer = func(packet string) any {
		if packet == "g" || packet[0] == 'D' {
			return silent{}
		}
		return nil
	}
	if tg, err = s.dial(t, Options{Timeout: 300 * time.Millisecond}); err != nil {
		t.Fatal(err)
	}
	threads, _ = tg.Threads()
	threads[0].Registers(&r)
	if err := tg.Close(); err == nil || !strings.Contains(err.Error(), "it may still be stopped") {
		t.Errorf("error %v", err)
	}
	if got := s.packets(); got[len(got)-1] != "D;2a" {
		t.Errorf("packets %q", got)
	}

	// If the stub cannot stop the target, an error says so in the end.
	s = sleepy()
	s.answer = func(packet string) any {
		if packet == "?" {
			return silent{}
		}
		return nil
	}
	if _, err := s.dial(t, Options{Timeout: 200 * time.Millisecond}); err == nil || !strings.Contains(err.Error(), "the target runs, and the stub does not stop it") {
		t.Errorf("error %v", err)
	}
}

// Memory comes in blocks that cross no page. Each is asked for once, and ends where the stub says.
func TestMemory(t *testing.T) {
	content := func(addr uint64) byte { return byte(addr*7 + addr>>8) }
	for _, binary := range []bool{false, true} {
		s := sleepy()
		if binary {
			s.answers["qSupported*"] += ";binary-upload+"
		}
		s.answer = func(packet string) any {
			var addr, n uint64
			if _, err := fmt.Sscanf(packet[1:], "%x,%x", &addr, &n); err != nil || packet[0] != 'm' && packet[0] != 'x' {
				return nil
			}
			if addr/page != (addr+n-1)/page {
				t.Errorf("%s crosses a page", packet)
			}
			if addr < 0x1000 || addr >= 0x3000 {
				return "E14"
			}
			var data []byte
			for i := range min(n, 100) { // less than was asked for, at times
				data = append(data, content(addr+i))
			}
			if packet[0] == 'm' {
				return fmt.Sprintf("%x", data)
			}
			reply := []byte("b")
			for _, c := range data {
				if c == '$' || c == '#' || c == '}' || c == '*' {
					reply = append(reply, '}', c^0x20)
				} else {
					reply = append(reply, c)
				}
			}
			return string(reply)
		}
		tg, err := s.dial(t, Options{})
		if err != nil {
			t.Fatal(err)
		}
		for _, x := range []struct {
			addr uint64
			n    int
			want int
		}{{0x1000, 8, 8}, {0x1ffc, 8, 8}, {0x1001, 0x1fff, 0x1fff}, {0x2ff0, 64, 16}, {0x3000, 8, 0}, {0xff8, 16, 0}, {^uint64(0) - 3, 16, 0}} {
			p := make([]byte, x.n)
			n, err := tg.Memory().ReadMemory(x.addr, p)
			if n != x.want || (err == nil) != (n == x.n) || err != nil && !errors.Is(err, target.ErrUnmapped) {
				t.Errorf("read %d at %#x: %d, %v", x.n, x.addr, n, err)
			}
			for i := range n {
				if p[i] != content(x.addr+uint64(i)) {
					t.Fatalf("byte at %#x is %#x", x.addr+uint64(i), p[i])
				}
			}
		}
		s.packets()
		var p [8]byte
		tg.Memory().ReadMemory(0x1100, p[:])
		if again := s.packets(); len(again) != 0 {
			t.Errorf("asked again: %q", again)
		}
		tg.Close()
	}
}

// A file can be read through the stub, whether or not the stub tells its size.
func TestHostFile(t *testing.T) {
	text := bytes.Repeat([]byte("0123456789abcdefg}$#*"), 1000)
	for _, fstat := range []bool{true, false} {
		s := sleepy()
		s.answer = func(packet string) any {
			var fd, n, off int
			switch {
			case packet == "vFile:open:"+words("/lib/x.so")+",0,0":
				return "F7"
			case packet == "vFile:fstat:7" && fstat:
				stat := make([]byte, 64)
				stat[34], stat[35] = byte(len(text)>>8), byte(len(text))
				return "F40;" + strings.NewReplacer("}", "}]", "#", "}\x03", "$", "}\x04", "*", "}\n").Replace(string(stat))
			case strings.HasPrefix(packet, "vFile:pread:"):
				fmt.Sscanf(packet, "vFile:pread:%x,%x,%x", &fd, &n, &off)
				data := text[min(off, len(text)):min(off+n, len(text))]
				return fmt.Sprintf("F%x;", len(data)) + strings.NewReplacer("}", "}]", "#", "}\x03", "$", "}\x04", "*", "}\n").Replace(string(data))
			case strings.HasPrefix(packet, "vFile:open"):
				return "F-1,2"
			}
			return nil
		}
		tg, err := s.dial(t, Options{})
		if err != nil {
			t.Fatal(err)
		}
		f, err := tg.s.openFile("/lib/x.so", tg.PID)
		if err != nil {
			t.Fatal(err)
		}
		if f.size != int64(len(text)) {
			t.Errorf("size %d, want %d", f.size, len(text))
		}
		got := make([]byte, len(text)-11)
		if n, err := f.ReadAt(got, 11); n != len(got) || err != nil || !bytes.Equal(got, text[11:]) {
			t.Errorf("%d bytes, %v", n, err)
		}
		if n, err := f.ReadAt(got, 12); n != len(got)-1 || err == nil {
			t.Errorf("beyond the end: %d bytes, %v", n, err)
		}
		if _, err := tg.s.openFile("/nothing", 0); err == nil {
			t.Error("a file that is not there is opened")
		}
		tg.Close()
	}
}

func TestAddress(t *testing.T) {
	for addr, want := range map[string]string{
		"nonsense":           "remote nonsense: want HOST:PORT or unix:PATH",
		"unix:/nonexistent":  "remote unix:/nonexistent: cannot connect: ",
		"tcp:localhost":      "want HOST:PORT",
		"localhost:99999999": "cannot connect",
	} {
		if _, err := Dial(context.Background(), addr, Options{Timeout: 5 * time.Second}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", addr, err, want)
		}
	}
}
