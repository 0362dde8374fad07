package abi

import (
	"encoding/binary"
	"math"
	"math/big"
)

const x87Bytes = 10 // of an x87 number in a register

// putX87 converts an x87 number (Intel SDM volume 1, 4.2.2) to a floating-point number of 4 or 8
// bytes.
func putX87(to, x87 []byte) {
	f := fromX87(x87)
	if len(to) == 4 {
		single := math.Float32bits(float32(f))
		if math.IsNaN(f) { // the conversion keeps the upper bits of the payload, and makes a quiet number
			single = uint32(math.Float64bits(f)>>29)&(1<<22-1) | 0x7fc00000 | uint32(math.Float64bits(f)>>32)&(1<<31)
		}
		binary.LittleEndian.PutUint32(to, single)
		return
	}
	binary.LittleEndian.PutUint64(to, math.Float64bits(f))
}

// fromX87 rounds an x87 number to the nearest double.
func fromX87(b []byte) float64 {
	const bias, special, integer = 16383, 0x7fff, 63
	mantissa, exponent := binary.LittleEndian.Uint64(b), int(binary.LittleEndian.Uint16(b[8:]))
	negative := exponent>>15 != 0
	exponent &= special
	sign := uint64(0)
	if negative {
		sign = 1 << 63
	}
	switch {
	case exponent == special && mantissa<<1 == 0:
		return math.Float64frombits(sign | 0x7ff<<52)
	case exponent == special:
		return math.Float64frombits(sign | 0x7ff<<52 | 1<<51 | mantissa>>11&(1<<51-1))
	case exponent == 0:
		exponent = 1 // denormal
	}
	x := new(big.Float).SetUint64(mantissa)
	f, _ := x.SetMantExp(x, exponent-bias-integer).Float64()
	if negative {
		return -f
	}
	return f
}
