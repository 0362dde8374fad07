package sframe

import (
	"encoding/binary"
	"math/rand/v2"
)

// rawSection makes a section of one or two functions whose FREs have any words. They may be words
// that Encode does not choose: a place that the header names already, place holders, words that
// mean nothing.
func rawSection(rnd *rand.Rand, v Version, abi ABI) []byte {
	var order binary.AppendByteOrder = binary.LittleEndian
	if abi.bigEndian() {
		order = binary.BigEndian
	}
	number := func(b []byte, size int, n int64) []byte {
		switch size {
		case 1:
			return append(b, byte(n))
		case 2:
			return order.AppendUint16(b, uint16(n))
		case 4:
			return order.AppendUint32(b, uint32(n))
		}
		return order.AppendUint64(b, uint64(n))
	}
	pick := func(numbers ...int64) int64 { return numbers[rnd.IntN(len(numbers))] }

	flex := v == V3 && rnd.IntN(2) == 0
	functions := 1 + rnd.IntN(2)
	var fdes, fres []byte
	rows := 0
	for i := range functions {
		n := 1 + rnd.IntN(4)
		rows += n
		freType, repSize := rnd.IntN(3), byte(pick(16, 16, 24))
		info := byte(freType) | byte(pick(0, 0, 0, 0x10)) | byte(pick(0, 0x20))
		start, attr := int64(i*0x1000)-0xf000, int64(len(fres))
		if v == V3 {
			fdes = number(number(number(fdes, 8, start), 4, 0x800), 4, attr)
			fres = append(number(fres, 2, int64(n)), info|byte(pick(0, 0, 0x80)), 0, repSize)
			if flex {
				fres[attr+3] = byte(FDEFlex)
			}
		} else {
			fdes = number(number(number(number(fdes, 4, start), 4, 0x800), 4, attr), 4, int64(n))
			fdes = append(fdes, info)
			if v == V2 {
				fdes = append(fdes, repSize, 0, 0)
			}
		}
		for j := range n {
			fres = number(fres, 1<<freType, int64(4*j))
			words, size := pick(1, 2, 3), rnd.IntN(3)
			if flex {
				words = pick(2, 3, 4, 5, 6)
			}
			fres = append(fres, byte(pick(0, 1))|byte(words<<1)|byte(size<<5)|byte(pick(0, 0, 0, 0x80)))
			for k := range words {
				w := pick(0, 0, 1, 3, 7, 8, 16, 31, 35, 100, -8, -16, -128)
				if flex && k%2 == 0 {
					w = pick(0, 1, 2, 2, 1|7<<3, 3|6<<3, 3|7<<3, 3|10<<3, 1|11<<3, 1|15<<3)
				}
				fres = number(fres, 1<<size, w)
			}
		}
	}
	header := number(nil, 2, Magic)
	header = append(header, byte(v), 0, byte(abi), byte(pick(0, 0, -16, 8)), byte(pick(0, -8, -8, 8)), 0)
	for _, n := range []int{functions, rows, len(fres), 0, len(fdes)} {
		header = number(header, 4, int64(n))
	}
	return append(append(header, fdes...), fres...)
}
