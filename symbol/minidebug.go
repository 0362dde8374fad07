package symbol

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/sfwalk/sfwalk/format/elf"
	"github.com/sfwalk/sfwalk/internal/elffile"
	"github.com/sfwalk/sfwalk/internal/xzfile"
)

// maxMiniDebug bounds the unpacked size of .gnu_debugdata in bytes. maxMiniRatio bounds it in times
// its packed size. The largest in distributions unpack to some megabytes, and to five times their
// size.
const maxMiniDebug, maxMiniRatio = 64 << 20, 64

// MiniDebugImage opens the ELF file in .gnu_debugdata. It is compressed by xz, and
// has symbols, and perhaps .debug_frame. MiniDebugImage returns nil if there is none.
func MiniDebugImage(im *elf.Image) (*elf.Image, error) {
	packed, _, err := im.Section(".gnu_debugdata")
	if err != nil {
		if errors.Is(err, elf.ErrNoSection) {
			err = nil
		}
		return nil, err
	}
	data, err := unpack(im, packed)
	if err == nil {
		im, err = elf.OpenUnpacked(bytes.NewReader(data), int64(len(data)), min(im.SizeOnDisk(), int64(len(packed))))
	}
	if err != nil {
		return nil, fmt.Errorf("read section .gnu_debugdata: %w", err)
	}
	return im, nil
}

func unpack(im *elf.Image, packed []byte) ([]byte, error) {
	f, err := xzfile.Open(bytes.NewReader(packed), int64(len(packed)))
	if err != nil {
		return nil, err
	}
	if f.Cut || f.Unpacked > min(maxMiniDebug, maxMiniRatio*uint64(len(packed))+1<<20) {
		return nil, fmt.Errorf("%d bytes that unpack to %d, cut short: %v: it is not believed", len(packed), f.Unpacked, f.Cut)
	}
	if n := int64(f.Unpacked); !im.ReserveWork(n) || !im.Reserve(3*n) { // memory for its symbols, too
		return nil, fmt.Errorf("%d bytes that unpack to %d: %w", len(packed), f.Unpacked, elf.ErrBudget)
	}
	return elffile.ReadNext(f.Reader(), f.Unpacked)
}
