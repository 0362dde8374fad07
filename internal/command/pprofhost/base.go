package pprofhost

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/google/pprof/profile"

	"github.com/sfwalk/sfwalk/internal/regular"
)

// Bounds of a profile to compare with, bytes.
const (
	maxProfile = 1 << 30 // of the file
	// It may be unpacked to freeText bytes, and to textRatio for each byte of the file; pprof's own
	// become five times as large.
	freeText, textRatio = 16 << 20, 16
	// It may take freeMemory bytes of memory, and memoryRatio for each byte of the file; files of
	// large programs take fifty.
	freeMemory, memoryRatio = 32 << 20, 96
)

// readProfile reads a profile to compare with.
func readProfile(name string) (*profile.Profile, error) {
	f, err := regular.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxProfile))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	p, err := parseProfile(data)
	if err != nil {
		return nil, fmt.Errorf("%s: want a profile of pprof: %w", name, err)
	}
	return p, nil
}

// parseProfile parses a profile, which takes no more memory than its size allows.
func parseProfile(data []byte) (*profile.Profile, error) {
	text := data
	if len(data) > 1 && data[0] == 0x1f && data[1] == 0x8b {
		z, err := gzip.NewReader(bytes.NewReader(data))
		if err != nil {
			return nil, err
		}
		most := int64(freeText + textRatio*len(data))
		if text, err = io.ReadAll(io.LimitReader(z, most+1)); err != nil {
			return nil, err
		}
		if int64(len(text)) > most {
			return nil, fmt.Errorf("%d bytes are unpacked to more than %d", len(data), most)
		}
	}
	memory, err := memoryOf(text)
	if most := freeMemory + memoryRatio*len(data); err == nil && memory > most {
		err = fmt.Errorf("%d bytes would take some %d bytes of memory", len(data), memory)
	}
	if err != nil {
		return nil, err
	}
	p, err := profile.ParseUncompressed(text)
	if err != nil {
		return nil, err
	}
	return p, p.CheckValid()
}

// Fields of profile.proto.
const (
	fieldSample   = 2
	fieldLocation = 4
	sampleIDs     = 1 // packed: of locations
	sampleValues  = 2 // packed
)

// memoryOf returns about how much memory a profile takes when it is parsed, bytes.
func memoryOf(text []byte) (memory int, err error) {
	err = fields(text, func(field uint64, message []byte) error {
		memory += 256 + len(message)
		if field != fieldSample && field != fieldLocation {
			return nil
		}
		return fields(message, func(inner uint64, part []byte) error {
			if field == fieldSample && (inner == sampleIDs || inner == sampleValues) {
				memory += 16 + 16*len(part)
			} else {
				memory += 160
			}
			return nil
		})
	})
	return memory, err
}

var errProto = errors.New("malformed message")

// fields calls each with the fields of a message (protobuf.dev, encoding); fields that are numbers
// have no text.
func fields(text []byte, each func(field uint64, text []byte) error) error {
	for len(text) > 0 {
		key, n := binary.Uvarint(text)
		if n <= 0 {
			return errProto
		}
		text = text[n:]
		size := uint64(0)
		var part []byte
		switch key & 7 {
		case 0:
			if _, n = binary.Uvarint(text); n <= 0 {
				return errProto
			}
			size = uint64(n)
		case 1:
			size = 8
		case 5:
			size = 4
		case 2:
			if size, n = binary.Uvarint(text); n <= 0 || size > uint64(len(text)-n) {
				return errProto
			}
			text = text[n:]
			part = text[:size]
		default:
			return errProto
		}
		if size > uint64(len(text)) {
			return errProto
		}
		text = text[size:]
		if err := each(key>>3, part); err != nil {
			return err
		}
	}
	return nil
}
