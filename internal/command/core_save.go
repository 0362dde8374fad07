package command

import (
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/spf13/cobra"

	"github.com/sfwalk/sfwalk/target"
	"github.com/sfwalk/sfwalk/target/core"
	"github.com/sfwalk/sfwalk/target/minidump"
	"github.com/sfwalk/sfwalk/target/snapshot"
)

// dumping is what the flags of a core file's command say of the minidump that it also writes.
type dumping struct {
	path, format string
	most         int64 // bytes of memory
}

func (d *dumping) add(cmd *cobra.Command) {
	cmd.Flags().StringVar(&d.path, "save", "", "also write a minidump to this file; needs --format minidump")
	cmd.Flags().StringVar(&d.format, "format", "", "with --save: minidump. Without, "+formatHelp)
	d.most = usualSaved
	cmd.Flags().Var((*byteSize)(&d.most), "max-saved", "how much memory --save keeps, for example 2G")
}

// check finds mistakes in the flags.
func (d *dumping) check(flags *walkFlags) error {
	switch {
	case d.path == "" && d.format == "minidump":
		return usageError{errors.New("--format minidump is that of the file which --save names")}
	case d.path == "":
		flags.many.format = d.format
	case d.path != "" && d.format == "":
		return usageError{errors.New("--save: the file is a core already: --format minidump makes a minidump of it")}
	case d.path != "" && d.format != "minidump":
		return usageError{fmt.Errorf("--format %s: want minidump", d.format)}
	}
	return nil
}

// show prints a core's stacks, and writes the minidump if the flags ask for one.
func (d *dumping) show(cmd *cobra.Command, s *source, flags *walkFlags) error {
	if d.path == "" {
		return show(cmd, s, flags)
	}
	if err := minidump.Writable(s.Arch()); err != nil {
		return fmt.Errorf("--save %s: %w", d.path, err)
	}
	file, err := newSaving("--save", d.path)
	if err != nil {
		return err
	}
	defer file.discard()
	outliveReader()
	shown := show(cmd, s, flags)
	if readerGone(shown) {
		shown = nil
	}
	if shown != nil && !errors.Is(shown, errEarly) {
		return shown
	}
	// What a walk of all stacks reads beside them is in the dump: stacks that a signal handler has left, code without a file.
	noted := &notedMemory{Memory: s.Memory(), pages: map[uint64]bool{}}
	again := *s
	again.Target = notedTarget{s.Target, noted}
	again.goroutines = nil
	walked := []*source{&again}
	if flags.many.goroutines {
		with, err := again.withGoroutines()
		if err != nil {
			return err
		}
		walked = append(walked, with)
	}
	for _, x := range walked {
		if err := walk(x, &walkFlags{tableFlags: tableFlags{separate: flags.separate, plugins: flags.plugins}}); err != nil {
			return err
		}
	}
	var c *core.Target
	switch t := s.Target.(type) {
	case *core.Target:
		c = t
	case *snapshot.Target:
		c = t.Target
	}
	contents, cut, err := minidump.OfCore(s.Target, c, noted.read(), notedPage, d.most)
	if err != nil {
		return fmt.Errorf("--save %s: %w", d.path, err)
	}
	if cut {
		warn(cmd, fmt.Sprintf("--save %s: there are more than %d MiB of stacks, and the outer part of some is not saved: allow more by --max-saved SIZE", d.path, d.most>>20))
	}
	if err := file.write(contents); err != nil {
		return err
	}
	return shown
}

// notedPage is the size of the pages that a notedMemory notes, bytes.
const notedPage = 4096

// maxNoted bounds their number.
const maxNoted = 1 << 16

// notedMemory notes the pages that are read.
type notedMemory struct {
	target.Memory

	mu    sync.Mutex
	pages map[uint64]bool
}

// ReadMemory implements [target.Memory].
func (m *notedMemory) ReadMemory(addr uint64, p []byte) (n int, err error) {
	n, err = m.Memory.ReadMemory(addr, p)
	if n > 0 {
		m.mu.Lock()
		defer m.mu.Unlock()
		for at, last := addr&^(notedPage-1), addr+uint64(n)-1; at <= last && len(m.pages) < maxNoted; at += notedPage {
			m.pages[at] = true
			if at+notedPage < at {
				break
			}
		}
	}
	return n, err
}

// read returns the addresses of the pages, ascending.
func (m *notedMemory) read() (list []uint64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for at := range m.pages {
		list = append(list, at)
	}
	slices.Sort(list)
	return list
}

// notedTarget is a target whose memory notes what is read.
type notedTarget struct {
	target.Target
	memory *notedMemory
}

// Memory returns the noted memory.
func (t notedTarget) Memory() target.Memory { return t.memory }
