package perfevent

import (
	"encoding/binary"
	"fmt"
	"math/bits"
)

// These are the fields of samples (enum perf_event_sample_format).
const (
	SampleIP         = 1 << 0
	SampleTID        = 1 << 1
	SampleTime       = 1 << 2
	SampleAddr       = 1 << 3
	SampleRead       = 1 << 4
	SampleCallchain  = 1 << 5
	SampleID         = 1 << 6
	SampleCPU        = 1 << 7
	SamplePeriod     = 1 << 8
	SampleStreamID   = 1 << 9
	SampleRaw        = 1 << 10
	SampleBranch     = 1 << 11
	SampleRegsUser   = 1 << 12
	SampleStackUser  = 1 << 13
	SampleIdentifier = 1 << 16
)

// These are what a group's counters are read with (enum perf_event_read_format).
const (
	readTimeEnabled = 1 << 0
	readTimeRunning = 1 << 1
	readID          = 1 << 2
	readGroup       = 1 << 3
	ReadLost        = 1 << 4
)

// These are marks in a call chain: the addresses behind one are of that context (enum
// perf_callchain_context).
const (
	ContextMarks  = ^uint64(4095 - 1) // -4095: all marks are at least this
	ContextKernel = ^uint64(128 - 1)
	ContextUser   = ^uint64(512 - 1)
	// ContextUserDeferred is before a cookie, by which a [Deferred] has the addresses of the
	// program.
	ContextUserDeferred = ^uint64(640 - 1)
)

// These say how wide the registers of a sample are (enum perf_sample_regs_abi).
const (
	RegsNone = 0
	Regs32   = 1
	Regs64   = 2
)

// Format says which fields the records of an event have, and in which byte order.
type Format struct {
	SampleType uint64 // of struct perf_event_attr: the fields that a sample has
	ReadFormat uint64
	UserRegs   uint64           // the registers that a sample has (sample_regs_user)
	BranchType uint64           // branch_sample_type
	IDAll      bool             // records that are no samples end with an [ID]
	Order      binary.ByteOrder // nil for this machine's
}

// Sample is what the kernel says of a thread at one moment. The slices are valid until the record's
// bytes change, or the Sample is used again.
type Sample struct {
	ID
	Misc   uint16
	IP     uint64
	Addr   uint64
	Period uint64   // events since the sample before
	Chain  []uint64 // PCs, by the kernel's own walk along frame pointers, with marks of contexts

	ABI   uint64   // how wide Regs are: Regs64, Regs32; RegsNone where the thread has no user registers
	Regs  []uint64 // the registers of Format.UserRegs, by ascending bits; none if ABI is RegsNone
	Stack []byte   // the memory from the stack pointer on, as far as it could be copied
	// Full says that Stack ends where the copy's size ends: the stack may go on.
	Full bool
}

// Sample reads a RecordSample into s. It allocates no more than the registers and the call chain
// take, in slices that s keeps.
func (f *Format) Sample(r Record, s *Sample) error {
	in := fields{f: f, b: r.Body}
	*s = Sample{Misc: r.Misc, Chain: s.Chain[:0], Regs: s.Regs[:0]}
	has := func(field uint64) bool { return f.SampleType&field != 0 }
	if has(SampleIdentifier) {
		in.idField(SampleIdentifier, &s.ID)
	}
	if has(SampleIP) {
		s.IP = in.u64()
	}
	for _, field := range [...]uint64{SampleTID, SampleTime} {
		if has(field) {
			in.idField(field, &s.ID)
		}
	}
	if has(SampleAddr) {
		s.Addr = in.u64()
	}
	for _, field := range [...]uint64{SampleID, SampleStreamID, SampleCPU} {
		if has(field) {
			in.idField(field, &s.ID)
		}
	}
	if has(SamplePeriod) {
		s.Period = in.u64()
	}
	if has(SampleRead) {
		in.counters(f.ReadFormat)
	}
	if has(SampleCallchain) {
		n := in.u64()
		if n > uint64(len(in.b))/8 {
			return fmt.Errorf("sample: a call chain of %d addresses: %w", n, ErrShort)
		}
		for range n {
			s.Chain = append(s.Chain, in.u64())
		}
	}
	if has(SampleRaw) {
		in.take(int(in.u32()))
	}
	if has(SampleBranch) {
		in.branches(f.BranchType)
	}
	if has(SampleRegsUser) {
		if s.ABI = in.u64(); s.ABI != RegsNone {
			for range bits.OnesCount64(f.UserRegs) {
				s.Regs = append(s.Regs, in.u64())
			}
		}
	}
	if has(SampleStackUser) {
		in.stack(s)
	}
	return in.error("sample")
}

