package perfdata_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/format/perfdata"
	"github.com/sfwalk/sfwalk/format/perfevent"
)

var orders = []bothOrder{binary.LittleEndian, binary.BigEndian}

const round = 68 // PERF_RECORD_FINISHED_ROUND

// times returns the times of records.
func times(records []perfdata.Record) (list []uint64) {
	for _, r := range records {
		list = append(list, r.Time)
	}
	return list
}

// Records come in the order of their times, though each round has the records of one processor
// after the records of another, in files, streams and compressed, of either byte order.
func TestOrder(t *testing.T) {
	for _, order := range orders {
		m := newHandmade(order)
		m.event(2, 1, 8, 9)
		m.features[3], m.features[6] = m.text("host"), m.text("s390x")
		m.features[11] = append(order.AppendUint32(nil, 2), append(m.text("perf"), m.text("record")...)...)
		rounds := [][]byte{
			slices.Concat(m.sample(7, 10), m.sample(7, 30), m.sample(8, 15), m.sample(7, 20)),
			slices.Concat(m.sample(9, 40), m.sample(7, 25), m.sample(7, 31)),
			slices.Concat(m.sample(7, 55), m.sample(7, 41), m.sample(6, 42)),
		}
		end := m.record(round, nil)
		want := []uint64{10, 15, 20, 25, 30, 31, 40, 41, 55}
		plain, packed := m.records, m.packed(slices.Concat(rounds[0], rounds[1][:20]), rounds[1][20:], rounds[2])
		for _, part := range rounds {
			plain = slices.Concat(plain, part, end)
		}
		for name, records := range map[string][]byte{"plain": plain, "packed": packed} {
			m.records = records
			for form, file := range map[string][]byte{"file": m.file(), "stream": m.stream()} {
				t.Run(fmt.Sprint(order, name, form), func(t *testing.T) {
					r, list, err := read(file)
					if err != nil {
						t.Fatal(err)
					}
					if got := times(list); !slices.Equal(got, want) || r.Unknown != 1 || r.Late != 0 || r.Unfinished {
						t.Errorf("%v, want %v; %+v", got, want, r)
					}
					if i := r.Info; i.Hostname != "host" || i.Arch != "s390x" || !slices.Equal(i.Command, []string{"perf", "record"}) {
						t.Errorf("%+v", i)
					}
					if e := list[1].Event; len(r.Events) != 2 || e != r.Events[1] || e.Name != "page-faults" || e.Frequency != 1 || !e.Format.IDAll || e.Format.SampleType != sampleFields {
						t.Errorf("%+v", e)
					}
				})
			}
		}
	}
}

// Where more records wait than there is room for, the oldest are given out; one that comes later is
// counted.
func TestWindowFull(t *testing.T) {
	m := newHandmade(binary.LittleEndian)
	for i := range 100 {
		m.records = append(m.records, m.sample(7, uint64(1000+i))...)
	}
	m.records = append(m.records, m.sample(7, 1)...)
	file := m.file()
	r, err := perfdata.Open(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		t.Fatal(err)
	}
	r.SetWindow(161 << 10) // one chunk of the file, and some entries
	n := 0
	if err := r.Read(func(perfdata.Record) error { n++; return nil }); err != nil || n != 101 || r.Late != 1 {
		t.Errorf("%d records, %d late, %v", n, r.Late, err)
	}
}

// A file whose writer was killed, or that is cut, is read as far as it goes.
func TestUnfinished(t *testing.T) {
	m := newHandmade(binary.LittleEndian)
	m.features[6] = m.text("x86_64")
	for i := range 10 {
		m.records = append(m.records, m.sample(7, uint64(1000+i))...)
	}
	whole := m.file()
	size := len(m.sample(7, 0))
	end := len(whole) - len(m.features[6]) - 16
	killed := bytes.Clone(whole[:end-size/2])
	binary.LittleEndian.PutUint64(killed[48:], 0)
	for name, file := range map[string][]byte{"killed": killed, "cut": whole[:end-size/2], "zeroes": append(bytes.Clone(killed[:end-size]), make([]byte, 100)...), "stream": m.stream()[:len(m.stream())-size/2]} {
		r, list, err := read(file)
		if err != nil || len(list) != 9 || !r.Unfinished {
			t.Errorf("%s: %d records, unfinished %v, %v", name, len(list), r != nil && r.Unfinished, err)
		}
	}
	// All records are there, and what follows them is not.
	for _, lost := range []int{1, len(m.features[6]), len(m.features[6]) + 1, len(whole) - end} {
		r, list, err := read(whole[:len(whole)-lost])
		if err != nil || len(list) != 10 || !r.Unfinished {
			t.Errorf("%d bytes are lost: %d records, unfinished %v, %v", lost, len(list), r != nil && r.Unfinished, err)
		}
	}
}

