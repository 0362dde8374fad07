package stub_test

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"math"
	"net"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/sfwalk/sfwalk/arch/abi"
	"github.com/sfwalk/sfwalk/inferior"
	"github.com/sfwalk/sfwalk/inferior/stub"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
	"github.com/sfwalk/sfwalk/target/remote"
)

// dropper stands before a stub, and answers OK to writes that it does not pass on.
type dropper struct {
	t       *testing.T
	on      atomic.Bool
	drops   func(packet []byte, general []byte) []byte // what is passed on in place of a packet; nil for nothing
	general []byte                                     // the stub's last answer to g
	noAck   bool
}

// serve returns where the dropper listens.
func (d *dropper) serve(addr string) string {
	d.t.Helper()
	path := filepath.Join(d.t.TempDir(), "dropper")
	listener, err := net.Listen("unix", path)
	if err != nil {
		d.t.Fatal(err)
	}
	d.t.Cleanup(func() { listener.Close() })
	go func() {
		client, err := listener.Accept()
		if err != nil {
			return
		}
		defer client.Close()
		network, place := "tcp", addr
		if rest, ok := strings.CutPrefix(addr, "unix:"); ok {
			network, place = "unix", rest
		}
		server, err := net.Dial(network, place)
		if err != nil {
			return
		}
		defer server.Close()
		d.pass(client, server)
	}()
	return "unix:" + path
}

// pass passes packets on, one after the other, with their answers: none comes unasked, for no
// thread runs long.
func (d *dropper) pass(client, server net.Conn) {
	replies := make(chan bool, 1)
	asked := make(chan string, 1)
	go func() {
		defer close(replies)
		for r := bufio.NewReader(server); ; {
			packet, other, err := read(r)
			if err != nil {
				client.Close()
				return
			}
			if packet != nil && len(asked) > 0 && <-asked == "g" {
				d.general = expand(packet)
			}
			if _, err := client.Write(other); err != nil {
				return
			}
		}
	}()
	for r := bufio.NewReader(client); ; {
		packet, other, err := read(r)
		if err != nil {
			server.Close()
			return
		}
		if packet != nil && d.on.Load() && len(packet) > 1 && strings.IndexByte("GPMX", packet[0]) >= 0 {
			pass := d.drops(packet, d.general)
			if pass == nil {
				if !d.noAck {
					client.Write([]byte("+"))
				}
				client.Write([]byte("$OK#9a"))
				continue
			}
			other = fmt.Appendf(nil, "$%s#%02x", pass, sum(pass))
		}
		switch {
		case string(packet) == "g":
			asked <- "g"
		case string(packet) == "QStartNoAckMode":
			d.noAck = true
		}
		if _, err := server.Write(other); err != nil {
			return
		}
	}
}

// read reads a packet, or one byte of something else. all is what there is to pass on.
func read(r *bufio.Reader) (packet, all []byte, err error) {
	c, err := r.ReadByte()
	if err != nil || c != '$' {
		return nil, []byte{c}, err
	}
	body, err := r.ReadBytes('#')
	if err != nil {
		return nil, nil, err
	}
	check := make([]byte, 2)
	for i := range check {
		if check[i], err = r.ReadByte(); err != nil {
			return nil, nil, err
		}
	}
	return body[:len(body)-1], append(append([]byte{'$'}, body...), check...), nil
}

func sum(b []byte) (s byte) {
	for _, c := range b {
		s += c
	}
	return s
}

// expand undoes the run lengths of an answer.
func expand(b []byte) (all []byte) {
	for i := 0; i < len(b); i++ {
		if b[i] == '*' && i+1 < len(b) && len(all) > 0 {
			all = append(all, bytes.Repeat(all[len(all)-1:], int(b[i+1])-29)...)
			i++
			continue
		}
		all = append(all, b[i])
	}
	return all
}

// vectors is where the stubs have vector registers: bytes of the answer to g before the first, and
// its number.
var vectors = map[string]struct{ off, num uint64 }{
	"amd64": {17*8 + 7*4 + 8*10 + 8*4, 40},
	"arm64": {num: 34},
	"s390x": {num: 35},
}

func drops(letters string) func(packet, general []byte) []byte {
	return func(packet, _ []byte) []byte {
		if strings.IndexByte(letters, packet[0]) >= 0 {
			return nil
		}
		return packet
	}
}

// dropsVectors drops vector registers alone.
func dropsVectors(processor string) func(packet, general []byte) []byte {
	v := vectors[processor]
	return func(packet, general []byte) []byte {
		switch packet[0] {
		case 'P':
			number, _, _ := strings.Cut(string(packet[1:]), "=")
			if n, err := strconv.ParseUint(number, 16, 32); err == nil && n >= v.num {
				return nil
			}
		case 'G':
			if at := 2 * int(v.off); v.off > 0 && len(packet) == 1+len(general) {
				return append(packet[:1+at:1+at], general[at:]...)
			}
		}
		return packet
	}
}

