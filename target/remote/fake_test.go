package remote

import (
	"bytes"
	"context"
	"encoding/hex"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	_ "github.com/sfwalk/sfwalk/arch/amd64"
	_ "github.com/sfwalk/sfwalk/arch/arm64"
	_ "github.com/sfwalk/sfwalk/arch/s390x"
)

// fakeStub answers packets from a list, and misbehaves if a test says so. The bytes on the wire
// follow gdb's manual, appendix E.
type fakeStub struct {
	answers map[string]string       // by packet, or by a prefix and *
	answer  func(packet string) any // asked first: string, raw, or nil for the list
	running bool                    // the target runs, and "?" is answered only after an interrupt

	noAck bool
	got   chan string // every packet that arrived
}

type (
	raw    []byte   // sent as it is, without a frame
	silent struct{} // no answer at all
	hangUp struct{} // the connection is closed
)

// sleepy is a stub of amd64 that has one thread and no target description.
func sleepy() *fakeStub {
	regs := strings.Repeat("00", 16*8) + "0010400000000000" + strings.Repeat("00", 7*4) // rip 0x401000
	return &fakeStub{
		answers: map[string]string{
			"qSupported*":                      "PacketSize=400;multiprocess+;qXfer:features:read+;qXfer:threads:read+",
			"?":                                "T05thread:p2a.2b;",
			"qXfer:features:read:target.xml:*": `l<?xml version="1.0"?><!DOCTYPE target SYSTEM "gdb-target.dtd"><target><architecture>i386:x86-64</architecture></target>`,
			"qXfer:threads:read::*":            `l<threads><thread id="p2a.2b" name="main"/><thread id="p2a.2c" name="w&amp;er"/></threads>`,
			"Hg*":                              "OK",
			"g":                                regs,
			"m*":                               "E01",
			"D*":                               "OK",
		},
		got: make(chan string, 10000),
	}
}

func (s *fakeStub) reply(packet string) any {
	select {
	case s.got <- packet:
	default:
	}
	if s.answer != nil {
		if a := s.answer(packet); a != nil {
			return a
		}
	}
	if a, ok := s.answers[packet]; ok {
		return a
	}
	for pattern, a := range s.answers {
		if begin, ok := strings.CutSuffix(pattern, "*"); ok && strings.HasPrefix(packet, begin) {
			return a
		}
	}
	return ""
}

func frame(data string) []byte {
	return fmt.Appendf(nil, "$%s#%s", data, hexByte(sum([]byte(data))))
}

// serve answers until the connection ends.
func (s *fakeStub) serve(conn io.ReadWriteCloser) {
	defer conn.Close()
	var buf []byte
	for {
		var p [4096]byte
		n, err := conn.Read(p[:])
		if err != nil {
			return
		}
		for buf = append(buf, p[:n]...); len(buf) > 0; {
			switch buf[0] {
			case 3:
				buf = buf[1:]
				if s.running {
					s.running = false
					s.got <- "interrupt"
					conn.Write(frame("T02thread:p2a.2b;"))
				}
				continue
			case '$':
			default:
				buf = buf[1:]
				continue
			}
			end := bytes.IndexByte(buf, '#')
			if end < 0 || len(buf) < end+3 {
				break
			}
			packet := string(buf[1:end])
			buf = buf[end+3:]
			if !s.noAck {
				conn.Write([]byte{'+'})
			}
			if packet == "?" && s.running {
				continue
			}
			switch a := s.reply(packet).(type) {
			case string:
				conn.Write(frame(a))
			case raw:
				conn.Write(a)
			case silent:
			case hangUp:
				return
			}
			if packet == "QStartNoAckMode" {
				s.noAck = true
			}
			continue
		}
	}
}

// dial connects to a stub through a [wire] of its own.
func (s *fakeStub) dial(t *testing.T, o Options) (*Target, error) {
	t.Helper()
	return s.dialContext(t, context.Background(), o)
}

func (s *fakeStub) dialContext(t *testing.T, ctx context.Context, o Options) (*Target, error) {
	t.Helper()
	w := newWire()
	done := make(chan struct{})
	go func() {
		defer close(done)
		s.serve(server{w})
	}()
	t.Cleanup(func() {
		w.Close()
		<-done
	})
	if o.Timeout == 0 {
		o.Timeout = 20 * time.Second
	}
	return connect(ctx, client{w}, "", o)
}

// packets returns the packets that have arrived so far.
func (s *fakeStub) packets() (list []string) {
	for {
		select {
		case p := <-s.got:
			list = append(list, p)
		default:
			return list
		}
	}
}

// canned is a connection on which prepared bytes arrive.
type canned struct{ io.Reader }

func (canned) Write(p []byte) (int, error)      { return len(p), nil }
func (canned) Close() error                     { return nil }
func (canned) LocalAddr() net.Addr              { return nil }
func (canned) RemoteAddr() net.Addr             { return nil }
func (canned) SetDeadline(time.Time) error      { return nil }
func (canned) SetReadDeadline(time.Time) error  { return nil }
func (canned) SetWriteDeadline(time.Time) error { return nil }

func words(bits string) string { return hex.EncodeToString([]byte(bits)) }
