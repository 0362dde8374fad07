package minidump

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"math/bits"
	"sort"
	"strings"
	"time"
	"unicode/utf16"
)

// Contents are what [Contents.Write] writes as a dump.
type Contents struct {
	Time      time.Time // when the process was looked at; zero if not known
	PID       int       // 0 if not known
	System    System    // with Known set
	Threads   []ThreadContents
	Modules   []Module // the program's own first; of CodeView, a build ID (ELF) or none
	Memory    []Block  // ascending, disjoint: stacks and all else
	Exception *Exception
	Linux     Linux
	Languages []byte // [File.Languages]
}

// ThreadContents is a thread of [Contents]. A thread's stack is the block around its stack pointer,
// from there outward.
type ThreadContents struct {
	ID        uint32
	Name      string     // "" if it has none
	Registers []Register // by their names; none if they are not known
}

// Block is a copy of memory.
type Block struct {
	Addr uint64
	Data []byte
}

// ErrProcessor says that minidumps have no registers of a processor.
var ErrProcessor = errors.New("minidumps have no form for the registers of the processor")

const (
	maxFile     = math.MaxUint32 // bytes: offsets have 32 bits
	contextTail = 8              // contexts begin at multiples of it, and so does all else
	redZone     = 128            // bytes below the stack pointer that count as the stack
)

// contextSizes are the sizes of the contexts that are written (winnt.h, google_breakpad's
// minidump_cpu_*.h).
var contextSizes = map[Processor]int{X86: 716, AMD64: 1232, ARM: 368, ARM64: 912}

// stackPointers are their stack pointers.
var stackPointers = map[Processor]string{X86: "esp", AMD64: "rsp", ARM: "sp", ARM64: "sp"}

// Write writes the dump, of little endian. It holds no more in memory than all that is not memory
// of the process. The error says what a dump cannot hold, before anything is written, or is w's.
func (c *Contents) Write(w io.Writer) error {
	d, err := c.layOut()
	if err != nil {
		return fmt.Errorf("write minidump: %w", err)
	}
	out := bufio.NewWriterSize(w, 1<<16)
	out.Write(d.b)
	for i := range c.Memory {
		data := c.Memory[i].Data
		out.Write(data)
		out.Write(make([]byte, -len(data)&(contextTail-1)))
	}
	return out.Flush() // returns the first error of any write
}

// layingOut is a dump without the memory, which is behind it.
type layingOut struct {
	b       []byte
	streams []Stream
	blocks  []int64   // where each block begins, from the first one on
	later   []int     // where b has an offset that counts from the first block
	err     error     // what cannot be written
	order   byteOrder // of what is written
	of      Contents  // what is written
}

type byteOrder = interface {
	binary.ByteOrder
	binary.AppendByteOrder
}

func (c *Contents) layOut() (*layingOut, error) {
	const headerSize, entrySize, most = 32, 12, 16
	if !c.System.Known || contextSizes[c.System.Processor] == 0 {
		return nil, fmt.Errorf("%w: %v", ErrProcessor, c.System.Processor)
	}
	d := &layingOut{b: make([]byte, headerSize+most*entrySize), order: binary.LittleEndian, of: *c}
	size, end := int64(0), uint64(0)
	for i := range c.Memory {
		m := &c.Memory[i]
		last := m.Addr + uint64(len(m.Data))
		if last < m.Addr || m.Addr < end {
			return nil, fmt.Errorf("memory at %#x: it is not behind what comes before it", m.Addr)
		}
		d.blocks = append(d.blocks, size)
		size += int64(len(m.Data)+contextTail-1) &^ (contextTail - 1)
		end = last
	}
	d.threads()
	d.modules()
	d.memory()
	d.exception()
	d.system()
	d.misc()
	d.names()
	d.linux()
	if len(c.Languages) > 0 {
		d.stream(LanguagesStream, c.Languages)
	}
	if d.err == nil && size > maxFile-int64(len(d.b)) {
		d.err = fmt.Errorf("%d MiB: a minidump has less than 4096", (size+int64(len(d.b)))>>20)
	}
	for _, at := range d.later {
		d.order.PutUint32(d.b[at:], d.order.Uint32(d.b[at:])+uint32(len(d.b)))
	}
	d.order.PutUint32(d.b, signature)
	d.order.PutUint32(d.b[4:], version)
	d.order.PutUint32(d.b[8:], uint32(len(d.streams)))
	d.order.PutUint32(d.b[12:], headerSize)
	if !c.Time.IsZero() {
		d.order.PutUint32(d.b[20:], uint32(c.Time.Unix()))
	}
	for i, s := range d.streams {
		at := d.b[headerSize+entrySize*i:]
		d.order.PutUint32(at, uint32(s.Type))
		d.order.PutUint32(at[4:], uint32(s.Size))
		d.order.PutUint32(at[8:], uint32(s.Offset))
	}
	return d, d.err
}

