package perfdata

import (
	"fmt"
	"io"
	"iter"

	"github.com/klauspost/compress/zstd"
)

// By default, records may expand to usualSize bytes plus maxRatio times their packed size. What perf record -z packs is mostly stacks
// that are alike: a hundredth.
var (
	usualSize uint64 = 64 << 20
	maxRatio  uint64 = 4096
	maxWindow uint64 = 128 << 20 // bytes that zstd's decoder keeps: those of perf record -z22
)

// unpacker decompresses what perf record -z has compressed: the payloads of all compressed records are one stream of zstd.
type unpacker struct {
	payload     []byte
	in, out     uint64 // bytes so far
	more        func() ([]byte, bool)
	stop        func()
	ended       error // why there is nothing more to be read
	askForInput func([]byte) bool
}

func newUnpacker() *unpacker {
	u := &unpacker{}
	// The decoder runs as a coroutine: it gives each block that it has decompressed, and nil when it wants more input.
	u.more, u.stop = iter.Pull(func(yield func([]byte) bool) {
		u.askForInput = yield
		d, err := zstd.NewReader((*unpackerInput)(u), zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(maxWindow))
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

// unpack decompresses the payload of one record. It calls take with each piece, which is valid until take returns.
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
		if u.out += uint64(len(block)); u.out > usualSize+maxRatio*u.in {
			return fmt.Errorf("compressed records: %d bytes expand to more than %d", u.in, u.out-1)
		}
		if err := take(block); err != nil {
			return err
		}
	}
}
