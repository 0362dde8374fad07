package perfdata_test

import (
	"bytes"
	"encoding/binary"
	"io"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/sfwalk/sfwalk/format/perfdata"
	"github.com/sfwalk/sfwalk/format/perfevent"
	"github.com/sfwalk/sfwalk/internal/test/bounds"
)

// opened reads the headers of a file that has fewer than 1 MB.
func opened(t *testing.T, file []byte) *perfdata.Reader {
	t.Helper()
	if len(file) > 1<<20 {
		t.Fatalf("%d bytes", len(file))
	}
	r, err := perfdata.Open(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// timesAlone has the samples of a file have nothing but their times.
func timesAlone(m *handmade) { m.order.PutUint64(m.attrs[0][24:], perfevent.SampleTime) }

// Records that are small take much more memory than their bytes while they wait, and many of them
// pack well. There are no rounds in which they would be given out.
func TestSmallRecords(t *testing.T) {
	m := newHandmade(binary.LittleEndian)
	timesAlone(m)
	const most = 2 << 20
	m.records = m.packed(bytes.Repeat(m.record(perfevent.RecordSample, m.u64(5)), most+1))
	r, n := opened(t, m.file()), 0
	bounds.Hold(t, 180<<20, func() {
		if err := r.Read(func(perfdata.Record) error { n++; return nil }); err != nil {
			t.Error(err)
		}
	})
	if n != most || r.Unread != 1 || !strings.Contains(r.FirstUnread.Error(), "more than 2097152 records") {
		t.Errorf("%d records, %d are left out: %v", n, r.Unread, r.FirstUnread)
	}
}

// A chunk is kept for one record that waits, if all others in it have no time.
func TestSparseRecords(t *testing.T) {
	m := newHandmade(binary.LittleEndian)
	timesAlone(m)
	lost := m.record(perfevent.RecordLost, make([]byte, 64<<10-24))
	part := append(m.record(perfevent.RecordSample, m.u64(5)), bytes.Repeat(lost, 3)...)
	m.records = m.packed(bytes.Repeat(part, 350))
	r, n := opened(t, m.file()), 0
	r.SetWindow(2 << 20)
	bounds.Hold(t, 40<<20, func() {
		if err := r.Read(func(perfdata.Record) error { n++; return nil }); err != nil {
			t.Error(err)
		}
	})
	if n != 1400 || r.Unread != 0 {
		t.Errorf("%d records; %v", n, r.FirstUnread)
	}
}

// Events may share the list of their IDs.
func TestSharedIDs(t *testing.T) {
	m := newHandmade(binary.LittleEndian)
	for range 4000 {
		m.event(0, 1)
	}
	for i := range uint64(40000) {
		m.ids[0] = append(m.ids[0], i)
	}
	file := m.file()
	for i := range m.attrs {
		copy(file[104+144*i+128:], file[104+128:104+144])
	}
	bounds.Hold(t, 64<<20, func() {
		_, err := perfdata.Open(bytes.NewReader(file), int64(len(file)))
		if err == nil || !strings.Contains(err.Error(), "more than 4194304 IDs") {
			t.Error(err)
		}
	})
}

// A table of build IDs is cut where it is larger than any machine's.
func TestManyBuildIDs(t *testing.T) {
	m := newHandmade(binary.LittleEndian)
	m.records = m.packed(bytes.Repeat(m.record(67, append(make([]byte, 28), "/x\x00\x00\x00\x00\x00\x00"...)), 1<<20))
	r := opened(t, m.file())
	bounds.Hold(t, 180<<20, func() { r.Read(func(perfdata.Record) error { return nil }) })
	if len(r.Info.BuildIDs) != 1<<17 || !strings.Contains(r.FirstUnread.Error(), "build IDs: more than 131072") {
		t.Errorf("%d build IDs, %v", len(r.Info.BuildIDs), r.FirstUnread)
	}
}

// hole reads as zeros but for the parts at its beginning and at its end.
type hole struct {
	begin, end []byte
	size       int64
	read       *int
}

func (h hole) ReadAt(p []byte, at int64) (n int, err error) {
	left := p[:max(0, min(int64(len(p)), h.size-at))]
	clear(left)
	if at < int64(len(h.begin)) {
		copy(left, h.begin[at:])
	}
	for i := range left {
		if from := at + int64(i) - (h.size - int64(len(h.end))); from >= 0 {
			left[i] = h.end[from]
		}
	}
	*h.read += len(left)
	if len(left) < len(p) {
		err = io.EOF
	}
	return len(left), err
}

// What a record says to skip may be a hole of terabytes: it is not read. Neither is a feature.
func TestHoles(t *testing.T) {
	const size int64 = 1 << 43
	m := newHandmade(binary.LittleEndian)
	m.features[2], m.features[6] = make([]byte, 100), m.text("x86_64")
	m.records = m.record(71, m.u64(0, 0))
	begin, end := m.file(), m.sample(7, 10)
	const at = 104 + 144 + 8 // of the records
	skipped := uint64(size - int64(len(end)+at+len(m.records)))
	binary.LittleEndian.PutUint64(begin[48:], 0) // as if its writer was killed
	binary.LittleEndian.PutUint64(begin[at+8:], skipped)
	read := 0
	r, err := perfdata.Open(hole{begin, end, size, &read}, size)
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	if err := r.Read(func(perfdata.Record) error { n++; return nil }); err != nil || n != 1 || read > 4<<20 {
		t.Errorf("%d records, %d bytes are read, %v", n, read, err)
	}
	feature := bytes.Clone(m.file())
	place := at + len(m.records)
	binary.LittleEndian.PutUint64(feature[place:], 1<<20)
	binary.LittleEndian.PutUint64(feature[place+8:], 64<<20)
	read = 0
	bounds.Hold(t, 4<<20, func() { r, err = perfdata.Open(hole{feature, nil, size, &read}, size) })
	said := r.FirstUnread.Error()
	if err != nil || read > 4<<20 || r.Unread != 1 || !strings.Contains(said, "a hole") || r.Info.Arch != "x86_64" {
		t.Errorf("%d bytes are read, %v, %+v", read, err, r)
	}
}

// perf record -z22 has the decoder keep 128 MiB. It keeps as much as a small file expands to.
func TestLargeWindow(t *testing.T) {
	m := newHandmade(binary.LittleEndian)
	var out bytes.Buffer
	w, err := zstd.NewWriter(&out, zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(128<<20))
	if err != nil {
		t.Fatal(err)
	}
	one := m.record(perfevent.RecordLost, make([]byte, 60000))
	for range 2000 {
		w.Write(one)
	}
	w.Close()
	var first zstd.Header
	if err := first.Decode(out.Bytes()); err != nil || first.WindowSize != 128<<20 {
		t.Fatalf("%+v, %v", first, err)
	}
	for b := out.Bytes(); len(b) > 0; b = b[min(len(b), 60000):] {
		m.records = append(m.records, m.record(81, b[:min(len(b), 60000)])...)
	}
	r, n := opened(t, m.file()), 0
	bounds.Hold(t, 120<<20, func() { r.Read(func(perfdata.Record) error { n++; return nil }) })
	if n < 1000 || n > 1200 || !strings.Contains(r.FirstUnread.Error(), "expand to more than") {
		t.Errorf("%d records; %v", n, r.FirstUnread)
	}
}
