package perfdata

import (
	"encoding/binary"
	"fmt"
	"math/bits"
	"slices"
	"strings"

	"github.com/sfwalk/sfwalk/format/perfevent"
)

// Event is one of the events that perf has recorded.
type Event struct {
	perfevent.Event        // Name as perf has it: "cpu-clock", "cycles:P"
	Frequency       uint64 // samples a second; 0 if there is one for each Period
	Period          uint64 // events from one sample to the next; 0 if there are Frequency samples a second
	Format          perfevent.Format
	StackSize       uint32 // bytes of each stack that the kernel has copied at most
	MaxChain        uint16 // addresses of each call chain at most; 0 if the kernel's own bound counts
	// Monotonic says that times are of CLOCK_MONOTONIC (perf record -k mono), as the times in
	// jitdumps are.
	Monotonic bool

	index uint16 // in the Reader's Events
	known bool   // it has IDs
}

// Is reports whether the event has a name that a user gives, with or without its modifiers (":u").
func (e *Event) Is(name string) bool {
	plain := strings.Trim(e.Name, "/")
	short, _, _ := strings.Cut(plain, ":")
	return name == e.Name || name == plain || name == short
}

// These are offsets of fields in struct perf_event_attr.
const (
	attrType       = 0
	attrSize       = 4
	attrConfig     = 8
	attrPeriod     = 16
	attrSampleType = 24
	attrReadFormat = 32
	attrFlags      = 40
	attrBranch     = 72
	attrRegsUser   = 80
	attrStackUser  = 88
	attrClock      = 92
	attrMaxChain   = 108
	attrKnown      = 110  // bytes, up to the last field that is read
	leastAttr      = 64   // PERF_ATTR_SIZE_VER0
	mostAttr       = 4096 // a page: what the kernel takes at most
)

// These are bits of the attrFlags.
const (
	flagFreq  = 1 << 10
	flagIDAll = 1 << 18
	flagClock = 1 << 25 // attrClock counts
)

// readAttr reads a struct perf_event_attr, which ends where b ends.
func readAttr(b []byte, order binary.ByteOrder) (*Event, error) {
	if len(b) < leastAttr {
		return nil, fmt.Errorf("an event's description has %d bytes, want %d", len(b), leastAttr)
	}
	// Fields that an older perf has not known are 0.
	b = append(slices.Clone(b[:min(len(b), mostAttr)]), make([]byte, attrKnown)...)
	u64 := func(at int) uint64 { return order.Uint64(b[at:]) }
	e := &Event{Event: perfevent.Event{Type: order.Uint32(b[attrType:]), Config: u64(attrConfig), Unit: "count"}}
	flags := u64(attrFlags)
	if order == binary.BigEndian {
		flags = bits.Reverse64(flags) // C's bit fields begin at the other end
	}
	e.Format = perfevent.Format{
		SampleType: u64(attrSampleType), ReadFormat: u64(attrReadFormat), BranchType: u64(attrBranch), UserRegs: u64(attrRegsUser),
		IDAll: flags&flagIDAll != 0, Order: order,
	}
	e.StackSize = order.Uint32(b[attrStackUser:])
	e.MaxChain = order.Uint16(b[attrMaxChain:])
	const monotonic = 1 // CLOCK_MONOTONIC
	e.Monotonic = flags&flagClock != 0 && order.Uint32(b[attrClock:]) == monotonic
	if e.Period = u64(attrPeriod); flags&flagFreq != 0 {
		e.Frequency, e.Period = e.Period, 0
	}
	e.Name = fmt.Sprintf("event %d/%#x", e.Type, e.Config)
	for _, known := range perfevent.Events {
		if known.Type == e.Type && known.Config == e.Config {
			e.Name, e.Unit = known.Name, known.Unit
		}
	}
	if e.Type == 1 && e.Config == 1 { // PERF_COUNT_SW_TASK_CLOCK
		e.Name, e.Unit = "task-clock", "nanoseconds"
	}
	return e, nil
}
