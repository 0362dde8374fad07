package remote

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"time"
)

// Bounds on what a stub sends.
const (
	maxReply   = 1 << 20 // bytes of one packet
	maxNoise   = 1 << 16 // bytes between packets
	maxRetries = 3       // for a packet that arrives damaged
)

// ErrHungUp says that the stub has closed the connection.
var ErrHungUp = errors.New("the stub hung up")

// errNoAnswer says that the deadline has passed.
var errNoAnswer = errors.New("no answer")

// link sends and receives packets: $data#checksum, acknowledged by + or -.
type link struct {
	conn    net.Conn
	r       *bufio.Reader
	timeout time.Duration
	limit   time.Duration    // time for the whole dialogue; 0 for no bound
	end     time.Time        // when limit is over
	now     func() time.Time // tests replace the clock
	ctx     context.Context
	noAck   bool
	broken  error // set after a failure, for the two sides no longer agree on what comes next
}

// ErrLimit says that a bound on time in [Options] is over.
var ErrLimit = errors.New("the limit of time is over")

type limitError struct{ limit time.Duration }

func (e *limitError) Error() string {
	return fmt.Sprintf("the %v for all that is asked of the stub are over (--limit)", e.limit)
}
func (e *limitError) Unwrap() error { return ErrLimit }

func newLink(ctx context.Context, conn net.Conn, timeout time.Duration) *link {
	return &link{conn: conn, r: bufio.NewReaderSize(conn, 64<<10), timeout: timeout, now: time.Now, ctx: ctx}
}

// exchange sends a packet and returns the stub's answer to it.
func (l *link) exchange(packet []byte) (reply []byte, err error) {
	return l.within(l.timeout, func() ([]byte, error) {
		if err := l.send(packet); err != nil {
			return nil, err
		}
		return l.receive()
	})
}

// within runs f, one part of the dialogue, and fails when limit has passed.
func (l *link) within(limit time.Duration, f func() ([]byte, error)) (reply []byte, err error) {
	if l.broken != nil {
		return nil, l.broken
	}
	last := false // limit is the rest of the whole dialogue's
	if l.limit > 0 {
		left := l.end.Sub(l.now())
		if left <= 0 {
			l.broken = &limitError{l.limit}
			return nil, l.broken
		}
		if left < limit {
			limit, last = left, true
		}
	}
	l.conn.SetDeadline(time.Now().Add(limit))
	gaveUp := make(chan struct{})
	stop := context.AfterFunc(l.ctx, func() {
		defer close(gaveUp)
		l.conn.SetDeadline(time.Unix(1, 0))
	})
	reply, err = f()
	if !stop() {
		<-gaveUp // a late deadline would end the next exchange, which may let the target go on
	}
	if err == nil {
		return reply, nil
	}
	switch {
	case l.ctx.Err() != nil:
		err = context.Cause(l.ctx)
	case errors.Is(err, os.ErrDeadlineExceeded) && last:
		err = &limitError{l.limit}
	case errors.Is(err, os.ErrDeadlineExceeded):
		err = fmt.Errorf("%w in %v", errNoAnswer, limit)
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, net.ErrClosed):
		err = ErrHungUp
	}
	l.broken = err
	return nil, err
}

// send writes a packet and, unless acknowledgements are off, waits for one.
func (l *link) send(data []byte) error {
	frame := make([]byte, 0, len(data)+4)
	frame = append(frame, '$')
	frame = append(frame, data...)
	frame = append(frame, '#')
	frame = append(frame, hexByte(sum(data))...)
	for range maxRetries {
		if _, err := l.conn.Write(frame); err != nil {
			return err
		}
		if l.noAck {
			return nil
		}
		ok, err := l.acknowledged()
		if ok || err != nil {
			return err
		}
	}
	return fmt.Errorf("the stub refuses packet %q: wrong checksum, it says", short(data))
}