// stack reads the copy of the stack: its size, its bytes, and how many of them could be copied.
func (in *fields) stack(s *Sample) {
	size := in.u64()
	if size == 0 {
		return
	}
	if size > uint64(len(in.b)) {
		in.short = true
		return
	}
	s.Stack = in.take(int(size))
	copied := in.u64()
	if copied > size {
		in.short, copied = true, 0
	}
	s.Stack, s.Full = s.Stack[:copied], copied == size
}

// counters skips the values of PERF_SAMPLE_READ.
func (in *fields) counters(format uint64) {
	times := 8 * bits.OnesCount64(format&(readTimeEnabled|readTimeRunning))
	each := 8 * (1 + bits.OnesCount64(format&(readID|ReadLost)))
	if format&readGroup == 0 {
		in.take(times + each)
		return
	}
	n := in.u64()
	in.take(times)
	if n > uint64(len(in.b)) {
		in.short = true
		return
	}
	in.take(int(n) * each)
}

// branches skips the records of PERF_SAMPLE_BRANCH_STACK.
func (in *fields) branches(format uint64) {
	const withIndex, withCounters = 1 << 17, 1 << 19
	n := in.u64()
	if n > uint64(len(in.b)) {
		in.short = true
		return
	}
	if format&withIndex != 0 {
		in.u64()
	}
	in.take(24 * int(n))
	if format&withCounters != 0 {
		in.take(8 * int(n))
	}
}

// idSize returns how many bytes the fields of an [ID] take at the end of a record.
func (f *Format) idSize() int {
	return 8 * bits.OnesCount64(f.SampleType&(SampleTID|SampleTime|SampleID|SampleStreamID|SampleCPU|SampleIdentifier))
}

// EventID returns the ID of the event that has a record. Call it where a file has several events,
// to choose the Format that reads the record. ok is false if the format, or the record, does not
// have the ID at a place that is the same for all events.
func (f *Format) EventID(r Record) (id uint64, ok bool) {
	in := fields{f: f, b: r.Body}
	if f.SampleType&(SampleIdentifier|SampleID) == 0 || r.Type != RecordSample && !f.IDAll {
		return 0, false
	}
	if r.Type != RecordSample {
		id = in.id().ID
		return id, !in.short
	}
	if f.SampleType&SampleIdentifier == 0 {
		in.take(8 * bits.OnesCount64(f.SampleType&(SampleIP|SampleTID|SampleTime|SampleAddr)))
	}
	id = in.u64()
	return id, !in.short
}

// Time returns the time of a record; 0 if it has none.
func (f *Format) Time(r Record) uint64 {
	in := fields{f: f, b: r.Body}
	var id ID
	if r.Type != RecordSample {
		id = in.id()
		return id.Time
	}
	if f.SampleType&SampleIdentifier != 0 {
		in.u64()
	}
	if f.SampleType&SampleIP != 0 {
		in.u64()
	}
	if f.SampleType&SampleTID != 0 {
		in.u64()
	}
	if f.SampleType&SampleTime != 0 {
		return in.u64()
	}
	return 0
}