// put adds bytes, and returns where they are.
func (d *layingOut) put(b []byte) Location {
	at := Location{uint64(len(b)), uint64(len(d.b))}
	d.b = append(d.b, b...)
	d.b = append(d.b, make([]byte, -len(d.b)&(contextTail-1))...)
	return at
}

// stream adds a stream.
func (d *layingOut) stream(t StreamType, b []byte) {
	d.streams = append(d.streams, Stream{t, d.put(b)})
}

// text adds a MINIDUMP_STRING, and returns its offset.
func (d *layingOut) text(s string) uint32 {
	words := utf16.Encode([]rune(strings.ToValidUTF8(s, "\ufffd")))
	b := d.order.AppendUint32(nil, uint32(2*len(words)))
	for _, w := range append(words, 0) {
		b = d.order.AppendUint16(b, w)
	}
	return uint32(d.put(b).Offset)
}

func (d *layingOut) u32(b []byte, list ...uint32) []byte {
	for _, v := range list {
		b = d.order.AppendUint32(b, v)
	}
	return b
}

func (d *layingOut) u64(b []byte, v uint64) []byte { return d.order.AppendUint64(b, v) }

func (d *layingOut) location(b []byte, l Location) []byte {
	return d.u32(b, uint32(l.Size), uint32(l.Offset))
}

// list adds a list of entries, each of size bytes, of which make appends one. It notes the offsets
// that make says count from the first block of memory.
func (d *layingOut) list(t StreamType, n int, entry func(b []byte, i int) (more []byte, later int)) {
	b := d.u32(nil, uint32(n))
	var later []int
	for i := range n {
		var at int
		if b, at = entry(b, i); at > 0 {
			later = append(later, at)
		}
	}
	for _, at := range later {
		d.later = append(d.later, len(d.b)+at)
	}
	d.stream(t, b)
}

func (d *layingOut) threads() {
	p := d.of.System.Processor
	contexts := make([]Location, len(d.of.Threads))
	for i := range d.of.Threads {
		t := &d.of.Threads[i]
		context := encodeContext(p, t.Registers)
		if context != nil {
			contexts[i] = d.put(context)
		}
		if x := d.of.Exception; x != nil && x.Thread == t.ID {
			x := *x
			x.Context, d.of.Exception = contexts[i], &x
		}
	}
	d.list(ThreadList, len(d.of.Threads), func(b []byte, i int) ([]byte, int) {
		t := &d.of.Threads[i]
		b = d.u32(b, t.ID, 0, 0, 0)
		b = d.u64(b, 0)
		later := 0
		if block, from := d.stack(t); block >= 0 {
			m := &d.of.Memory[block]
			b = d.u64(b, m.Addr+uint64(from))
			b = d.u32(b, uint32(len(m.Data)-from), uint32(d.blocks[block])+uint32(from))
			later = len(b) - 4
		} else {
			b = d.u32(d.u64(b, 0), 0, 0)
		}
		return d.location(b, contexts[i]), later
	})
}

// stack returns the block that has a thread's stack, and where that begins in it; -1 if none has
// it.
func (d *layingOut) stack(t *ThreadContents) (block, from int) {
	for _, r := range t.Registers {
		if r.Name != stackPointers[d.of.System.Processor] {
			continue
		}
		list := d.of.Memory
		i := sort.Search(len(list), func(i int) bool { return list[i].Addr+uint64(len(list[i].Data)) > r.Value })
		if i < len(list) && list[i].Addr <= r.Value {
			return i, int(max(r.Value&^15-min(r.Value&^15, redZone), list[i].Addr) - list[i].Addr)
		}
	}
	return -1, 0
}

// encodeContext returns a context with the registers; nil if it would have none. A group of
// registers of which one is missing is left out.
func encodeContext(p Processor, registers []Register) []byte {
	values := make(map[string]uint64, len(registers))
	for _, r := range registers {
		values[r.Name] = r.Value
	}
	l, order := layouts()[p], binary.LittleEndian
	b := make([]byte, contextSizes[p])
	missing := map[uint32]bool{} // flags of groups of which one is not known
	for _, g := range l.groups {
		for _, name := range g.names {
			if _, ok := values[name]; !ok && g.size > 2 && name != "eflags" && name != "cpsr" {
				missing[g.flag] = true
			}
		}
	}
	flags := uint32(0)
	for _, g := range l.groups {
		if missing[g.flag] {
			continue
		}
		for i, name := range g.names {
			v, ok := values[name]
			if !ok {
				continue
			}
			flags |= g.flag | 1<<(bits.Len32(l.cpu)-1) // of several bits, Breakpad's
			switch at := b[g.at+i*g.every:]; g.size {
			case 2:
				order.PutUint16(at, uint16(v))
			case 4:
				order.PutUint32(at, uint32(v))
			default:
				order.PutUint64(at, v)
			}
		}
	}
	if flags == 0 {
		return nil
	}
	order.PutUint32(b[l.flagsAt:], flags)
	return b
}

