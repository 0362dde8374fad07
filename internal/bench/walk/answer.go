//go:build linux

package walk

import (
	"bufio"
	"fmt"
	"io"
)

// Answer reads letters, and answers each with a line: the nanoseconds that [frame.Walker] takes for
// a frame of a capture, with DWARF rows, in a round. w stands for a warm walk, c for a cold one. So
// two builds can take turns.
func Answer(file string, in io.Reader, out io.Writer) error {
	c, err := Open(file)
	if err != nil {
		return err
	}
	defer c.Close()
	table, err := newTable(c.arch, rows[len(rows)-1].sniffers)
	if err != nil {
		return err
	}
	w, err := newWalker(c, table)
	if err != nil {
		return err
	}
	walks := map[byte]func() int{'w': w.warm, 'c': w.cold}
	for letters := bufio.NewReader(in); ; {
		letter, err := letters.ReadByte()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		walk, known := walks[letter]
		if !known {
			return fmt.Errorf("no answer to %q", letter)
		}
		ns, err := nsPerFrame(walk)
		if err != nil {
			return err
		}
		fmt.Fprintln(out, ns)
	}
}
