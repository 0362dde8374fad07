package arch_test

import (
	"encoding/binary"
	"math/rand/v2"
	"testing"

	"github.com/sfwalk/sfwalk/arch/amd64"
	"github.com/sfwalk/sfwalk/arch/i386"
)

// TestSeekAlternateStack: of random words near SP, none is passed over at which AlternateStack
// reports a stack.
func TestSeekAlternateStack(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	found := 0
	for range 20_000 {
		stack := make([]byte, 300+random.IntN(300))
		sp := 0x7f0000014000 + random.Uint64N(64)
		for at := random.IntN(8); at+8 <= len(stack); at += 8 {
			word := [...]uint64{0, 1, sp - random.Uint64N(1<<15), sp, 1 << 16, sp - 1<<33, sp + random.Uint64N(1<<10), random.Uint64()}[random.IntN(8)]
			binary.LittleEndian.PutUint64(stack[at:], word)
		}
		at, end := random.IntN(8), amd64.Arch.UContextEnd()
		for off := at; off+end <= len(stack); off += 8 {
			if _, _, ok := amd64.Arch.AlternateStack(sp, off, stack); !ok {
				continue
			}
			found++
			for from := at; from <= off; from += 8 {
				if next := amd64.Arch.SeekAlternateStack(sp, from, stack); next > off {
					t.Fatalf("SP %#x: from %d on, %d is the first; at %d is a stack", sp, from, next, off)
				}
			}
		}
		if next := amd64.Arch.SeekAlternateStack(sp, at, stack); next < at || (next-at)%8 != 0 {
			t.Fatalf("from %d on, %d is the first", at, next)
		}
		if next := i386.Arch.SeekAlternateStack(sp, at, stack); next != at {
			t.Fatalf("words of 4 bytes: from %d on, %d is the first", at, next)
		}
	}
	if found < 500 {
		t.Errorf("%d stacks in all", found)
	}
}
