package remote

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/internal/test/bounds"
)

// inTurn is a connection to a stub that acknowledges each packet and answers it. So the fuzzer need
// not guess checksums.
type inTurn struct {
	canned
	answer func(packet string) (string, bool)
	noAck  bool
	out    *bytes.Buffer
}

func newInTurn(answer func(packet string) (string, bool)) *inTurn {
	var out bytes.Buffer
	return &inTurn{canned: canned{&out}, answer: answer, out: &out}
}

func (c *inTurn) Write(p []byte) (int, error) {
	text, isPacket := bytes.CutPrefix(p, []byte("$"))
	if !isPacket || len(text) < 3 {
		return len(p), nil
	}
	packet := string(text[:len(text)-3])
	a, ok := c.answer(packet)
	if !ok {
		return 0, io.ErrClosedPipe
	}
	if !c.noAck {
		c.out.WriteByte('+')
	}
	c.out.Write(frame(a))
	c.noAck = c.noAck || packet == "QStartNoAckMode" && a == "OK"
	return len(p), nil
}

// ask asks everything that a walk of the stacks asks.
func ask(t *testing.T, conn *inTurn) error {
	tg, err := connect(context.Background(), conn, "", Options{Timeout: time.Minute, Sysroot: "/nonexistent", Control: true})
	if err != nil {
		return err
	}
	threads, _ := tg.Threads()
	if len(threads) == 0 {
		t.Fatal("no thread, and no error")
	}
	var r arch.Registers
	for _, th := range threads[:min(len(threads), 4)] {
		th.Registers(&r)
		var p [64]byte
		th.(*Thread).StackMemory().ReadMemory(r.Value[tg.Arch().SP], p[:])
	}
	for _, m := range tg.Modules().All() {
		m.Image()
	}
	tg.Modules().IsCode(r.Value[tg.Arch().PC])
	tg.Step(context.Background(), threads[0].(*Thread))
	control(tg, threads[0].(*Thread))
	tg.Warnings()
	tg.Close()
	return nil
}

