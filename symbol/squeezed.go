package symbol

import (
	"bytes"
	"slices"

	"github.com/klauspost/compress/s2"
)

// squeezed has the first chunks of a section that is inflated, compressed anew, in small pieces:
// any of them is quickly read again, where the section itself can only be inflated from its
// beginning.
type squeezed struct {
	pieces [][]byte
	size   int64 // bytes of all pieces
	full   bool  // there is no room for more
	loose  []loosePiece
}

// loosePiece is a piece as it is in the section.
type loosePiece struct {
	index int
	bytes []byte
}

const (
	pieceSize = 8 << 10 // divides chunkSize
	mostLoose = 128
	// stretchShare says what work it is to read a piece: this share of the work of inflating it.
	stretchShare = 8
)

// add adds chunk i, if it is the next one and if there is room.
func (x *squeezed) add(room *room, i int, chunk []byte) {
	if i*(chunkSize/pieceSize) != len(x.pieces) || x.full {
		return
	}
	buffer := borrow(uint64(len(largeBuffer{})))
	defer giveBack(buffer)
	for piece := range slices.Chunk(chunk, pieceSize) {
		b := s2.Encode(buffer, piece)
		n := int64(len(b))
		if x.full = x.size+n > room.most()/4*3 || !room.fits(n); x.full {
			return // what is made of the section needs room, too
		}
		x.pieces, x.size = append(x.pieces, bytes.Clone(b)), x.size+n
	}
}

// has reports whether the byte at an offset of the section can be read.
func (x *squeezed) has(off uint64) bool { return off/pieceSize < uint64(len(x.pieces)) }

// from returns the bytes from an offset to the end of its piece, which the next call may change.
func (x *squeezed) from(room *room, off uint64) ([]byte, error) {
	if x.loose == nil {
		if !room.fits(mostLoose * pieceSize) {
			return nil, errTooMuch
		}
		x.loose = make([]loosePiece, mostLoose)
	}
	i := int(off / pieceSize)
	p := &x.loose[i%mostLoose]
	if p.index != i || p.bytes == nil {
		if !room.work(pieceSize / stretchShare) {
			return nil, errTooMuch
		}
		b, err := s2.Decode(p.bytes[:cap(p.bytes)], x.pieces[i])
		if err != nil {
			return nil, err
		}
		p.index, p.bytes = i, b
	}
	return p.bytes[off%pieceSize:], nil
}

// drop drops all pieces, and gives back their room.
func (x *squeezed) drop(room *room) {
	room.release(x.size)
	if x.loose != nil {
		room.release(mostLoose * pieceSize)
	}
	*x = squeezed{full: x.full}
}
