package remote

import (
	"bytes"
	"fmt"

	"github.com/sfwalk/sfwalk/target"
)

var _ target.WritableMemory = (*memory)(nil)

// WriteMemory implements [target.WritableMemory]. No packet crosses a page boundary, so that n is
// right if a page cannot be written. What was written is read back: the error may be a
// [*NotWrittenError].
func (m *memory) WriteMemory(addr uint64, p []byte) (n int, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	defer m.drop()
	for n < len(p) {
		at := addr + uint64(n)
		if n > 0 && at == 0 {
			return n, fmt.Errorf("write memory at %#x: %w", addr, target.ErrUnmapped)
		}
		size := min(len(p)-n, int(page-at%page), m.s.room())
		err := m.s.writeMemory(at, p[n:n+size])
		if err == nil {
			err = m.verify(at, p[n:n+size])
		}
		if err != nil {
			return n, fmt.Errorf("write memory at %#x: %w", at, err)
		}
		n += size
	}
	return n, nil
}

// room is how many bytes of memory one packet has room for, if each takes two.
func (s *session) room() int { return (s.packetSize - 64) / 2 }

// writeMemory sends one packet: M, or X if the stub does not know that.
func (s *session) writeMemory(addr uint64, p []byte) error {
	reply, err := s.exchange(fmt.Sprintf("M%x,%x:%x", addr, len(p), p))
	if err == nil && len(reply) == 0 {
		var packet bytes.Buffer
		fmt.Fprintf(&packet, "X%x,%x:", addr, len(p))
		for _, c := range p {
			if c == '#' || c == '$' || c == '}' || c == '*' {
				packet.WriteByte('}')
				c ^= 0x20
			}
			packet.WriteByte(c)
		}
		reply, err = s.exchange(packet.String())
	}
	if err != nil {
		return err
	}
	if len(reply) > 0 && reply[0] == 'E' {
		return fmt.Errorf("%w for writing: the stub answers %q", target.ErrUnmapped, short(reply))
	}
	return isOK(reply, "M")
}

// drop drops all blocks. m.mu is held.
func (m *memory) drop() {
	clear(m.blocks)
	m.came, m.oldest = m.came[:0], 0
}
