package lz4file

import (
	"encoding/binary"
	"math/bits"
)

// xxh32 computes XXH32 with the seed 0 (xxhash_spec.md, the 32-bit algorithm).
type xxh32 struct {
	lanes [4]uint32
	rest  [16]byte
	n     int // of rest
	total uint32
	many  bool // 16 bytes or more have come
}

const prime1, prime2, prime3, prime4, prime5 uint32 = 0x9e3779b1, 0x85ebca77, 0xc2b2ae3d, 0x27d4eb2f, 0x165667b1

func newXXH32() xxh32 {
	one := prime1 // wraps, which constants do not
	return xxh32{lanes: [4]uint32{one + prime2, prime2, 0, -one}}
}

func (x *xxh32) write(p []byte) {
	x.total += uint32(len(p))
	if x.n > 0 {
		n := copy(x.rest[x.n:], p)
		if x.n, p = x.n+n, p[n:]; x.n < len(x.rest) {
			return
		}
		x.stripe(x.rest[:])
		x.n = 0
	}
	for ; len(p) >= 16; p = p[16:] {
		x.stripe(p)
	}
	x.n = copy(x.rest[:], p)
}

func (x *xxh32) stripe(p []byte) {
	x.many = true
	for i := range x.lanes {
		x.lanes[i] = bits.RotateLeft32(x.lanes[i]+binary.LittleEndian.Uint32(p[4*i:])*prime2, 13) * prime1
	}
}

func (x *xxh32) sum() uint32 {
	h := prime5
	if x.many {
		h = bits.RotateLeft32(x.lanes[0], 1) + bits.RotateLeft32(x.lanes[1], 7) + bits.RotateLeft32(x.lanes[2], 12) + bits.RotateLeft32(x.lanes[3], 18)
	}
	h += x.total
	p := x.rest[:x.n]
	for ; len(p) >= 4; p = p[4:] {
		h = bits.RotateLeft32(h+binary.LittleEndian.Uint32(p)*prime3, 17) * prime4
	}
	for _, b := range p {
		h = bits.RotateLeft32(h+uint32(b)*prime5, 11) * prime1
	}
	h = (h ^ h>>15) * prime2
	h = (h ^ h>>13) * prime3
	return h ^ h>>16
}

func sumOf(p []byte) uint32 {
	x := newXXH32()
	x.write(p)
	return x.sum()
}
