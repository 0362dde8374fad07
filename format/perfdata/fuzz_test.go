package perfdata_test

import (
	"bytes"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/sfwalk/sfwalk/format/perfdata"
	"github.com/sfwalk/sfwalk/format/perfevent"
	"github.com/sfwalk/sfwalk/internal/test/bounds"
)

// FuzzRead reads any bytes as a file, and what they would be as compressed records.
func FuzzRead(f *testing.F) {
	for _, order := range orders {
		m := newHandmade(order)
		m.event(2, 1, 8)
		m.features[6], m.features[2] = m.text("s390x"), m.record(67, append(make([]byte, 28), "/lib/x\x00\x00"...))
		m.records = append(append(m.sample(7, 20), m.sample(8, 10)...), m.record(round, nil)...)
		f.Add(m.file(), false)
		f.Add(m.stream(), false)
		f.Add(m.records, true)
		m.records = m.packed(m.records[:20], m.records[20:])
		f.Add(m.file(), false)
		m.records = append(m.record(71, m.u64(16, 0, 0)), make([]byte, 16)...) // PERF_RECORD_AUXTRACE
		f.Add(m.stream(), false)
	}
	perfdata.Tighten(f, 64<<10, 256<<10)
	f.Fuzz(func(t *testing.T, data []byte, pack bool) {
		if pack {
			m := newHandmade(orders[0])
			// The usual window is allocated for each input, and takes three quarters of the time.
			m.packing = []zstd.EOption{zstd.WithWindowSize(zstd.MinWindowSize), zstd.WithEncoderLevel(zstd.SpeedFastest)}
			m.records = m.packed(data)
			data = m.stream()
		}
		bounds.Hold(t, 8<<20+256*len(data), func() {
			r, err := perfdata.Open(bytes.NewReader(data), int64(len(data)))
			if err != nil {
				return
			}
			var s perfevent.Sample
			r.Read(func(x perfdata.Record) error {
				switch x.Type {
				case perfevent.RecordSample:
					x.Event.Format.Sample(x.Record, &s)
				case perfevent.RecordCallchainDeferred:
					x.Event.Format.Deferred(x.Record)
				case perfevent.RecordKsymbol:
					x.Event.Format.Ksymbol(x.Record)
				default:
					x.Event.Format.Mmap(x.Record)
				}
				return nil
			})
		})
	})
}
