package symbol

import (
	"io"
	"os"
	"runtime"
	"sync"

	"github.com/sfwalk/sfwalk/format/elf"
)

// CompressedSection is a compressed section of debug information, in a file of this machine.
type CompressedSection struct {
	File   *os.File // open; only its record and its bytes may be read
	Name   string   // without a "z": .debug_info
	Offset int64    // in the file, bytes
	Packed int64    // its size in the file, bytes
	Size   int64    // its size when it is inflated, bytes
}

// Inflated keeps what compressed sections were inflated to, from one run of a program to the next:
// to inflate them takes most of the time in which an address is looked up. Several goroutines may
// call its methods at once.
//
// It must return the bytes of a section only if the section's file is the one, and has not changed
// since. A build ID alone does not tell: it is part of the file, and anyone may make a file that
// has it.
type Inflated interface {
	// Open returns the inflated bytes of a section; nil if they are not kept. They may take up
	// 64 KiB of memory, and a byte for each KiB of the section.
	Open(CompressedSection) InflatedSection
	// Keep keeps the bytes of a section that Open did not return, or whose bytes were damaged.
	// inflate begins to read them.
	Keep(s CompressedSection, inflate func() (io.Reader, error))
}

// InflatedSection is a section that was inflated. One goroutine at a time reads it. Where a read
// fails, the section is inflated anew.
type InflatedSection interface {
	io.ReaderAt
	io.Closer
}

// MaxInflated bounds the size of a section that [Inflated] keeps, in bytes, not compressed.
const MaxInflated = 1 << 30

// inflated are the sections that were inflated because the cache did not have them.
type inflated struct {
	mu       sync.Mutex
	sections map[inflatedKey]toKeep
}

type inflatedKey struct {
	of   *elf.Image
	name string
}

type toKeep struct {
	section  CompressedSection
	contents *elf.Contents
}

// note notes a section that is being inflated.
func (x *inflated) note(of *elf.Image, s toKeep) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.sections == nil {
		x.sections = make(map[inflatedKey]toKeep)
	}
	x.sections[inflatedKey{of, s.section.Name}] = s
}

// keep has the cache keep the sections, as far as the work of inflating them once more is allowed.
func (x *inflated) keep(cache Inflated) {
	x.mu.Lock()
	defer x.mu.Unlock()
	var all sync.WaitGroup
	turn := make(chan struct{}, runtime.GOMAXPROCS(0))
	for key, s := range x.sections {
		if s.section.Size > MaxInflated || !key.of.ReserveWork(s.section.Size) {
			continue
		}
		turn <- struct{}{}
		all.Go(func() {
			cache.Keep(s.section, s.contents.Unpack)
			<-turn
		})
	}
	all.Wait()
	x.sections = nil
}

// compressedSection describes the section for a cache; ok is false if it is in no file of its own.
func (s *section) compressedSection() (c CompressedSection, ok bool) {
	f := s.room.of.OSFile()
	return CompressedSection{File: f, Name: s.name, Offset: s.file.Offset, Packed: s.file.Packed, Size: int64(s.size)}, f != nil
}

// openKept asks the cache for the section, once. The caller holds s.mu.
func (s *section) openKept() InflatedSection {
	if s.asked || s.room == nil || s.room.kept == nil {
		return s.kept
	}
	s.asked = true
	source := s.room.kept.mod.s
	if source.opts.Inflated == nil {
		return nil
	}
	c, ok := s.compressedSection()
	if !ok {
		return nil
	}
	if s.kept = source.opts.Inflated.Open(c); s.kept == nil {
		return nil
	}
	if !s.room.fits(decoder + int64(s.size>>10)) {
		s.kept.Close()
		s.kept = nil
		return nil
	}
	s.room.kept.closeLater(s.kept)
	return s.kept
}

// noteInflated notes that the cache does not have the section. The caller holds s.mu.
func (s *section) noteInflated() {
	if s.room == nil || s.room.kept == nil {
		return
	}
	if source := s.room.kept.mod.s; source.opts.Inflated != nil {
		if c, ok := s.compressedSection(); ok {
			source.inflated.note(s.room.of, toKeep{c, s.file})
		}
	}
}
