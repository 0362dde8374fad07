package perfevent

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
)

// These are types of records (enum perf_event_type).
const (
	RecordMmap     = 1
	RecordLost     = 2
	RecordComm     = 3
	RecordExit     = 4
	RecordThrottle = 5
	RecordFork     = 7
	RecordSample   = 9
	RecordMmap2    = 10

	RecordLostSamples   = 13
	RecordSwitch        = 14
	RecordSwitchCPUWide = 15
	RecordKsymbol       = 17

	RecordCallchainDeferred = 22
)

// These are bits of a record's Misc.
const (
	MiscMode         = 7 // the mode that the processor was in, one of the next five
	MiscKernel       = 1
	MiscUser         = 2
	MiscHypervisor   = 3
	MiscGuestKernel  = 4
	MiscGuestUser    = 5
	MiscMmapData     = 1 << 13 // of RecordMmap: the mapping is not executable
	MiscSwitchOut    = 1 << 13 // of RecordSwitch: the thread leaves its processor
	MiscPreempted    = 1 << 14 // of RecordSwitch: it would go on
	MiscExec         = 1 << 13 // of RecordComm: the process runs another program, execve(2)
	MiscForkExec     = 1 << 13 // of RecordFork, as perf writes it: the process has run another program since
	MiscMmapBuildID  = 1 << 14 // of RecordMmap2: the record has the file's build ID, and no inode
	HeaderSize       = 8       // bytes, of each record: type, misc, size
	maxPathInRecord  = 4096    // PATH_MAX
	maxBuildIDLength = 20
)

// ErrShort says that a record is too short for the fields that it must have.
var ErrShort = errors.New("record is too short for its fields")

// Record is one record: its header (struct perf_event_header), and its body, which follows the
// header.
type Record struct {
	Type uint32
	Misc uint16
	Body []byte
}

// ID are the fields at the end of a record that is no sample (struct sample_id), if the events ask
// for them (sample_id_all), and the same fields of a sample. A field that the Format lacks is 0.
type ID struct {
	PID, TID int32
	Time     uint64 // nanoseconds of the events' clock
	ID       uint64 // of the event
	StreamID uint64
	CPU      uint32
}

// Mmap says that a process has mapped a file, or memory (RecordMmap, RecordMmap2).
type Mmap struct {
	PID, TID            int32
	Addr, Size, Offset  uint64 // run-time address, bytes, bytes in the file
	Major, Minor        uint32
	Inode, Generation   uint64
	Protection, Flags   uint32 // of mmap(2); 0 if the record has none
	BuildID             []byte // nil if the record has none
	Path                string // "//anon" for memory of no file, "[vdso]" and the like for the kernel's
	NotExecutable, Full bool   // Full says that the record has Protection and Flags
	ID                  ID
}

// Comm says that a thread has a new name; Exec that its process runs another program (RecordComm).
type Comm struct {
	PID, TID int32
	Name     string
	Exec     bool
	ID       ID
}

// Fork says that a thread or process has begun (RecordFork) or ended (RecordExit). If PID is
// ParentPID, it is a thread.
type Fork struct {
	PID, ParentPID int32
	TID, ParentTID int32
	Time           uint64
	ID             ID
}

// Switch says that the thread of ID leaves its processor (Out), or gets one (RecordSwitch,
// RecordSwitchCPUWide). Preempted says that it left though it would go on.
type Switch struct {
	Out, Preempted bool
	ID             ID
}

// Switch reads a RecordSwitch or a RecordSwitchCPUWide.
func (f *Format) Switch(r Record) (s Switch, err error) {
	in := fields{f: f, b: r.Body}
	s.Out, s.Preempted = r.Misc&MiscSwitchOut != 0, r.Misc&MiscPreempted != 0
	if r.Type == RecordSwitchCPUWide {
		in.u64() // the other thread
	}
	s.ID = in.id()
	return s, in.error("switch")
}

// Mmap reads a RecordMmap or a RecordMmap2.
func (f *Format) Mmap(r Record) (m Mmap, err error) {
	in := fields{f: f, b: r.Body}
	m.PID, m.TID = int32(in.u32()), int32(in.u32())
	m.Addr, m.Size, m.Offset = in.u64(), in.u64(), in.u64()
	m.NotExecutable = r.Misc&MiscMmapData != 0
	if m.Full = r.Type == RecordMmap2; m.Full {
		if r.Misc&MiscMmapBuildID != 0 {
			id := in.take(24) // the size, three bytes of padding, the ID
			if id != nil {
				m.BuildID = bytes.Clone(id[4 : 4+min(int(id[0]), maxBuildIDLength)])
			}
		} else {
			m.Major, m.Minor, m.Inode, m.Generation = in.u32(), in.u32(), in.u64(), in.u64()
		}
		if in.protected() {
			m.Protection, m.Flags = in.u32(), in.u32()
		} else {
			m.Full = false
		}
	}
	m.Path = in.text(maxPathInRecord)
	m.ID = in.id()
	return m, in.error("mmap")
}

// protected reports whether a RecordMmap2 goes on with protection and flags. Kernels before Linux
// 3.16, and kernels that have kept the RecordMmap2 of then, as Red Hat's have, write neither: the
// path follows at once. A protection may be anything but a path's beginning: perf inject --jit
// writes a file's mode there.
func (in *fields) protected() bool {
	return len(in.b) < 2 || in.b[0] != '/' && in.b[0] != '[' || in.b[1] <= ' ' || in.b[1] > '~'
}