// What is no file of perf's, or a broken one, is an error that says why.
func TestBroken(t *testing.T) {
	m := newHandmade(binary.LittleEndian)
	m.features[6] = m.text("x86_64")
	m.records = m.sample(7, 1000)
	put := func(at int, v uint64) []byte {
		b := m.file()
		binary.LittleEndian.PutUint64(b[at:], v)
		return b
	}
	for name, tt := range map[string]struct {
		file []byte
		want string
	}{
		"empty":             {nil, "no file of perf record"},
		"ELF":               {append([]byte("\x7fELF"), make([]byte, 200)...), "no file of perf record"},
		"header":            {put(8, 50), "the header has 50 bytes"},
		"attributes beyond": {put(24, 1<<40), "events: 144 bytes at 0x10000000000 are beyond the end"},
		"attributes of 8":   {put(16, 8), "each description has 8 bytes"},
		"no attributes":     {put(32, 0), "events: there are 0"},
		"IDs beyond":        {put(104+128, 1<<63), "events' IDs"},
		"data beyond":       {put(40, 1<<40), "the records begin at 0x10000000000"},
		"no events":         {m.stream()[:0:0], "no file of perf record"},
	} {
		if _, _, err := read(tt.file); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", name, err, tt.want)
		}
	}
	if _, err := perfdata.Stream(bytes.NewReader(m.file())); err == nil || !strings.Contains(err.Error(), "give the file's name") {
		t.Errorf("a file as a stream: %v", err)
	}
	stop := errors.New("stop")
	r, err := perfdata.Open(bytes.NewReader(m.file()), int64(len(m.file())))
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Read(func(perfdata.Record) error { return stop }); err != stop {
		t.Errorf("%v, want the visitor's own", err)
	}
}

// What is broken costs itself alone, or what can no more be told apart from it: all other samples
// are read. How many things were left out, and why the first was, is known.
func TestLeftOut(t *testing.T) {
	m := newHandmade(binary.LittleEndian)
	m.features[6] = m.text("x86_64")
	m.records = m.sample(7, 1000)
	put := func(at int, v uint64) []byte {
		b := m.file()
		binary.LittleEndian.PutUint64(b[at:], v)
		return b
	}
	records := func(parts ...[]byte) []byte {
		with := *m
		with.records = slices.Concat(parts...)
		return with.file()
	}
	before, after := m.sample(7, 1), m.sample(7, 2)
	noZstd := m.record(81, []byte{1, 2, 3, 4, 5, 6, 7, 8})
	packed := func(parts ...[]byte) []byte { // in one compressed record
		return m.packed(slices.Concat(parts...))
	}
	short := m.sample(7, 3)
	short[6] = 4
	size := len(m.features[6])
	for name, tt := range map[string]struct {
		file    []byte
		samples int
		unread  uint64
		want    string
	}{
		"huge feature":            {put(len(m.file())-size-8, 1<<60), 1, 1, "in the header: feature 6: 1152921504606846976 bytes are more than"},
		"feature cut":             {put(len(m.file())-size-8, 6), 1, 1, "in the header: feature 6: its 6 bytes are too few"},
		"feature in a stream":     {slices.Concat(m.stream(), m.record(80, m.u64(6)), after), 2, 1, "feature 6: its 0 bytes are too few"},
		"record of 4 bytes":       {records(before, short, after), 1, 1, "a record has 4 bytes; all that follows is left out"},
		"no zstd":                 {records(before, noZstd, after), 2, 1, "compressed records: "},
		"after no zstd":           {records(before, noZstd, packed(before), after), 2, 2, "compressed records: "},
		"packed in packed":        {records(before, packed(before, noZstd, after), after), 4, 1, "compressed records in compressed records"},
		"packed record of 4":      {records(before, packed(before, short, after), after), 3, 1, "compressed records: a record has 4 bytes"},
		"packed size":             {records(before, m.record(83, m.u64(100, 0)), after), 2, 1, "compressed records: 100 bytes, of which 8 are there"},
		"record before event":     {slices.Concat(m.u64(0x32454c4946524550, 16), before, m.stream()[16:]), 1, 1, "at 0x10: a record of type 9 comes before the description of any event"},
		"event of 10 bytes":       {slices.Concat(m.stream(), m.record(64, make([]byte, 10)), after), 2, 1, "an event's description has 10 bytes"},
		"event of too many bytes": {slices.Concat(m.stream(), m.record(64, append(m.u64(0x100000000000), make([]byte, 56)...)), after), 2, 1, "an event's description has 4096 bytes, of which 64 are there"},
		"build ID":                {slices.Concat(m.stream(), m.record(67, make([]byte, 12)), after), 2, 1, "an entry of 20 bytes is too short"},
	} {
		t.Run(name, func(t *testing.T) {
			r, list, err := read(tt.file)
			if err != nil || len(list) != tt.samples || r.Unread != tt.unread || r.FirstUnread == nil || !strings.Contains(r.FirstUnread.Error(), tt.want) {
				t.Errorf("%d samples, want %d; %v; %+v", len(list), tt.samples, err, r)
			}
		})
	}
}

// Records that expand to far more than stacks do are left out, before they take long.
func TestBomb(t *testing.T) {
	perfdata.Tighten(t, 1<<20, 8<<20)
	m := newHandmade(binary.LittleEndian)
	m.records = m.packed(bytes.Repeat(m.record(perfevent.RecordThrottle, make([]byte, 24+40)), 1<<16))
	if r, list, err := read(m.file()); err != nil || r.Unread != 1 || !strings.Contains(r.FirstUnread.Error(), "expand to more than") {
		t.Errorf("%d records, %v; %+v", len(list), err, r)
	}
}
