package remote

import (
	"encoding/binary"
	"fmt"
	"testing"
)

// The memory that is kept has a bound, and is what was read last.
func TestKept(t *testing.T) {
	s := sleepy()
	asked := 0
	s.answer = func(packet string) any {
		var addr, n uint64
		if k, _ := fmt.Sscanf(packet, "m%x,%x", &addr, &n); k != 2 {
			return nil
		}
		asked++
		return fmt.Sprintf("%0*x", 2*n, addr)
	}
	s.answers["qSupported*"] += ";PacketSize=2100"
	tg, err := s.dial(t, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer tg.Close()
	read := func(block uint64) {
		t.Helper()
		var p [4]byte
		at := (block+2)*page - 4
		if n, err := tg.Memory().ReadMemory(at, p[:]); n < len(p) || binary.BigEndian.Uint32(p[:]) != uint32(at&^(page-1)) {
			t.Fatalf("read at %#x: %d bytes, %v: %x", at, n, err, p)
		}
	}
	const all, more = maxCached / page, 64
	for i := range uint64(all + more) {
		read(i)
	}
	for i := uint64(more); i < all+more; i += 16 {
		read(i)
	}
	if kept := len(tg.memory.blocks); asked != all+more || kept != all {
		t.Errorf("%d questions for %d blocks, %d are kept, want %d", asked, all+more, kept, all)
	}
	read(0)
	if asked != all+more+1 {
		t.Errorf("block 0 is kept still")
	}
}
