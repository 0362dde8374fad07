package ring

import (
	"encoding/binary"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/sfwalk/sfwalk/format/perfevent"
)

// Where a ring has what is no record, all that was written up to then is passed over and counted;
// what comes later is read.
func TestBrokenRing(t *testing.T) {
	order := binary.NativeEndian
	r := &ring{fd: -1, data: make([]byte, 4096), page: &unix.PerfEventMmapPage{}}
	g := &Group{rings: []*ring{r}, Format: perfevent.Format{}}
	write := func(size uint16) {
		b := r.data[r.page.Data_head:]
		order.PutUint32(b, perfevent.RecordThrottle)
		order.PutUint16(b[6:], size)
		r.page.Data_head += 32
	}
	read := func() (n int) {
		if err := g.Read(time.Second, func(perfevent.Record) error { n++; return nil }); err != nil {
			t.Fatal(err)
		}
		return n
	}
	lost := func() uint64 {
		_, n := g.Totals()
		return n
	}
	write(32)
	write(4) // smaller than its header
	write(32)
	if n := read(); n != 1 || lost() != 1 || r.page.Data_tail != 96 {
		t.Errorf("%d records, %d lost, read up to %d", n, lost(), r.page.Data_tail)
	}
	write(32)
	write(400) // longer than what was written
	if n := read(); n != 1 || lost() != 2 {
		t.Errorf("%d records, %d lost", n, lost())
	}
	write(32)
	if n := read(); n != 1 || lost() != 2 {
		t.Errorf("%d records, %d lost", n, lost())
	}
}
