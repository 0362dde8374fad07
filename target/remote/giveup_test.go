package remote

import (
	"context"
	"errors"
	"net"
	"runtime"
	"sync/atomic"
	"testing"
	"time"
)

// slowConn sets the deadline for reading well before the one for writing.
type slowConn struct {
	net.Conn
	done atomic.Bool
}

func (c *slowConn) SetDeadline(t time.Time) error {
	c.done.Store(false)
	c.SetReadDeadline(t)
	for range 1000 {
		runtime.Gosched()
	}
	c.SetWriteDeadline(t)
	c.done.Store(true)
	return nil
}

// Giving up ends the exchange that is under way, and none that follows, because the next packet
// lets the target go on.
func TestGiveUp(t *testing.T) {
	ours, stub := net.Pipe()
	defer stub.Close()
	c := &slowConn{Conn: ours}
	defer c.Close()
	ctx, cancel := context.WithCancel(context.Background())
	l := newLink(ctx, c, time.Minute)
	_, err := l.within(time.Minute, func() ([]byte, error) {
		cancel()
		return l.receive()
	})
	if !errors.Is(err, context.Canceled) {
		t.Fatalf("error %v", err)
	}
	if !c.done.Load() {
		t.Error("the deadline is still being set")
	}
}
