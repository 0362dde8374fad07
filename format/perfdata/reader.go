package perfdata

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/sfwalk/sfwalk/format/perfevent"
)

// These are the types of the records that perf itself writes (enum perf_user_event_type).
const (
	recordUser        = 64 // the first of them
	recordAttr        = 64
	recordTracing     = 66
	recordBuildID     = 67
	recordRound       = 68
	recordAuxTrace    = 71
	recordEventUpdate = 78
	recordFeature     = 80
	recordCompressed  = 81
	recordCompressed2 = 83
)

// Reader reads a file, once.
type Reader struct {
	Order  binary.ByteOrder
	Events []*Event // of a stream, they are known when Read gives the first record
	Info   Info     // of a stream, it grows while that is read
	// Unfinished says that perf has not come to the end of the file, or that its end is lost. It
	// counts when Read has returned.
	Unfinished bool
	// Directory says that the file is part of a folder (perf record --threads), which has most of
	// the records.
	Directory bool
	Unknown   uint64 // samples that are of none of the events
	Late      uint64 // records that come too late for their time: the window was too small for the file
	// Unread counts the records, and the features of the header, that were left out because they
	// could not be read. Where the rest of the file is left out with one, it counts as one.
	Unread      uint64
	FirstUnread error // why the first of them was left out, and where it is

	in       io.Reader
	at       uint64 // where in the file buffer ends
	ids      map[uint64]*Event
	pool     pool
	plain    buffer // what the file has
	unpacked buffer // what was decompressed
	unpacker *unpacker
	window   window
	most     int    // bytes that the window may take
	size     uint64 // bytes of the records; a great number where nobody knows
	records  int    // that were decompressed
	idCount  int    // of all events

	buildIDBytes int
	visit        func(Record) error
}

// Record is a record of the kernel's, in the format of its event.
type Record struct {
	perfevent.Record
	Event *Event
	Time  uint64 // 0 if the record has none: perf itself has written it, of what was there at the beginning
}

func newReader(order binary.ByteOrder) *Reader {
	r := &Reader{Order: order, ids: map[uint64]*Event{}, most: maxWaiting, size: math.MaxUint64}
	r.pool.size = chunkSize
	r.plain.pool, r.unpacked.pool = &r.pool, &r.pool
	return r
}

// Offset returns the offset in the file, or in the stream, up to which it was read so far.
func (r *Reader) Offset() uint64 { return r.at }

// Read calls visit with all records of the kernel's, in the order of their times. A record is valid
// until visit returns. The error is visit's, or says that the file cannot be read. A record that is
// broken is no error: it is left out, and counts as [Reader.Unread].
func (r *Reader) Read(visit func(Record) error) error {
	r.visit = visit
	defer func() {
		if r.unpacker != nil {
			r.unpacker.stop()
		}
	}()
	for {
		raw, err := r.next()
		if err != nil {
			return err
		}
		if raw == nil {
			break
		}
		at := r.at - uint64(r.plain.left()) - uint64(len(raw))
		if err := r.record(raw, &r.plain); err != nil {
			var broken *brokenError
			if !errors.As(err, &broken) {
				return err
			}
			r.leaveOut(fmt.Errorf("at %#x: %w", at, err))
		}
	}
	r.window.sort()
	return r.give(len(r.window.list))
}

// leaveOut notes that something of the file is left out.
func (r *Reader) leaveOut(why error) {
	if r.Unread++; r.FirstUnread == nil {
		r.FirstUnread = why
	}
}

// brokenError says that a part of the file is broken; an error of visit is none.
type brokenError struct{ error }

func broken(format string, args ...any) error { return &brokenError{fmt.Errorf(format, args...)} }

func (b *brokenError) Unwrap() error { return b.error }

// next returns the next record of the file; nil at its end, or where the records end that can be
// told apart.
func (r *Reader) next() ([]byte, error) {
	for {
		raw, err := r.plain.next(r.Order)
		if err != nil {
			if !r.Unfinished { // else there are zeroes, where the system has stopped while the file was written
				r.leaveOut(fmt.Errorf("at %#x: %w; all that follows is left out", r.at-uint64(r.plain.left()), err))
			}
			return nil, nil
		}
		if raw != nil {
			return raw, nil
		}
		if more, err := r.fill(); err != nil {
			return nil, err
		} else if !more {
			r.Unfinished = r.Unfinished || r.plain.left() > 0
			return nil, nil
		}
	}
}

// fill reads more of the file; more is false at its end.
func (r *Reader) fill() (more bool, err error) {
	for range 100 {
		n, err := r.in.Read(r.plain.room(64 << 10))
		r.plain.filled(n)
		r.at += uint64(n)
		switch {
		case n > 0:
			return true, nil
		case err == io.EOF:
			return false, nil
		case err != nil:
			return false, err
		}
	}
	return false, io.ErrNoProgress
}

// skip passes over n bytes of the file. In a file they may be a hole of any size, which is not
// read.
func (r *Reader) skip(n uint64) error {
	n -= r.plain.skip(n)
	if file, ok := r.in.(*io.SectionReader); ok {
		at, _ := file.Seek(0, io.SeekCurrent)
		left := uint64(file.Size() - at)
		r.Unfinished = r.Unfinished || n > left
		n = min(n, left)
		r.at += n
		_, err := file.Seek(int64(n), io.SeekCurrent)
		return err
	}
	for {
		if n -= r.plain.skip(n); n == 0 {
			return nil
		}
		if more, err := r.fill(); err != nil || !more {
			r.Unfinished = true
			return err
		}
	}
}

