package perfevent

// These are types of events (enum perf_type_id).
const (
	typeHardware = 0
	typeSoftware = 1
)

// Event is what is counted: a sample is taken each time that enough of it has happened.
type Event struct {
	Name   string
	Type   uint32 // of struct perf_event_attr
	Config uint64
	Unit   string // of its counts
}

// Events are the events by their names, the default first. The kernel says which of them a machine has.
var Events = []Event{
	{"cpu-clock", typeSoftware, 0, "nanoseconds"},
	{"cycles", typeHardware, 0, "count"},
	{"instructions", typeHardware, 1, "count"},
	{"cache-misses", typeHardware, 3, "count"},
	{"branch-misses", typeHardware, 5, "count"},
	{"page-faults", typeSoftware, 2, "count"},
	{"context-switches", typeSoftware, 3, "count"},
}

// MaxStack is the largest copy of a stack that a sample can have, in bytes: what the kernel's 16-bit size of a record allows, less
// room for the other fields.
const MaxStack = 60 << 10
