package perfdata_test

import (
	"bytes"
	"encoding/binary"
	"math/bits"

	"github.com/klauspost/compress/zstd"

	"github.com/sfwalk/sfwalk/format/perfdata"
	"github.com/sfwalk/sfwalk/format/perfevent"
)

// bothOrder is binary.LittleEndian or binary.BigEndian.
type bothOrder interface {
	binary.ByteOrder
	binary.AppendByteOrder
}

// handmade is a file that is made by hand, as tools/perf/Documentation/perf.data-file-format.txt
// has it.
type handmade struct {
	order    bothOrder
	attrs    [][]byte
	ids      [][]uint64
	records  []byte
	features map[int][]byte
	packing  []zstd.EOption // further options of what is compressed
}

// sampleFields are what the samples of made files have.
const sampleFields = perfevent.SampleIdentifier | perfevent.SampleIP | perfevent.SampleTID | perfevent.SampleTime | perfevent.SamplePeriod

func newHandmade(order bothOrder) *handmade {
	m := &handmade{order: order, features: map[int][]byte{}}
	m.event(0, 4000, 7)
	return m
}

// event adds an event with so many samples a second.
func (m *handmade) event(config, frequency uint64, ids ...uint64) {
	b := make([]byte, 128)
	m.order.PutUint32(b, 1) // software
	m.order.PutUint32(b[4:], uint32(len(b)))
	m.order.PutUint64(b[8:], config)
	m.order.PutUint64(b[16:], frequency)
	m.order.PutUint64(b[24:], sampleFields)
	flags := uint64(1<<10 | 1<<18) // freq, sample_id_all
	if m.order == binary.BigEndian {
		flags = bits.Reverse64(flags)
	}
	m.order.PutUint64(b[40:], flags)
	m.attrs, m.ids = append(m.attrs, b), append(m.ids, ids)
}

func (m *handmade) u64(values ...uint64) (b []byte) {
	for _, v := range values {
		b = m.order.AppendUint64(b, v)
	}
	return b
}

// record makes a record.
func (m *handmade) record(kind uint32, body []byte) []byte {
	b := m.order.AppendUint32(nil, kind)
	b = m.order.AppendUint16(b, perfevent.MiscUser)
	b = m.order.AppendUint16(b, uint16(8+len(body)))
	return append(b, body...)
}

// sample makes a sample of an event.
func (m *handmade) sample(id, time uint64) []byte {
	b := m.u64(id, 0x401000)
	b = m.order.AppendUint32(m.order.AppendUint32(b, 42), 43)
	return m.record(perfevent.RecordSample, append(b, m.u64(time, 5)...))
}

// text is a text as features have it.
func (m *handmade) text(s string) []byte {
	b := make([]byte, (len(s)+8)&^7)
	copy(b, s)
	return append(m.order.AppendUint32(nil, uint32(len(b))), b...)
}

// file returns the file.
func (m *handmade) file() []byte {
	var attrs, ids []byte
	at := 104 + (128+16)*len(m.attrs)
	for i, a := range m.attrs {
		attrs = append(append(attrs, a...), m.u64(uint64(at+len(ids)), uint64(8*len(m.ids[i])))...)
		ids = append(ids, m.u64(m.ids[i]...)...)
	}
	data := uint64(at + len(ids))
	var set [4]uint64
	var table, parts []byte
	for feature := range 256 {
		if part, ok := m.features[feature]; ok {
			set[feature/64] |= 1 << (feature % 64)
			table = append(table, m.u64(data+uint64(len(m.records)+16*len(m.features)+len(parts)), uint64(len(part)))...)
			parts = append(parts, part...)
		}
	}
	b := m.u64(0x32454c4946524550, 104, 128+16, 104, uint64(len(attrs)), data, uint64(len(m.records)), 0, 0)
	b = append(b, m.u64(set[:]...)...)
	return bytes.Join([][]byte{b, attrs, ids, m.records, table, parts}, nil)
}

// stream returns what perf writes to a pipe.
func (m *handmade) stream() []byte {
	b := m.u64(0x32454c4946524550, 16)
	for i, a := range m.attrs {
		b = append(b, m.record(64, append(a, m.u64(m.ids[i]...)...))...)
	}
	for feature, part := range m.features {
		b = append(b, m.record(80, append(m.u64(uint64(feature)), part...))...)
	}
	return append(b, m.records...)
}

// packed compresses records: the records of each part become one compressed record, of one stream.
func (m *handmade) packed(parts ...[]byte) (b []byte) {
	var out bytes.Buffer
	w, err := zstd.NewWriter(&out, append([]zstd.EOption{zstd.WithEncoderConcurrency(1)}, m.packing...)...)
	if err != nil {
		panic(err)
	}
	for _, p := range parts {
		w.Write(p)
		w.Flush()
		b = append(b, m.record(81, bytes.Clone(out.Bytes()))...)
		out.Reset()
	}
	w.Close()
	return b
}

// read reads a file to its end.
func read(file []byte) (r *perfdata.Reader, records []perfdata.Record, err error) {
	r, err = perfdata.Open(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		return nil, nil, err
	}
	err = r.Read(func(x perfdata.Record) error {
		x.Body = bytes.Clone(x.Body)
		records = append(records, x)
		return nil
	})
	return r, records, err
}
