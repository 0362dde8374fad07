package jit

import (
	"bytes"
	"debug/elf"
	"fmt"
	"io"
	"io/fs"
	"math"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/sfwalk/sfwalk/arch"
	elfimage "github.com/sfwalk/sfwalk/format/elf"
	"github.com/sfwalk/sfwalk/internal/jitdump"
	"github.com/sfwalk/sfwalk/target"
)

// IsDump reports whether a mapped file is a jitdump by its path. A process maps the file as code to
// tell where it is, and runs nothing there.
func IsDump(path string) bool { return jitdump.IsName(path) }

// MaxDumps bounds the dumps of one process; real ones have one.
const MaxDumps = 16

// Latest is a time behind all others.
const Latest = math.MaxUint64

// File is what a [Dump] needs of a file.
type File interface {
	io.ReaderAt
	Stat() (fs.FileInfo, error)
}

// Dump has the code that a process writes down in a jitdump, each piece as a module, from the time
// on when it was made. It is safe for concurrent use.
type Dump struct {
	path string
	arch *arch.Arch
	open func() (File, error)

	mu   sync.Mutex
	file File // nil before it was opened
	err  error
	dump *jitdump.Dump
	made map[jitdump.Code]*target.Module
}

// maxDumped bounds the bytes of the code of all dumps that is open at a time: pieces of code may
// share a table, and dumps a file.
const maxDumped = 96 << 20

// dumped is how many bytes are open.
var dumped atomic.Int64

// NewDump returns the dump at a path of a process. open opens it, when it is first needed; the file
// stays the caller's.
func NewDump(path string, a *arch.Arch, open func() (File, error)) *Dump {
	return &Dump{path: path, arch: a, open: open, made: map[jitdump.Code]*target.Module{}}
}

// step is how many records are read at a time, so that one look at a file does not take long.
const step = 1 << 15

// Read reads what the process has written since, as far as one look takes, and reports whether
// there was something. The error names the file; it is returned once.
func (d *Dump) Read() (more bool, err error) { return d.readTo(math.MaxInt64) }

// readTo is Read up to an offset.
func (d *Dump) readTo(end int64) (more bool, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.err != nil {
		return false, nil
	}
	n := 0
	if d.file == nil {
		d.file, d.err = d.open()
	}
	if d.err == nil {
		if d.dump == nil {
			d.dump = jitdump.New(d.file, uint16(d.arch.Machine))
		}
		var info fs.FileInfo
		if info, d.err = d.file.Stat(); d.err == nil {
			n, d.err = d.dump.Read(min(info.Size(), end), step)
		}
	}
	if d.err != nil {
		err = fmt.Errorf("names of code that the process has made, %s: %w", d.path, d.err)
	}
	return n > 0, err
}

// ReadAll reads all that the process has written by now, and reports whether there was something.
// What it writes meanwhile is left: it may never end.
func (d *Dump) ReadAll() (more bool, err error) {
	if more, err = d.Read(); err != nil || !more {
		return more, err
	}
	info, err := d.file.Stat()
	if err != nil {
		return true, err
	}
	end := info.Size()
	for grown := true; grown && err == nil; {
		grown, err = d.readTo(end)
	}
	return true, err
}

// Last returns the time of the last record that was read, nanoseconds of CLOCK_MONOTONIC: what was
// made before is known.
func (d *Dump) Last() uint64 {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.dump == nil {
		return 0
	}
	return d.dump.Last()
}

// At returns the module of the code that an address had at a time, nanoseconds of CLOCK_MONOTONIC,
// by some dumps; nil if they do not tell.
func At(dumps []*Dump, addr, time uint64) *target.Module {
	for _, d := range dumps {
		if m := d.at(addr, time); m != nil {
			return m
		}
	}
	return nil
}

func (d *Dump) at(addr, time uint64) *target.Module {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.dump == nil {
		return nil
	}
	c, ok := d.dump.Find(addr, time)
	if !ok {
		return nil
	}
	m := d.made[c]
	if m == nil {
		m = target.NewRegistered(d.path, []target.Mapping{{Lo: c.Lo, Hi: c.Hi, Exec: true}}, func() (*elfimage.Image, error) { return d.image(c) })
		d.made[c] = m
	}
	return m
}

// image opens a piece of code.
func (d *Dump) image(c jitdump.Code) (*elfimage.Image, error) {
	data, err := d.dump.ELF(&c, d.arch.Class())
	if err != nil {
		return nil, fmt.Errorf("%s: %w", d.path, err)
	}
	n := int64(len(data)) + perObject
	if dumped.Add(n) > maxDumped {
		dumped.Add(-n)
		return nil, fmt.Errorf("%s: %w", d.path, errTooLarge)
	}
	im, err := elfimage.Open(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		dumped.Add(-n)
		return nil, fmt.Errorf("%s: %w", d.path, err)
	}
	runtime.AddCleanup(im, func(n int64) { dumped.Add(-n) }, n)
	im.Progs = append(im.Progs, elf.ProgHeader{Type: elf.PT_LOAD, Flags: elf.PF_R | elf.PF_X, Vaddr: c.Lo, Memsz: c.Hi - c.Lo})
	return im, nil
}
