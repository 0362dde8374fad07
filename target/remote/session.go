package remote

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"
)

// session is a dialogue with a stub. It is safe for concurrent use.
type session struct {
	addr       string // of the stub, as the user gives it
	mu         sync.Mutex
	link       *link
	features   map[string]bool // the features that qSupported offers, with + or with a value
	packetSize int             // bytes that the stub takes, and gives, in one packet
	thread     string          // the thread that g and p are about, as the stub names it
	control    bool            // the stub is asked to tell of all events
	vCont      int             // 1 if the stub knows vCont, -1 if not, 0 if it was not asked
}

// The packet size of stubs that do not tell theirs, and bounds on the size that others tell.
const (
	defaultPacket = 400
	minPacket     = 128
	maxPacket     = 128 << 10
)

// ours is what we offer: we understand pPID.TID, and a description of i386's registers in XML.
const ours = "qSupported:multiprocess+;xmlRegisters=i386"

// events are the features by which a stub tells of events that only who controls a process wants to
// know.
const events = ";swbreak+;hwbreak+;fork-events+;vfork-events+;exec-events+;no-resumed+"

// start agrees on the protocol.
func (s *session) start() error {
	// This acknowledges whatever the stub sent last, for some stubs wait for that.
	if _, err := s.link.conn.Write([]byte{'+'}); err != nil {
		return err
	}
	offer := ours
	if s.control {
		offer += events
	}
	reply, err := s.exchange(offer)
	if err != nil {
		return fmt.Errorf("%w to qSupported: is it a GDB stub?", err)
	}
	s.features, s.packetSize = map[string]bool{}, defaultPacket
	for _, item := range strings.Split(string(reply), ";") {
		if name, ok := strings.CutSuffix(item, "+"); ok {
			s.features[name] = true
		} else if name, _, ok := strings.Cut(item, "="); ok {
			s.features[name] = true
		}
		if text, ok := strings.CutPrefix(item, "PacketSize="); ok {
			n, err := strconv.ParseUint(text, 16, 32)
			if err != nil || n < minPacket {
				return fmt.Errorf("the stub's packets have %q bytes: want %#x or more", text, minPacket)
			}
			s.packetSize = int(min(n, maxPacket))
		}
	}
	if s.features["QStartNoAckMode"] {
		if reply, err := s.exchange("QStartNoAckMode"); err != nil {
			return err
		} else if string(reply) == "OK" {
			s.link.noAck = true
		}
	}
	return nil
}

// exchange sends a packet and returns the answer. It is nil if the stub does not know the packet.
func (s *session) exchange(packet string) ([]byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.link.exchange([]byte(packet))
}

// errUnsupported says that a stub does not offer something.
var errUnsupported = errors.New("the stub does not offer it")

// transfer reads an object (qXfer:OBJECT:read:ANNEX) of at most limit bytes.
func (s *session) transfer(object, annex string, limit int) ([]byte, error) {
	if !s.features["qXfer:"+object+":read"] {
		return nil, errUnsupported
	}
	var all []byte
	for range maxPieces {
		reply, err := s.exchange(fmt.Sprintf("qXfer:%s:read:%s:%x,%x", object, annex, len(all), s.packetSize-32))
		switch {
		case err != nil:
			return nil, fmt.Errorf("read %s: %w", object, err)
		case len(reply) == 0:
			return nil, errUnsupported
		case reply[0] == 'l':
			return append(all, reply[1:]...), nil
		case reply[0] != 'm' || len(reply) == 1:
			return nil, fmt.Errorf("read %s: the stub answers %q", object, short(reply))
		}
		if all = append(all, reply[1:]...); len(all) > limit {
			return nil, fmt.Errorf("read %s: more than %d bytes", object, limit)
		}
	}
	return nil, fmt.Errorf("read %s: it does not end, after %d pieces", object, maxPieces)
}

// maxPieces bounds the exchanges that one object may take.
const maxPieces = 1 << 14

// selectThread selects the thread that g and p are about.
func (s *session) selectThread(thread string) error {
	if thread == s.thread {
		return nil
	}
	reply, err := s.exchange("Hg" + thread)
	if err != nil {
		return err
	}
	if string(reply) != "OK" {
		return fmt.Errorf("the stub does not know the thread: it answers %q to Hg", short(reply))
	}
	s.thread = thread
	return nil
}

// interruptWait is how long a stub may take to answer "?". After that the target is taken to be
// running.
const interruptWait = time.Second

// stopped finds out why the target stands still. If the target runs, stopped interrupts it.
func (s *session) stopped() (reply stop, ran bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	wait := min(interruptWait, s.link.timeout)
	text, err := s.link.exchangeOnce([]byte("?"), wait)
	if errors.Is(err, errNoAnswer) && s.link.ctx.Err() == nil {
		// The stub answers "?" when the target stops.
		ran, s.link.broken = true, nil
		text, err = s.link.within(s.link.timeout, func() ([]byte, error) {
			if _, err := s.link.conn.Write([]byte{3}); err != nil {
				return nil, err
			}
			return s.link.stopReply()
		})
		if err == nil {
			s.link.drain() // a stub that was only slow answers both "?" and the interrupt
		}
		if errors.Is(err, errNoAnswer) {
			err = fmt.Errorf("the target runs, and the stub does not stop it (%w to an interrupt): qemu's user emulation is stopped by kill -TRAP of its process", err)
		}
	}
	if err != nil {
		return stop{}, ran, err
	}
	reply, err = parseStop(text)
	return reply, ran, err
}

// exchangeOnce sends a packet and receives a stop reply, within another limit than the session's.
func (l *link) exchangeOnce(packet []byte, limit time.Duration) ([]byte, error) {
	return l.within(limit, func() ([]byte, error) {
		if err := l.send(packet); err != nil {
			return nil, err
		}
		return l.stopReply()
	})
}

// drain drops the packet that may still arrive within a moment.
func (l *link) drain() {
	l.within(interruptWait/5, func() ([]byte, error) { return l.receive() })
	l.broken = nil
}

// stopReply receives a stop reply. It skips the target's output.
func (l *link) stopReply() ([]byte, error) {
	for range maxNoise {
		reply, err := l.receive()
		if err != nil || !isOutput(reply) {
			return reply, err
		}
	}
	return nil, errors.New("the target's output does not end")
}

// leave ends the dialogue. If resume is set, the stub detaches from the target, which then goes on,
// or, if the stub cannot detach, continues it.
func (s *session) leave(resume bool, pid int) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	defer s.link.conn.Close()
	if !resume {
		return nil
	}
	if errors.Is(s.link.broken, ErrHungUp) {
		return fmt.Errorf("%w: the target may still be stopped", ErrHungUp)
	}
	// The target is let go even if the user gave up, or an answer came too late.
	s.link.ctx, s.link.broken, s.link.limit = context.Background(), nil, 0
	packet := "D"
	if s.features["multiprocess"] && pid != 0 {
		packet = fmt.Sprintf("D;%x", pid)
	}
	reply, err := s.link.exchange([]byte(packet))
	if err == nil && string(reply) != "OK" {
		err = s.link.send([]byte("c"))
	}
	if err != nil {
		return fmt.Errorf("%w to the packet that lets the target go on: it may still be stopped", err)
	}
	return nil
}
