package snapshot

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/target"
	"github.com/sfwalk/sfwalk/target/core"
)

// Target is a snapshot that was read from a file. core.Target gives what all core files have: the
// process, its memory and its modules, whose files are looked for on this machine. It is safe for
// concurrent use.
type Target struct {
	*core.Target
	Taken      time.Time     // see [Snapshot]
	Pause      time.Duration // see [Snapshot]
	Consistent bool          // see [Snapshot]
	Monotonic  time.Duration // see [Snapshot]
	Tasks      []byte        // see [Snapshot]
	// Listed has the files that had code mapped when the snapshot was taken.
	Listed []Module

	arch    *arch.Arch
	threads []*Thread
	memory  memory
}

// Open opens a file that [Snapshot.Write] has written. The file may have been compressed or cut
// short since. The error wraps [ErrNotSnapshot] for a core file without our note, [ErrVersion] for
// a snapshot that this version cannot read, or an error of package core. The caller closes the
// target.
func Open(path string, o core.Options) (*Target, error) {
	c, err := core.Open(path, o)
	if err != nil {
		return nil, fmt.Errorf("snapshot %s: %w", path, errors.Unwrap(err)) // without "core" and the path
	}
	return fromCore(c, "snapshot "+path)
}

// Read is [Open] for the bytes of an uncompressed file. r must stay readable as long as the target
// is used.
func Read(r io.ReaderAt, size int64, o core.Options) (*Target, error) {
	c, err := core.Read(r, size, o)
	if err != nil {
		return nil, fmt.Errorf("snapshot: %w", errors.Unwrap(err))
	}
	return fromCore(c, "snapshot")
}

// Target makes a target of the snapshot itself, as if it had been written and opened. Its memory is
// then held twice, and the carried files once.
func (s *Snapshot) Target(o core.Options) (*Target, error) {
	var file bytes.Buffer
	if err := s.Write(&file); err != nil {
		return nil, err
	}
	return Read(bytes.NewReader(file.Bytes()), int64(file.Len()), o)
}

// fromCore makes the target of a core file. If that fails, it closes the core file.
func fromCore(c *core.Target, name string) (*Target, error) {
	most := int(min(maxNote, usualNote+c.Stored())) // thousands of entries may be packed into a few bytes
	text := c.Note(NoteOwner, NoteType, most)
	if text == nil {
		c.Close()
		return nil, fmt.Errorf("%s: a core file without a whole note of owner %s of at most %d bytes: %w: print its stacks by 'sfwalk core'", name, NoteOwner, most, ErrNotSnapshot)
	}
	n, err := parseNote(text)
	if err != nil {
		c.Close()
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	t := &Target{Target: c, Taken: n.Taken, Pause: time.Duration(n.PauseNS), Consistent: n.Consistent, Monotonic: time.Duration(max(n.MonotonicNS, 0)), Tasks: n.Tasks, arch: c.Arch()}
	if n.CodeMask != 0 {
		t.arch = t.arch.WithAddressMask(uint64(n.CodeMask))
	}
	if n.Exe != "" {
		t.Exe = n.Exe
	}
	for _, m := range n.Modules {
		t.Listed = append(t.Listed, Module{m.Path, uint64(m.Address), m.BuildID})
	}
	t.memory = memory{c.Memory().(target.CopiedMemory), ascending(n.Late)}
	t.addThreads(n)
	return t, nil
}

// addThreads joins each thread of the core with the note's entry for it.
func (t *Target) addThreads(n *note) {
	said := make(map[int]*threadNote, len(n.Threads))
	for i := range n.Threads {
		said[n.Threads[i].TID] = &n.Threads[i]
	}
	list, _ := t.Target.Threads() // never fails
	missing := len(n.Threads)
	for _, th := range list {
		one := &Thread{TID: th.ID(), Comm: th.Name(), core: th.(*core.Thread)}
		th.Registers(&one.Regs)
		one.Blocked, _ = one.core.SignalMask()
		if about := said[one.TID]; about != nil {
			about.apply(t.arch, one)
			missing--
			delete(said, one.TID) // its name and error may be long: they are one thread's, whatever ID others claim
		}
		t.threads = append(t.threads, one)
	}
	if missing > 0 {
		t.Warn("%d of %d threads are missing", missing, len(n.Threads))
	}
}

// Arch returns the process's architecture, with the process's own address mask.
func (t *Target) Arch() *arch.Arch { return t.arch }

// Memory returns the address space. It implements [target.CopiedMemory] and [target.RunningMemory].
func (t *Target) Memory() target.Memory { return &t.memory }

// Threads returns the threads, each a [*Thread], in the snapshot's order. The error
// is always nil.
func (t *Target) Threads() ([]target.Thread, error) {
	list := make([]target.Thread, len(t.threads))
	for i, th := range t.threads {
		list[i] = th
	}
	return list, nil
}