// acknowledged waits for + or -. It skips packets that the stub sends unasked before that.
func (l *link) acknowledged() (bool, error) {
	for range maxNoise {
		c, err := l.r.ReadByte()
		if err != nil {
			return false, err
		}
		switch c {
		case '+':
			return true, nil
		case '-':
			return false, nil
		case '$', '%':
			if _, _, err := l.body(); err != nil {
				return false, err
			}
		}
	}
	return false, errors.New("the stub sends no packets: is it a GDB stub?")
}

// receive reads the next packet. It skips notifications and noise between packets.
func (l *link) receive() ([]byte, error) {
	bad := 0
	for range maxNoise {
		c, err := l.r.ReadByte()
		if err != nil {
			return nil, err
		}
		if c != '$' && c != '%' {
			continue
		}
		data, ok, err := l.body()
		switch {
		case err != nil:
			return nil, err
		case c == '%':
			continue // a notification, which is no answer
		case !ok && (l.noAck || bad == maxRetries):
			return nil, fmt.Errorf("the stub's packet %q has a wrong checksum", short(data))
		case !ok:
			bad++
			if _, err := l.conn.Write([]byte{'-'}); err != nil {
				return nil, err
			}
			continue
		}
		if !l.noAck {
			if _, err := l.conn.Write([]byte{'+'}); err != nil {
				return nil, err
			}
		}
		return data, nil
	}
	return nil, errors.New("the stub sends no packets: is it a GDB stub?")
}

// body reads a packet from behind $ to the checksum. In it, } escapes the next byte, and * repeats
// the one before. ok tells whether the checksum is right.
func (l *link) body() (data []byte, ok bool, err error) {
	var total byte
	for {
		c, err := l.r.ReadByte()
		if err != nil {
			return nil, false, err
		}
		if c == '#' {
			break
		}
		total += c
		switch c {
		case '}':
			if c, err = l.r.ReadByte(); err != nil {
				return nil, false, err
			}
			total += c
			data = append(data, c^0x20)
		case '*':
			if c, err = l.r.ReadByte(); err != nil {
				return nil, false, err
			}
			total += c
			if len(data) == 0 || c < 29 {
				return nil, false, fmt.Errorf("the stub's packet repeats nothing (run length %d)", c)
			}
			last := data[len(data)-1]
			for range int(c) - 29 {
				data = append(data, last)
			}
		default:
			data = append(data, c)
		}
		if len(data) > maxReply {
			return nil, false, fmt.Errorf("the stub's packet %q… is longer than %d bytes", short(data), maxReply)
		}
	}
	var check [2]byte
	if _, err := io.ReadFull(l.r, check[:]); err != nil {
		return nil, false, err
	}
	want, valid := unhexByte(check[0], check[1])
	return data, valid && want == total, nil
}

func sum(data []byte) (s byte) {
	for _, c := range data {
		s += c
	}
	return s
}

const digits = "0123456789abcdef"

func hexByte(b byte) []byte { return []byte{digits[b>>4], digits[b&15]} }

func unhexByte(hi, lo byte) (byte, bool) {
	h, ok1 := unhexDigit(hi)
	l, ok2 := unhexDigit(lo)
	return h<<4 | l, ok1 && ok2
}

func unhexDigit(c byte) (byte, bool) {
	switch {
	case c >= '0' && c <= '9':
		return c - '0', true
	case c >= 'a' && c <= 'f':
		return c - 'a' + 10, true
	case c >= 'A' && c <= 'F':
		return c - 'A' + 10, true
	}
	return 0, false
}

// unhex decodes pairs of digits into p. It stops at anything else, and returns how many bytes it
// decoded.
func unhex(p, text []byte) (n int) {
	for ; n < len(p) && len(text) >= 2; n++ {
		b, ok := unhexByte(text[0], text[1])
		if !ok {
			break
		}
		p[n], text = b, text[2:]
	}
	return n
}

// short returns the beginning of a packet, for messages.
func short(data []byte) []byte { return data[:min(len(data), 40)] }
