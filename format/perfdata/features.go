package perfdata

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math/bits"
	"time"
)

// These are the features of a file that are read (tools/perf/util/header.h).
const (
	featureBuildID    = 2
	featureHostname   = 3
	featureRelease    = 4
	featureVersion    = 5
	featureArch       = 6
	featureCommand    = 11
	featureEvents     = 12
	featureSampleTime = 21
	featureDirectory  = 24
	featureClock      = 29
	mostFeatures      = 64
)

// Info is what a file tells of the machine and of the recording. A field is empty if the file does
// not tell.
type Info struct {
	Hostname string
	Release  string   // of the kernel: uname -r
	Arch     string   // uname -m: "x86_64", "aarch64", "s390x"
	Version  string   // of perf
	Command  []string // by which it was recorded
	// First and Last are the times of the first and the last sample, nanoseconds of the events'
	// clock.
	First, Last uint64
	// Wall is the time of day at the time Clock of the events' clock.
	Wall  time.Time
	Clock uint64
	// BuildIDs are the build IDs of files that samples are in.
	BuildIDs []BuildID
}

// BuildID says which build of a file was mapped.
type BuildID struct {
	PID    int32 // -1 for all processes
	Kernel bool  // it is the kernel or one of its modules
	ID     string
	Path   string // "[kernel.kallsyms]", "[vdso]" and the like for the kernel's own
}

// A table of build IDs has at most maxBuildIDs entries, of maxBuildIDBytes bytes together.
const (
	maxBuildIDs     = 1 << 17
	maxBuildIDBytes = 16 << 20
)

// readFeatures reads the table of features that follows the records.
func (r *Reader) readFeatures(f io.ReaderAt, size int64, table section, set [featureBits / 64]uint64) error {
	n := 0
	for _, word := range set {
		n += bits.OnesCount64(word)
	}
	table.size = 16 * uint64(n)
	b, err := readSection(f, size, table, "features")
	if err != nil {
		return err
	}
	for feature := range featureBits {
		if set[feature/64]&(1<<(feature%64)) == 0 {
			continue
		}
		at := section{r.Order.Uint64(b), r.Order.Uint64(b[8:])}
		b = b[16:]
		if !knownFeature(feature) {
			continue
		}
		data, err := readSection(f, size, at, fmt.Sprint("feature ", feature))
		if errors.Is(err, errBeyond) {
			return err
		}
		if err == nil {
			err = r.feature(feature, data)
		}
		if err != nil {
			r.leaveOut(fmt.Errorf("in the header: %w", err))
		}
	}
	return nil
}

func knownFeature(feature int) bool {
	switch feature {
	case featureBuildID, featureHostname, featureRelease, featureVersion, featureArch, featureCommand, featureEvents, featureSampleTime, featureDirectory, featureClock:
		return true
	}
	return false
}

// feature reads one feature.
func (r *Reader) feature(feature int, data []byte) error {
	in := &parts{b: data, order: r.Order}
	i := &r.Info
	switch feature {
	case featureBuildID:
		return r.buildIDs(data)
	case featureHostname:
		i.Hostname = in.text()
	case featureRelease:
		i.Release = in.text()
	case featureVersion:
		i.Version = in.text()
	case featureArch:
		i.Arch = in.text()
	case featureCommand:
		i.Command = nil
		for n := in.u32(); n > 0 && !in.short; n-- {
			i.Command = append(i.Command, in.text())
		}
	case featureEvents:
		r.eventNames(in)
	case featureSampleTime:
		i.First, i.Last = in.u64(), in.u64()
	case featureDirectory:
		r.Directory = in.u64() != 0
	case featureClock:
		if in.u32() == 1 { // the version
			in.u32() // the clock
			wall := in.u64()
			i.Clock = in.u64()
			i.Wall = time.Unix(0, int64(wall))
		}
	}
	if in.short {
		return fmt.Errorf("feature %d: its %d bytes are too few for its fields", feature, len(data))
	}
	return nil
}

// buildIDs reads a list of struct perf_record_header_build_id.
func (r *Reader) buildIDs(data []byte) error {
	for len(data) > 0 {
		if len(data) < 8 {
			return fmt.Errorf("build IDs: %d bytes are left", len(data))
		}
		size := int(r.Order.Uint16(data[6:]))
		if size < 8 || size > len(data) {
			return fmt.Errorf("build IDs: an entry has %d bytes, of which %d are there", size, len(data))
		}
		if err := r.buildID(r.Order.Uint16(data[4:]), data[8:size]); err != nil {
			return err
		}
		data = data[size:]
	}
	return nil
}

// buildID reads the body of one struct perf_record_header_build_id.
func (r *Reader) buildID(misc uint16, body []byte) error {
	const kernel, guest, hasSize, room = 1, 4, 1 << 15, 24
	if len(body) < 4+room+1 {
		return fmt.Errorf("build IDs: an entry of %d bytes is too short", 8+len(body))
	}
	length := 20
	if misc&hasSize != 0 {
		length = min(int(body[4+20]), length)
	}
	path, _, ok := bytes.Cut(body[4+room:], []byte{0})
	if !ok {
		return fmt.Errorf("build IDs: a path of %d bytes has no end", len(body)-4-room)
	}
	if mode := misc & 7; mode >= guest {
		return nil // of a virtual machine's guest
	}
	if r.buildIDBytes += len(path) + 2*length; len(r.Info.BuildIDs) >= maxBuildIDs || r.buildIDBytes > maxBuildIDBytes {
		return fmt.Errorf("build IDs: more than %d, or of more than %d bytes", maxBuildIDs, maxBuildIDBytes)
	}
	r.Info.BuildIDs = append(r.Info.BuildIDs, BuildID{
		PID: int32(r.Order.Uint32(body)), Kernel: misc&7 == kernel, ID: hex.EncodeToString(body[4 : 4+length]), Path: string(path),
	})
	return nil
}

// eventNames reads the names of events, which are in the order of the events.
func (r *Reader) eventNames(in *parts) {
	n, size := in.u32(), in.u32()
	for i := uint32(0); i < n && !in.short; i++ {
		in.take(int(size))
		ids := in.u32()
		name := in.text()
		first := in.take(8 * int(ids))
		if in.short || name == "" {
			continue
		}
		if len(first) > 0 {
			if e := r.ids[r.Order.Uint64(first)]; e != nil {
				e.Name = name
			}
		} else if int(i) < len(r.Events) && !r.Events[i].known {
			r.Events[i].Name = name
		}
	}
}

// parts reads numbers and texts, one after the other. When they end early, it returns zeroes and
// notes that.
type parts struct {
	b     []byte
	order binary.ByteOrder
	short bool
}

func (p *parts) take(n int) []byte {
	if n < 0 || n > len(p.b) {
		p.short, p.b = true, nil
		return nil
	}
	b := p.b[:n]
	p.b = p.b[n:]
	return b
}

func (p *parts) u32() uint32 {
	if b := p.take(4); b != nil {
		return p.order.Uint32(b)
	}
	return 0
}

func (p *parts) u64() uint64 {
	if b := p.take(8); b != nil {
		return p.order.Uint64(b)
	}
	return 0
}

// text reads a text with its length, which counts zeroes behind it (struct perf_header_string).
func (p *parts) text() string {
	b, _, _ := bytes.Cut(p.take(int(p.u32())), []byte{0})
	return string(b)
}