// A stub that answers OK to a write, and does not make it: no function is called, no thread runs,
// and the error says what is not written.
func TestDropped(t *testing.T) {
	for _, processor := range processors {
		for _, test := range []struct {
			name  string
			drops func(packet, general []byte) []byte
			what  string
		}{
			{"registers", drops("GP"), "register "},
			{"vector registers", dropsVectors(processor), "register "},
			{"memory", drops("MX"), "memory at 0x"},
		} {
			t.Run(processor+"/"+test.name, func(t *testing.T) {
				t.Parallel()
				p := build(t, processor)
				d := &dropper{t: t, drops: test.drops}
				held := dial(t, d.serve(p.serve(t)), remote.Options{})
				th := p.to(t, held, "main")
				c, err := inferior.NewCaller(held, th)
				if err != nil {
					t.Fatal(err)
				}
				c.OnStack = true // the breakpoint is a write to memory
				d.on.Store(true)
				b, err := c.Call(t.Context(), p.symbols["half"], &abi.Func{Result: double, Params: []*abi.Type{double}},
					[]abi.Value{number(held, double, math.Float64bits(3))})
				checkDropped(t, err, test.what, false)
				if b != nil {
					t.Errorf("half(3): %x", b)
				}
				d.on.Store(false)
				if got := variable(t, held, p.symbols["calls"]); got != 0 {
					t.Errorf("the program has counted %d calls, want none", got)
				}
			})
		}
	}
}

// checkDropped checks that an error tells of a write that was not made.
func checkDropped(t *testing.T, err error, what string, late bool) {
	t.Helper()
	var dropped *remote.NotWrittenError
	if !errors.As(err, &dropped) || !strings.HasPrefix(dropped.What, what) || dropped.Late != late || bytes.Equal(dropped.Written, dropped.There) || dropped.Stub == "" ||
		!strings.Contains(err.Error(), "the stub at "+dropped.Stub+" answers OK") {
		t.Errorf("the error is %v, want one of %q", err, what)
	}
}

// What a stub does not put back after a call is an error, too.
func TestDroppedAfterwards(t *testing.T) {
	for _, processor := range processors {
		t.Run(processor, func(t *testing.T) {
			t.Parallel()
			p := build(t, processor)
			d := &dropper{t: t, drops: drops("GP")}
			held := dial(t, d.serve(p.serve(t)), remote.Options{})
			th := p.to(t, held, "main").(*stub.Thread)
			if err := th.Save(); err != nil {
				t.Fatal(err)
			}
			if err := th.WriteRegister(held.Arch().RA, 0, make([]byte, 8)); err != nil {
				t.Fatal(err)
			}
			d.on.Store(true)
			checkDropped(t, th.Restore(), "register ", false)
			d.on.Store(false)
			if err := th.Restore(); err != nil {
				t.Error(err)
			}
		})
	}
}

// gdbserver keeps registers that it is told to write until the thread runs. If the kernel does not
// take the vector registers then, gdbserver says so to nobody but its own standard error. A
// function of integers is not called either: vector registers that it changes could not be put
// back.
func TestDroppedLate(t *testing.T) {
	settings := gdbtest.RefuseVectors(t)
	p := build(t, "amd64")
	held := dial(t, gdbserverIn(t, settings, "--once", "localhost:0", p.path), remote.Options{})
	th := p.to(t, held, "main")
	c, err := inferior.NewCaller(held, th)
	if err != nil {
		t.Fatal(err)
	}
	before, err := th.(*stub.Thread).State()
	if err != nil {
		t.Fatal(err)
	}
	_, err = c.Call(t.Context(), p.symbols["half"], &abi.Func{Result: double, Params: []*abi.Type{double}}, []abi.Value{number(held, double, math.Float64bits(3))})
	checkDropped(t, err, "register ", true)
	_, err = c.Call(t.Context(), p.symbols["add"], &abi.Func{Result: long, Params: []*abi.Type{long, long}}, []abi.Value{number(held, long, 1), number(held, long, 2)})
	checkDropped(t, err, "register ", true)
	if got := variable(t, held, p.symbols["calls"]); got != 0 {
		t.Errorf("the program has counted %d calls, want none", got)
	}
	after, err := th.(*stub.Thread).State()
	if err != nil {
		t.Fatal(err)
	}
	if !before.Equal(after) {
		t.Error("registers are not as they were before the calls")
	}
	// A thread does not run on with registers that it has not. Others are no hindrance.
	if err := th.WriteRegister(held.Arch().SystemResult, 0, make([]byte, 8)); err != nil {
		t.Fatal(err)
	}
	if e := resume(t, held, inferior.Resume{Thread: th, Step: true}); e.Kind != inferior.Stepped {
		t.Errorf("a step: %+v", e)
	}
	if err := th.WriteRegister(held.Arch().WideRegs()[0].Num, 0, []byte("vector registers")); err != nil {
		t.Fatal(err)
	}
	checkDropped(t, held.Resume(inferior.Resume{Thread: th}), "register ", true)
}