// Comm reads a RecordComm.
func (f *Format) Comm(r Record) (c Comm, err error) {
	in := fields{f: f, b: r.Body}
	c.PID, c.TID, c.Exec = int32(in.u32()), int32(in.u32()), r.Misc&MiscExec != 0
	c.Name = in.text(64)
	c.ID = in.id()
	return c, in.error("comm")
}

// Fork reads a RecordFork or a RecordExit.
func (f *Format) Fork(r Record) (k Fork, err error) {
	in := fields{f: f, b: r.Body}
	k.PID, k.ParentPID = int32(in.u32()), int32(in.u32())
	k.TID, k.ParentTID = int32(in.u32()), int32(in.u32())
	k.Time = in.u64()
	k.ID = in.id()
	return k, in.error("fork")
}

// Ksymbol says that the kernel has made a function, or that it is gone (RecordKsymbol).
type Ksymbol struct {
	Addr uint64
	Size uint32 // bytes
	Gone bool
	Name string
}

// Ksymbol reads a RecordKsymbol.
func (f *Format) Ksymbol(r Record) (k Ksymbol, err error) {
	in := fields{f: f, b: r.Body}
	k.Addr, k.Size = in.u64(), in.u32()
	if b := in.take(4); b != nil { // the type, and flags of 16 bits
		k.Gone = f.order().Uint16(b[2:])&1 != 0
	}
	k.Name = in.text(512) // KSYM_NAME_LEN
	return k, in.error("ksymbol")
}

// Deferred is the program's part of call chains, which the kernel has walked later than its own
// part. It belongs to all samples before it, of the thread of ID, whose chains end with
// [ContextUserDeferred] and the Cookie (RecordCallchainDeferred).
type Deferred struct {
	Cookie uint64
	Chain  []uint64 // PCs
	ID     ID
}

// Deferred reads a RecordCallchainDeferred.
func (f *Format) Deferred(r Record) (d Deferred, err error) {
	in := fields{f: f, b: r.Body}
	d.Cookie = in.u64()
	n := in.u64()
	if n > uint64(len(in.b))/8 {
		return d, fmt.Errorf("deferred call chain of %d addresses: %w", n, ErrShort)
	}
	for range n {
		d.Chain = append(d.Chain, in.u64())
	}
	d.ID = in.id()
	return d, in.error("deferred call chain")
}

// Lost reads a RecordLost, how many records did not fit into the ring buffer; or a
// RecordLostSamples, how many samples were not taken.
func (f *Format) Lost(r Record) (n uint64, err error) {
	in := fields{f: f, b: r.Body}
	if r.Type == RecordLost {
		in.u64() // the event
	}
	n = in.u64()
	return n, in.error("lost")
}

// fields reads the fields of a record, one after the other. When they end early, it returns zeroes
// and notes that.
type fields struct {
	f     *Format
	b     []byte
	short bool
}

func (in *fields) take(n int) []byte {
	if n > len(in.b) || n < 0 {
		in.short, in.b = true, nil
		return nil
	}
	b := in.b[:n]
	in.b = in.b[n:]
	return b
}

func (in *fields) u32() uint32 {
	if b := in.take(4); b != nil {
		return in.f.order().Uint32(b)
	}
	return 0
}

func (in *fields) u64() uint64 {
	if b := in.take(8); b != nil {
		return in.f.order().Uint64(b)
	}
	return 0
}

// text reads a text of at most max bytes that a zero ends, and the zeroes that fill it up to a
// multiple of 8 bytes.
func (in *fields) text(max int) string {
	n := bytes.IndexByte(in.b[:min(len(in.b), max+1)], 0)
	if n < 0 {
		in.short = true
		return ""
	}
	s := string(in.b[:n])
	in.take(min((n+8)&^7, len(in.b)))
	return s
}

// id reads the fields at the end of the record.
func (in *fields) id() (id ID) {
	if !in.f.IDAll {
		return id
	}
	size := in.f.idSize()
	if size > len(in.b) {
		in.short = true
		return id
	}
	in.b = in.b[len(in.b)-size:]
	for _, field := range [...]uint64{SampleTID, SampleTime, SampleID, SampleStreamID, SampleCPU, SampleIdentifier} {
		if in.f.SampleType&field != 0 {
			in.idField(field, &id)
		}
	}
	return id
}

// idField reads one field that samples and the ends of other records have.
func (in *fields) idField(field uint64, id *ID) {
	switch field {
	case SampleTID:
		id.PID, id.TID = int32(in.u32()), int32(in.u32())
	case SampleTime:
		id.Time = in.u64()
	case SampleID, SampleIdentifier:
		id.ID = in.u64()
	case SampleStreamID:
		id.StreamID = in.u64()
	case SampleCPU:
		id.CPU = in.u32()
		in.u32()
	}
}

func (in *fields) error(what string) error {
	if in.short {
		return fmt.Errorf("%s: %w", what, ErrShort)
	}
	return nil
}

// Next returns the first record of b and the bytes behind it. b must hold whole records; the error
// says that it does not.
func (f *Format) Next(b []byte) (r Record, rest []byte, err error) {
	if len(b) < HeaderSize {
		return Record{}, nil, fmt.Errorf("header: %w", ErrShort)
	}
	size := int(f.order().Uint16(b[6:]))
	if size < HeaderSize || size > len(b) {
		return Record{}, nil, fmt.Errorf("record of %d bytes, of which %d are there: %w", size, len(b), ErrShort)
	}
	return Record{Type: f.order().Uint32(b), Misc: f.order().Uint16(b[4:]), Body: b[HeaderSize:size]}, b[size:], nil
}

func (f *Format) order() binary.ByteOrder {
	if f.Order == nil {
		return binary.NativeEndian
	}
	return f.Order
}
