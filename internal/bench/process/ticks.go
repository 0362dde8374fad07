//go:build linux

package process

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"time"
)

// Ticks is the file that a program's ticking threads write to (ticker.h).
type Ticks struct {
	file *os.File
}

// Gaps are the longest times that the ticking threads were away.
type Gaps struct {
	Deep time.Duration // the thread at the bottom of the deep stack
	Idle time.Duration // the thread with nothing else to do
}

// tickSize is the size in bytes of struct tick. The file has two of them.
const tickSize = 16

// NewTicks makes the file in a folder.
func NewTicks(dir string) (*Ticks, error) {
	f, err := os.Create(filepath.Join(dir, "ticks"))
	if err != nil {
		return nil, err
	}
	t := &Ticks{f}
	return t, t.Reset()
}

// Close closes the file. Its mapping stays.
func (t *Ticks) Close() error { return t.file.Close() }

// Reset forgets the gaps so far.
func (t *Ticks) Reset() error {
	_, err := t.file.WriteAt(make([]byte, 2*tickSize), 0)
	return err
}

// Gaps returns the longest ones since Reset. A gap that has not ended does not count.
func (t *Ticks) Gaps() (Gaps, error) {
	var raw [2 * tickSize]byte
	if _, err := t.file.ReadAt(raw[:], 0); err != nil {
		return Gaps{}, err
	}
	ns := func(i int) time.Duration { return time.Duration(binary.NativeEndian.Uint64(raw[i*tickSize:])) }
	return Gaps{Deep: ns(0), Idle: ns(1)}, nil
}
