package amd64

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"testing"

	"github.com/sfwalk/sfwalk/trad"
)

// TestDataBehind reads code whose literals stand behind it, as JITs and assemblers put them there:
// whatever they are, each instruction has the row that it has without them. Some are, to a decoder,
// a branch into the middle of an instruction.
func TestDataBehind(t *testing.T) {
	code := []byte{
		0x48, 0x83, 0xec, 0x18, // sub $24, %rsp
		0xff, 0x15, 0x06, 0, 0, 0, // call *6(%rip), which is behind ret and a filler
		0x48, 0x83, 0xc4, 0x18, // add $24, %rsp
		0xc3, // ret
		0xcc,
	}
	const start = 0x1000
	cfa := map[uint64]int32{0: 8, 4: 32, 9: 32, 10: 32, 14: 8}
	random := rand.New(rand.NewPCG(1, 2))
	for i := range 20_000 {
		literal := []uint64{0x7f58f474e000, 0x7ff078db4000, 0x7fe7ef78d000}[min(i, 2)]
		if i > 2 {
			literal = 0x7f0000000000 | random.Uint64N(1<<28)<<12
		}
		all := binary.LittleEndian.AppendUint64(bytes.Clone(code), literal)
		for off, want := range cfa {
			row, _, why := Machine.ReadFrame(all, start, start+off)
			if rule := (trad.Rule{Kind: trad.InReg, Reg: RSP, Off: want}); why != "" || row.CFA != rule || row.Flags&trad.Guess != 0 {
				t.Fatalf("with %#x behind, offset %d has the row %v (%s); want the CFA %v", literal, off, row, why, rule)
			}
		}
	}
}