// addDialogues adds the answers of several kinds of stubs.
func addDialogues(f *testing.F) {
	regs := strings.Repeat("00", 16*8) + "0010400000000000" + strings.Repeat("00", 7*4)
	maps := "00400000-00402000 r-xp 00000000 08:01 42 /bin/x\n7ffd00000000-7ffd00002000 r-xp 00000000 00:00 0 [vdso]\n"
	pread := func(text string) func(string) any {
		return func(packet string) any {
			var fd, n, off int
			if _, err := fmt.Sscanf(packet, "vFile:pread:%x,%x,%x", &fd, &n, &off); err != nil {
				return nil
			}
			off = min(off, len(text))
			n = min(n, len(text)-off)
			return fmt.Sprintf("F%x;%s", n, text[off:off+n])
		}
	}
	for _, change := range []func(s *fakeStub){
		func(s *fakeStub) {},
		func(s *fakeStub) { // like gdbserver
			s.answers["qSupported*"] = "PacketSize=1000;QStartNoAckMode+;multiprocess+;vContSupported+;qXfer:features:read+;qXfer:threads:read+;qXfer:exec-file:read+;qXfer:auxv:read+"
			s.answers["QStartNoAckMode"], s.answers["vCont?"], s.answers["vCont;*"] = "OK", "vCont;c;s", "T05thread:p2a.2b;"
			s.answers["qXfer:exec-file:read:2a:*"], s.answers["qXfer:auxv:read::*"] = "l/bin/x", "l\x03\x00\x00\x00\x00\x00\x00\x00"
			s.answers["vFile:open:*"], s.answers["vFile:close:*"], s.answers["vFile:setfs:*"] = "F5", "F0", "F0"
			s.answers["m*"] = "00112233445566770011223344556677"
			s.answer = pread(maps)
		},
		func(s *fakeStub) { // tells its threads and registers by lists
			s.answers["qSupported*"] = "multiprocess+;qXfer:features:read+;qXfer:libraries-svr4:read+;qXfer:auxv:read+"
			s.answers["qfThreadInfo"], s.answers["qsThreadInfo"] = "mp2a.2b,p2a.2c", "l"
			s.answers["qThreadExtraInfo,*"] = "6d61696e"
			s.answers["qXfer:libraries-svr4:read::*"] = `l<library-list-svr4 version="1.0"><library name="/lib/x.so" lm="0x2" l_addr="0x7f0000000000" l_ld="0x3"/></library-list-svr4>`
			s.answers["qXfer:auxv:read::*"] = "E01"
			s.answers["vFile:*"] = "F-1,2"
		},
		func(s *fakeStub) { // registers are asked for one by one
			s.answers["qXfer:features:read:target.xml:*"] = `l<target><architecture>aarch64</architecture><xi:include href="core.xml"/></target>`
			var xml strings.Builder
			for i := range 31 {
				fmt.Fprintf(&xml, `<reg name="x%d" bitsize="64"/>`, i)
			}
			s.answers["qXfer:features:read:core.xml:*"] = "l<feature>" + xml.String() + `<reg name="sp" bitsize="64"/><reg name="pc" bitsize="64"/><reg name="pauth_cmask" bitsize="64" regnum="40"/></feature>`
			s.answers["g"], s.answers["p*"] = "E01", "0010400000000000"
			s.answers["?"], s.answers["m*"] = "S05", "E01"
			s.answers["qC"] = "QCp2a.2b"
			s.answers["qqemu.PhyMemMode"], s.answers["qqemu.sstepbits"] = "0", "ENABLE=1"
		},
		func(s *fakeStub) { // lldb-server: packets of its own, and the system's numbers of signals
			s.answers["qSupported*"] = "QThreadSuffixSupported+;native-signals+;qXfer:features:read+"
			s.answers["qXfer:features:read:target.xml:*"] = `l<target><architecture>x86_64</architecture><feature>` +
				`<reg name="rip" bitsize="64" regnum="16" offset="128"/><reg name="rsp" bitsize="64" regnum="7" offset="56"/>` +
				`<reg name="eax" bitsize="32" regnum="31" offset="0" value_regnums="0"/></feature></target>`
			s.answers["?"] = "T13thread:2a;name:main;"
			s.answers["qProcessInfo"] = "pid:2a;parent-pid:1;ptrsize:8;"
			s.answers["qThreadStopInfo*"] = "T00thread:2b;hexname:776f726b6572;"
		},
		func(s *fakeStub) { // describes nothing
			s.answers = map[string]string{"?": "T0bthread:1;", "qfThreadInfo": "m1", "qsThreadInfo": "l", "H*": "OK", "g": regs, "m*": "", "s": "T05thread:1;", "D": "OK"}
			s.answers["qSupported*"] = "qXfer:features:read+"
			s.answers["qXfer:features:read:target.xml:*"] = `l<target><architecture>s390:64-bit</architecture></target>`
			s.answers["g"] = strings.Repeat("00", 400)
		},
		func(s *fakeStub) { s.answers["?"] = "W00" },
		func(s *fakeStub) { s.answers["?"] = "E01" },
		func(s *fakeStub) { s.answers["qSupported*"] = "PacketSize=10" },
	} {
		s := sleepy()
		change(s)
		var said []string
		ask(nil, newInTurn(func(packet string) (string, bool) {
			a := s.reply(packet).(string)
			said = append(said, a)
			return a, len(said) < 200
		}))
		f.Add([]byte(strings.Join(said, "\xfe")))
	}
}

// FuzzAnswers: the fuzzer makes up every answer of a stub.
func FuzzAnswers(f *testing.F) {
	addDialogues(f)
	f.Fuzz(func(t *testing.T, data []byte) {
		bounds.Hold(t, 4<<20+1024*len(data), func() {
			rest, more := data, true
			ask(t, newInTurn(func(string) (answer string, ok bool) {
				if !more {
					return "", false
				}
				var next []byte
				next, rest, more = bytes.Cut(rest, []byte{0xfe})
				return string(next), true
			}))
		})
	})
}
