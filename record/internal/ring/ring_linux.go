package ring

import (
	"encoding/binary"
	"errors"
	"fmt"
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/sfwalk/sfwalk/format/perfevent"
)

// ring is the buffer into which the kernel writes the records of one processor.
type ring struct {
	fd   int // of the event that has made it; -1 if there is none yet
	size int // of the records' part, bytes, a power of two
	mem  []byte
	data []byte // the part of mem with records
	page *unix.PerfEventMmapPage

	head, tail uint64 // the kernel writes at head; from tail on, records are not read yet

	next    perfevent.Record // the record at tail, if has is set
	has     bool
	length  uint64 // of next, with its header
	time    uint64 // of next
	broken  uint64 // how often something was passed over that is no record
	wrapped []byte // a record that lies at both ends of data
}

// open makes the ring's memory. If the kernel does not lend so much, open asks for less: not below
// a page of records.
func (r *ring) open(fd int) error {
	page := unix.Getpagesize()
	for {
		mem, err := unix.Mmap(fd, 0, page+r.size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
		if err == nil {
			r.fd, r.mem, r.data = fd, mem, mem[page:]
			r.page = (*unix.PerfEventMmapPage)(unsafe.Pointer(&mem[0]))
			return nil
		}
		if !errors.Is(err, unix.EPERM) && !errors.Is(err, unix.ENOMEM) || r.size <= 128<<10 {
			return fmt.Errorf("memory for records: %w: raise kernel.perf_event_mlock_kb, or the limit on locked memory", err)
		}
		r.size /= 2
	}
}

// look finds out up to where the kernel has written.
func (r *ring) look() {
	if r.page != nil {
		r.head = atomic.LoadUint64(&r.page.Data_head)
	}
}

// halfFull reports whether the kernel has filled half of the ring, or more: then it has woken who
// waits for it.
func (r *ring) halfFull() bool {
	r.look()
	return r.head-r.tail >= uint64(len(r.data)/2) && r.page != nil
}

// peek finds out whether there is a record at tail, and its time. If there is something else, all
// that the kernel has written so far is passed over, for no record can be told from the next.
func (r *ring) peek(f *perfevent.Format) {
	if r.has || r.page == nil || r.head-r.tail < perfevent.HeaderSize {
		return
	}
	mask := uint64(len(r.data) - 1)
	at := r.tail & mask
	r.length = uint64(binary.NativeEndian.Uint16(r.data[at+6:])) // records begin at multiples of eight bytes
	if r.length < perfevent.HeaderSize || r.length > r.head-r.tail {
		r.length = r.head - r.tail
		r.pass()
		r.broken++
		return
	}
	b := r.data[at:min(at+r.length, uint64(len(r.data)))]
	if uint64(len(b)) < r.length {
		r.wrapped = append(append(r.wrapped[:0], b...), r.data[:r.length-uint64(len(b))]...)
		b = r.wrapped
	}
	r.next, _, _ = f.Next(b) // the size is right
	r.time, r.has = f.Time(r.next), true
}

// pass gives the room of the record at tail back to the kernel.
func (r *ring) pass() {
	r.tail += r.length
	r.has = false
	atomic.StoreUint64(&r.page.Data_tail, r.tail)
}

func (r *ring) close() {
	if r.fd >= 0 {
		unix.Munmap(r.mem)
		unix.Close(r.fd)
		r.fd, r.page, r.mem, r.data, r.has = -1, nil, nil, nil, false
	}
}