func (d *layingOut) modules() {
	list := d.of.Modules
	names, views := make([]uint32, len(list)), make([]Location, len(list))
	for i := range list {
		m := &list[i]
		names[i] = d.text(m.Name)
		switch m.CodeView.Kind {
		case ELF:
			views[i] = d.put(append([]byte(ELF), m.CodeView.BuildID...))
		case "":
		default:
			d.err = fmt.Errorf("module %s: a CodeView record of kind %q is not written", m.Name, m.CodeView.Kind)
		}
		if m.Size > math.MaxUint32 {
			d.err = fmt.Errorf("module %s: %d bytes: a minidump has modules of less than 4 GiB", m.Name, m.Size)
		}
	}
	d.list(ModuleList, len(list), func(b []byte, i int) ([]byte, int) {
		m := &list[i]
		b = d.u32(d.u64(b, m.Base), uint32(m.Size), m.Checksum, m.Stamp, names[i])
		b = append(b, make([]byte, 13*4)...) // VS_FIXEDFILEINFO
		return append(d.location(b, views[i]), make([]byte, 8+2*8)...), 0
	})
}

func (d *layingOut) memory() {
	d.list(MemoryList, len(d.of.Memory), func(b []byte, i int) ([]byte, int) {
		m := &d.of.Memory[i]
		b = d.u32(d.u64(b, m.Addr), uint32(len(m.Data)), uint32(d.blocks[i]))
		return b, len(b) - 4
	})
}

func (d *layingOut) exception() {
	x := d.of.Exception
	if x == nil {
		return
	}
	const maxParams = 15
	n := min(len(x.Params), maxParams)
	b := d.u64(d.u32(nil, x.Thread, 0, x.Code, x.Flags), x.Record)
	b = d.u32(d.u64(b, x.Address), uint32(n), 0)
	for _, v := range x.Params[:n] {
		b = d.u64(b, v)
	}
	b = append(b, make([]byte, (maxParams-n)*8)...)
	d.stream(ExceptionStream, d.location(b, x.Context))
}

func (d *layingOut) system() {
	s := &d.of.System
	version := d.text(s.Version)
	b := d.order.AppendUint16(nil, uint16(s.Processor))
	b = d.order.AppendUint16(d.order.AppendUint16(b, s.Level), s.Revision)
	b = append(b, byte(min(s.Processors, math.MaxUint8)), 0)
	b = d.u32(b, s.Major, s.Minor, s.Build, uint32(s.OS), version, 0)
	d.stream(SystemInfo, append(b, s.CPU[:]...))
}

// misc writes MINIDUMP_MISC_INFO with the process's ID.
func (d *layingOut) misc() {
	const size, hasPID = 24, 1
	if d.of.PID > 0 {
		d.stream(MiscInfo, d.u32(nil, size, hasPID, uint32(d.of.PID), 0, 0, 0))
	}
}

func (d *layingOut) names() {
	var named []*ThreadContents
	var at []uint32
	for i := range d.of.Threads {
		if t := &d.of.Threads[i]; t.Name != "" {
			named, at = append(named, t), append(at, d.text(t.Name))
		}
	}
	if len(named) > 0 {
		d.list(ThreadNames, len(named), func(b []byte, i int) ([]byte, int) {
			return d.u64(d.u32(b, named[i].ID), uint64(at[i])), 0
		})
	}
}

func (d *layingOut) linux() {
	x := &d.of.Linux
	for _, s := range []struct {
		kind StreamType
		text []byte
	}{
		{LinuxCPUInfo, x.CPUInfo}, {LinuxProcStatus, x.Status}, {LinuxLSBRelease, x.LSBRelease}, {LinuxCommandLine, x.CommandLine},
		{LinuxEnvironment, x.Environment}, {LinuxAuxv, x.Auxv}, {LinuxMaps, x.Maps},
	} {
		if len(s.text) > 0 {
			d.stream(s.kind, s.text)
		}
	}
}
