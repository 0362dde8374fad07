package symbol

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/ulikunitz/xz"

	"github.com/sfwalk/sfwalk/target"
)

// maxMiniDebug bounds what .gnu_debugdata may expand to, and the dictionary that
// its decoder may ask for. Distributions' largest are some megabytes.
const maxMiniDebug = 64 << 20

// miniDebugImage opens the ELF file with symbols only that .gnu_debugdata has,
// compressed by xz. It returns nil if there is none.
func miniDebugImage(im *target.Image) (*target.Image, error) {
	packed, _, err := im.Section(".gnu_debugdata")
	if err != nil {
		if errors.Is(err, target.ErrNoSection) {
			err = nil
		}
		return nil, err
	}
	data, err := unpack(packed)
	if err == nil {
		im, err = target.OpenImage(bytes.NewReader(data), int64(len(data)))
	}
	if err != nil {
		return nil, fmt.Errorf("read section .gnu_debugdata: %w", err)
	}
	return im, nil
}

func unpack(packed []byte) ([]byte, error) {
	if err := checkXZ(packed); err != nil {
		return nil, err
	}
	r, err := xz.ReaderConfig{SingleStream: true}.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, err
	}
	data, err := io.ReadAll(io.LimitReader(r, maxMiniDebug+1))
	if err == nil && len(data) > maxMiniDebug {
		err = fmt.Errorf("more than %d bytes uncompressed", maxMiniDebug)
	}
	return data, err
}

var errXZ = errors.New("not one whole xz stream")

// checkXZ looks at the header of each block of an xz stream, because the decoder
// allocates as large a dictionary as the header says: up to 4 GiB. The index at
// the end says where the blocks are. See the .xz file format, 1.2.0, sections
// 2.1.2 (footer), 3.1 (block header), 4 (index) and 5.3.1 (LZMA2).
func checkXZ(packed []byte) error {
	const header, footer = 12, 12
	if len(packed) < header+footer {
		return errXZ
	}
	end := uint64(len(packed) - footer)
	indexSize := 4 * (uint64(binary.LittleEndian.Uint32(packed[end+4:])) + 1)
	if indexSize > end-header {
		return errXZ
	}
	index := cursor{data: packed[end-indexSize : end], order: binary.LittleEndian}
	index.uint(1) // index indicator
	at := uint64(header)
	for blocks := index.uleb(); blocks > 0; blocks-- {
		size := index.uleb() + 3
		index.uleb() // uncompressed size
		if index.bad || size > end-at {
			return errXZ
		}
		block := cursor{data: packed[at:end], order: binary.LittleEndian}
		block = cursor{data: block.bytes(4 * (uint64(packed[at]) + 1)), order: binary.LittleEndian}
		block.uint(1)
		flags := block.uint(1)
		if flags&0x40 != 0 {
			block.uleb()
		}
		if flags&0x80 != 0 {
			block.uleb()
		}
		const lzma2 = 0x21
		if id, n := block.uleb(), block.uleb(); flags&3 != 0 || id != lzma2 || n != 1 {
			return fmt.Errorf("xz block at %#x: not LZMA2 alone", at)
		}
		// The dictionary has 2 or 3 times a power of two, 2^12 for 0.
		code := block.uint(1)
		if block.bad || code > 40 || (2|code&1)<<(code/2+11) > maxMiniDebug {
			return fmt.Errorf("xz block at %#x: dictionary of size code %d, more than %d bytes", at, code, maxMiniDebug)
		}
		at += size &^ 3
	}
	if at != end-indexSize {
		return errXZ
	}
	return nil
}
