package perfdata

import (
	"fmt"
	"io"
	"iter"
	"math"

	"github.com/klauspost/compress/zstd"
)

// A small file, of less than smallFile bytes, expands to smallRatio times as much at most, and
// smallExpanded bytes more, and to smallRecords records. Where the decoder keeps more than
// smallWindow bytes of them, as perf record -z20 to -z22 have it do, it is smallExpanded bytes.
const (
	smallFile     = 1 << 20
	smallRatio    = 448
	smallWindow   = 32 << 20
	smallExpanded = 64 << 20
	smallRecords  = 2 << 20
)

// By default, records may expand to usualSize bytes plus maxRatio times their packed size. What
// perf record -z packs is mostly stacks that are alike: a hundredth.
var (
	usualSize uint64 = 64 << 20
	maxRatio  uint64 = 4096
	maxWindow uint64 = 128 << 20 // bytes that zstd's decoder keeps: as many as perf record -z22 needs
)

// unpacker decompresses what perf record -z has compressed: the payloads of all compressed records
// are one stream of zstd.
type unpacker struct {
	payload     []byte
	in, out     uint64 // bytes so far
	most        uint64 // bytes that out may come to
	more        func() ([]byte, bool)
	stop        func()
	ended       error // why there is nothing more to be read
	askForInput func([]byte) bool
}

// newUnpacker returns an unpacker of a stream that begins with payload, in a file of size bytes.
func newUnpacker(payload []byte, size uint64) *unpacker {
	u := &unpacker{most: math.MaxUint64}
	window := maxWindow
	if size < smallFile {
		u.most = smallExpanded + smallRatio*size
		window = min(window, smallWindow)
		var first zstd.Header
		if first.Decode(payload) == nil && first.WindowSize > smallWindow && first.WindowSize <= maxWindow {
			u.most, window = smallExpanded, smallExpanded
			lowerWindow(payload)
		}
	}
	// The decoder runs as a coroutine: it gives each block that it has decompressed, and nil when
	// it wants more input.
	u.more, u.stop = iter.Pull(func(yield func([]byte) bool) {
		u.askForInput = yield
		d, err := zstd.NewReader((*unpackerInput)(u),
			zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(window))
		if err == nil {
			_, err = d.WriteTo(unpackerOutput(yield))
			d.Close()
		}
		if u.ended = err; err == nil {
			u.ended = io.ErrUnexpectedEOF
		}
	})
	return u
}

// lowerWindow has the frame of zstd at the beginning of b claim a window of smallExpanded bytes, if
// it claims more. The decoder takes memory for all that is claimed. (RFC 8878, 3.1.1.1)
func lowerWindow(b []byte) {
	const descriptor, window, singleSegment = 4, 5, 1 << 5
	if b[descriptor]&singleSegment == 0 {
		b[window] = min(b[window], (26-10)<<3) // 1 << 26
	}
}

// unpackerInput is what the decoder reads.
type unpackerInput unpacker

func (u *unpackerInput) Read(p []byte) (int, error) {
	for len(u.payload) == 0 {
		if !u.askForInput(nil) {
			return 0, io.ErrClosedPipe
		}
	}
	n := copy(p, u.payload)
	u.payload = u.payload[n:]
	return n, nil
}

// unpackerOutput is what the decoder writes to.
type unpackerOutput func([]byte) bool

func (u unpackerOutput) Write(p []byte) (int, error) {
	if len(p) > 0 && !u(p) {
		return 0, io.ErrClosedPipe
	}
	return len(p), nil
}

// unpack decompresses the payload of one record. It calls take with each piece, which is valid
// until take returns.
func (u *unpacker) unpack(payload []byte, take func([]byte) error) (err error) {
	if u.ended != nil {
		return fmt.Errorf("compressed records: they follow broken ones: %w", u.ended)
	}
	defer func() {
		if u.ended == nil {
			u.ended = err
		}
	}()
	u.payload = payload
	u.in += uint64(len(payload))
	for {
		block, ok := u.more()
		if !ok {
			return fmt.Errorf("compressed records: %w", u.ended)
		}
		if block == nil {
			return nil
		}
		if u.out += uint64(len(block)); u.out > min(u.most, usualSize+maxRatio*u.in) {
			return fmt.Errorf("compressed records: %d bytes expand to more than %d", u.in, u.out-1)
		}
		if err := take(block); err != nil {
			return err
		}
	}
}
