package gdbtest

import (
	"encoding/binary"
	"strconv"
	"strings"
)

// AVX512 returns what is in a register of avx512.c of testdata/progs: zmm3, k2.
func AVX512(register string) (b []byte) {
	if n, ok := strings.CutPrefix(register, "k"); ok {
		i, _ := strconv.ParseUint(n, 10, 8)
		return binary.LittleEndian.AppendUint64(nil, 0xabcd000000000000+i)
	}
	i, _ := strconv.ParseUint(strings.TrimPrefix(register, "zmm"), 10, 8)
	for k := range uint64(8) {
		b = binary.LittleEndian.AppendUint64(b, 0x100*i+k+1)
	}
	return b
}
