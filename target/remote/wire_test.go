package remote

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"strings"
	"sync"
	"testing"
	"time"
)

// wire is a connection between a client and a stub in this process, with a clock of its own. A
// deadline of the client passes when both sides wait for each other, and never before. So a test is
// as quick as both sides are, and no machine is too slow for it.
type wire struct {
	mu               sync.Mutex
	change           sync.Cond
	toStub, toClient []byte
	closed           bool
	stubWaits        bool // the stub waits for a packet
	limited, over    bool // the client has a deadline; it has passed
}

func newWire() *wire {
	w := &wire{}
	w.change.L = &w.mu
	return w
}

func (w *wire) Close() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.closed = true
	w.change.Broadcast()
	return nil
}

func (w *wire) write(to *[]byte, p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return 0, net.ErrClosed
	}
	*to = append(*to, p...)
	w.change.Broadcast()
	return len(p), nil
}

func take(from *[]byte, p []byte) int {
	n := copy(p, *from)
	*from = (*from)[n:]
	return n
}

// client is the end of the wire that connect gets.
type client struct{ *wire }

func (c client) Write(p []byte) (int, error) { return c.write(&c.toStub, p) }

func (c client) Read(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for {
		switch {
		case c.over:
			return 0, os.ErrDeadlineExceeded
		case len(c.toClient) > 0:
			return take(&c.toClient, p), nil
		case c.closed:
			return 0, io.EOF
		case c.limited && c.stubWaits && len(c.toStub) == 0:
			return 0, os.ErrDeadlineExceeded
		}
		c.change.Wait()
	}
}

func (c client) SetDeadline(at time.Time) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.limited, c.over = !at.IsZero(), !at.IsZero() && at.Before(time.Now())
	c.change.Broadcast()
	return nil
}

func (c client) SetReadDeadline(time.Time) error  { panic("not used") }
func (c client) SetWriteDeadline(time.Time) error { panic("not used") }
func (c client) LocalAddr() net.Addr              { return nil }
func (c client) RemoteAddr() net.Addr             { return nil }

// server is the stub's end.
type server struct{ *wire }

func (s server) Write(p []byte) (int, error) { return s.write(&s.toClient, p) }

func (s server) Read(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for len(s.toStub) == 0 && !s.closed {
		s.stubWaits = true
		s.change.Broadcast()
		s.change.Wait()
		s.stubWaits = false
	}
	if len(s.toStub) == 0 {
		return 0, io.EOF
	}
	return take(&s.toStub, p), nil
}

// Real connections keep real deadlines.
func TestSilent(t *testing.T) {
	l, err := net.Listen("tcp", "localhost:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close() // nothing accepts
	conn, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := connect(context.Background(), conn, "", Options{Timeout: 50 * time.Millisecond}); !errors.Is(err, errNoAnswer) {
		t.Errorf("error %v", err)
	}
	if conn, err = net.Dial("tcp", l.Addr().String()); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := connect(ctx, conn, "", Options{Timeout: time.Hour}); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}

// An error names its stub.
func TestErrorSaysWhere(t *testing.T) {
	l, err := net.Listen("tcp", "localhost:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go func() {
		if conn, err := l.Accept(); err == nil {
			conn.Close()
		}
	}()
	if _, err = Dial(context.Background(), l.Addr().String(), Options{Timeout: time.Minute}); err == nil || !strings.HasPrefix(err.Error(), "remote "+l.Addr().String()+": ") {
		t.Errorf("error %v", err)
	}
}