// record takes one record, which lies in a buffer.
func (r *Reader) record(raw []byte, in *buffer) error {
	kind, misc, body := r.Order.Uint32(raw), r.Order.Uint16(raw[4:]), raw[8:]
	if kind < recordUser {
		return r.kernels(raw, in)
	}
	p := &parts{b: body, order: r.Order}
	switch kind {
	case recordAttr:
		return r.attr(body)
	case recordBuildID:
		if err := r.buildID(misc, body); err != nil {
			return &brokenError{err}
		}
	case recordRound:
		return r.round()
	case recordEventUpdate:
		r.update(p)
	case recordFeature:
		feature := p.u64()
		if feature < mostFeatures && knownFeature(int(feature)) {
			if err := r.feature(int(feature), p.b); err != nil {
				return &brokenError{err}
			}
		}
	case recordTracing:
		return r.behind(in, uint64(p.u32()+7)&^7)
	case recordAuxTrace:
		return r.behind(in, p.u64())
	case recordCompressed:
		return r.unpack(body, in)
	case recordCompressed2:
		n := p.u64()
		if n > uint64(len(p.b)) {
			return broken("compressed records: %d bytes, of which %d are there", n, len(p.b))
		}
		return r.unpack(p.b[:n], in)
	}
	return nil
}

// behind skips data that follow a record.
func (r *Reader) behind(in *buffer, n uint64) error {
	if in != &r.plain {
		return broken("a compressed record says that other data follow it")
	}
	return r.skip(n)
}

// unpack takes the records that are compressed in a record. All compressed records are one stream:
// none can be read after a broken one.
func (r *Reader) unpack(payload []byte, in *buffer) error {
	if in != &r.plain {
		return broken("compressed records in compressed records")
	}
	if r.unpacker == nil {
		r.unpacker = newUnpacker(payload, r.size)
	}
	b := &r.unpacked
	var visitors error
	err := r.unpacker.unpack(payload, func(block []byte) error {
		copy(b.room(len(block)), block)
		b.filled(len(block))
		for {
			raw, err := b.next(r.Order)
			if err != nil {
				return fmt.Errorf("compressed records: %w", err)
			}
			if raw == nil {
				return nil
			}
			if r.records++; r.records > smallRecords && r.size < smallFile {
				return fmt.Errorf("compressed records: %d bytes expand to more than %d records", r.unpacker.in, smallRecords)
			}
			err = r.record(raw, b)
			var broken *brokenError
			if errors.As(err, &broken) {
				r.leaveOut(err)
			} else if err != nil {
				visitors = err
				return err
			}
		}
	})
	if visitors != nil || err == nil {
		return visitors
	}
	return &brokenError{err}
}

// attr takes the description of an event, which comes in a stream.
func (r *Reader) attr(body []byte) error {
	if len(body) < leastAttr {
		return broken("an event's description has %d bytes, want %d", len(body), leastAttr)
	}
	size := int(r.Order.Uint32(body[attrSize:]))
	if size < leastAttr || size > len(body) {
		return broken("an event's description has %d bytes, of which %d are there", size, len(body))
	}
	e, err := readAttr(body[:size], r.Order)
	if err == nil {
		err = r.addEvent(e, body[size:])
	}
	if err != nil {
		return &brokenError{err}
	}
	return nil
}

// update takes a change of an event: its name.
func (r *Reader) update(p *parts) {
	const name = 2 // PERF_EVENT_UPDATE__NAME
	kind, id := p.u64(), p.u64()
	if e := r.ids[id]; e != nil && kind == name {
		b := p.b
		for i, c := range b {
			if c == 0 {
				b = b[:i]
				break
			}
		}
		if len(b) > 0 {
			e.Name = string(b)
		}
	}
}

// kernels takes a record of the kernel's: raw, of which its buffer has the end as start.
func (r *Reader) kernels(raw []byte, in *buffer) error {
	k := r.kernelRecord(raw)
	if len(r.Events) == 0 {
		return broken("a record of type %d comes before the description of any event", k.Type)
	}
	e := r.Events[0]
	if len(r.Events) > 1 {
		if id, ok := e.Format.EventID(k); ok {
			if of := r.ids[id]; of != nil {
				e = of
			} else if k.Type == perfevent.RecordSample {
				r.Unknown++
				return nil
			}
		}
	}
	time := e.Format.Time(k)
	if time == 0 || time == ^uint64(0) {
		return r.visit(Record{Record: k, Event: e, Time: time})
	}
	if time < r.window.given {
		r.Late++
	}
	at := uint32(in.start - len(raw))
	r.window.add(waiting{time: time, in: in.at, at: at, size: uint16(len(raw)), event: e.index})
	if r.window.bytes > r.most {
		r.window.sort()
		return r.give((len(r.window.list) + 1) / 2)
	}
	return nil
}

// kernelRecord takes a record of the kernel's apart.
func (r *Reader) kernelRecord(raw []byte) perfevent.Record {
	return perfevent.Record{Type: r.Order.Uint32(raw), Misc: r.Order.Uint16(raw[4:]), Body: raw[8:]}
}

// round gives out the records that none can come before any more.
func (r *Reader) round() error {
	w := &r.window
	w.sort()
	err := r.give(w.upTo(w.safe))
	w.safe = w.last
	return err
}

// give gives out the first n records of the window.
func (r *Reader) give(n int) error {
	w := &r.window
	var err error
	for i := range n {
		x := &w.list[i]
		w.given = x.time
		if err == nil {
			raw := x.in.b[x.at : int(x.at)+int(x.size) : int(x.at)+int(x.size)]
			err = r.visit(Record{Record: r.kernelRecord(raw), Event: r.Events[x.event], Time: x.time})
		}
		if w.stopsWaiting(x) && x.in != r.plain.at && x.in != r.unpacked.at {
			r.plain.put(x.in)
		}
	}
	rest := copy(w.list, w.list[n:])
	clear(w.list[rest:])
	w.list = w.list[:rest]
	return err
}
