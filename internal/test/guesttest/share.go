//go:build linux

package guesttest

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
)

// A share stands between qemu's stub, which serves one debugger in its life, and several debuggers:
// gdb, which holds the guest, and others while gdb is idle. These may look, but neither end the
// guest nor let it run.
type share struct {
	gdb, guest string // sockets: for gdb, and for the others

	stub     net.Conn
	mu       sync.Mutex
	to       io.Writer // the client that gets the stub's answers
	selected map[byte][]byte
	turn     chan struct{} // held by the client that is served besides gdb
	noVDSO   bool          // gdb is not told of the guest's vDSO
	auxv     bool          // gdb has asked for the auxiliary vector, and nothing since
	refused  []string      // packets that would have changed the guest
}

// newShare connects to the stub at a unix socket.
func newShare(t testing.TB, stub string, noVDSO bool) *share {
	t.Helper()
	dir := socketDir(t)
	s := &share{noVDSO: noVDSO, gdb: filepath.Join(dir, "gdb"), guest: filepath.Join(dir, "guest"), selected: map[byte][]byte{}, to: io.Discard, turn: make(chan struct{}, 1)}
	var err error
	if s.stub, err = net.Dial("unix", stub); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.stub.Close() })
	serve := func(path string, f func(net.Conn)) {
		l, err := net.Listen("unix", path)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { l.Close() })
		go func() {
			for {
				conn, err := l.Accept()
				if err != nil {
					return
				}
				f(conn)
			}
		}()
	}
	serve(s.gdb, func(conn net.Conn) { go s.serveGDB(conn) })
	serve(s.guest, s.serveGuest) // one after the other
	go func() {
		r := bufio.NewReader(s.stub)
		for {
			p, err := readPacket(r)
			s.mu.Lock()
			if s.auxv {
				p = withoutVDSO(p)
			}
			if err == nil {
				s.to.Write(p)
			}
			if c, ok := s.to.(io.Closer); ok && err != nil {
				c.Close()
			}
			s.mu.Unlock()
			if err != nil {
				return
			}
		}
	}()
	return s
}

func (s *share) hand(to io.Writer) {
	s.mu.Lock()
	s.to = to
	s.mu.Unlock()
}

// serveGDB passes everything on and remembers which threads gdb has selected.
func (s *share) serveGDB(conn net.Conn) {
	defer conn.Close()
	r := bufio.NewReader(conn)
	for {
		p, err := readPacket(r)
		if err != nil {
			return
		}
		// An acknowledgement may come late, when the stub is already another's.
		if body := payload(p); body != nil {
			s.hand(conn)
			s.mu.Lock()
			s.auxv = s.noVDSO && bytes.HasPrefix(body, []byte("qXfer:auxv:read"))
			s.mu.Unlock()
			if len(body) > 1 && body[0] == 'H' {
				s.selected[body[1]] = p
			}
		}
		if _, err := s.stub.Write(p); err != nil {
			return
		}
	}
}

// serveGuest passes on packets that read, and leaves the stub as gdb has left it.
func (s *share) serveGuest(conn net.Conn) {
	s.turn <- struct{}{}
	defer func() { <-s.turn }()
	defer conn.Close()
	s.hand(conn)
	s.mu.Lock()
	s.auxv = false
	s.mu.Unlock()
	r := bufio.NewReader(conn)
	for {
		p, err := readPacket(r)
		if err != nil {
			break
		}
		body := payload(p)
		switch {
		case len(body) > 0 && bytes.ContainsRune([]byte("DkRcCsSMXGPzZ!"), rune(body[0])),
			bytes.HasPrefix(body, []byte("vKill")), bytes.HasPrefix(body, []byte("vCont;")), bytes.HasPrefix(body, []byte("vRun")):
			if body[0] != 'D' && body[0] != 'k' {
				s.refused = append(s.refused, string(body))
			}
			conn.Write([]byte("+$OK#9a"))
		default:
			s.stub.Write(p)
		}
	}
	back, answers := io.Pipe()
	s.hand(answers)
	from := bufio.NewReader(back)
	for _, p := range s.selected {
		s.stub.Write(p)
		for {
			if answer, err := readPacket(from); err != nil || payload(answer) != nil {
				break
			}
		}
		s.stub.Write([]byte("+"))
	}
	s.hand(io.Discard)
}

// idle waits until gdb alone is connected.
func (s *share) idle(t testing.TB) {
	t.Helper()
	select {
	case s.turn <- struct{}{}:
		defer func() { <-s.turn }()
	case <-time.After(time.Until(gdbtest.Deadline(t))):
		t.Fatal("a connection to the guest was not closed")
	}
	if len(s.refused) > 0 {
		t.Errorf("the guest would have been changed by %q", s.refused)
	}
	s.refused = nil
}

// withoutVDSO turns AT_SYSINFO_EHDR into AT_IGNORE in a packet with the auxiliary vector of a
// big-endian guest.
func withoutVDSO(packet []byte) []byte {
	const ehdr, ignore = "\x00\x00\x00\x00\x00\x00\x00\x21", "\x00\x00\x00\x00\x00\x00\x00\x01"
	body := payload(packet)
	if body == nil {
		return packet
	}
	body = bytes.Replace(body, []byte(ehdr), []byte(ignore), 1)
	sum := byte(0)
	for _, c := range body {
		sum += c
	}
	return fmt.Appendf(nil, "$%s#%02x", body, sum)
}

// readPacket reads a packet or one of the single bytes between packets.
func readPacket(r *bufio.Reader) ([]byte, error) {
	c, err := r.ReadByte()
	if err != nil || c != '$' {
		return []byte{c}, err
	}
	body, err := r.ReadBytes('#')
	if err != nil {
		return nil, err
	}
	sum := make([]byte, 2)
	if _, err := io.ReadFull(r, sum); err != nil {
		return nil, err
	}
	return fmt.Appendf(nil, "$%s%s", body, sum), nil
}

// payload returns what a packet holds, nil for a single byte.
func payload(packet []byte) []byte {
	if len(packet) < 4 {
		return nil
	}
	return packet[1 : len(packet)-3]
}

var errNoStop = errors.New("the guest has stopped nowhere")
