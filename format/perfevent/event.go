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
	// Switches says that a sample is taken each time that a thread leaves its processor, and that
	// [Switch] records tell when it leaves and comes back. That takes the privilege to sample in
	// the kernel's code.
	Switches bool
}

// Events are the events by their names, the default first. The kernel says which of them a machine
// has.
var Events = []Event{
	{Name: "cpu-clock", Type: typeSoftware, Config: 0, Unit: "nanoseconds"},
	{Name: "cycles", Type: typeHardware, Config: 0, Unit: "count"},
	{Name: "instructions", Type: typeHardware, Config: 1, Unit: "count"},
	{Name: "cache-misses", Type: typeHardware, Config: 3, Unit: "count"},
	{Name: "branch-misses", Type: typeHardware, Config: 5, Unit: "count"},
	{Name: "page-faults", Type: typeSoftware, Config: 2, Unit: "count"},
	{Name: "context-switches", Type: typeSoftware, Config: 3, Unit: "count"},
	{Name: "off-cpu", Type: typeSoftware, Config: 3, Unit: "nanoseconds", Switches: true},
}

// MaxStack is the largest copy of a stack that a sample can have, in bytes: what the kernel's
// 16-bit size of a record allows, less room for the other fields.
const MaxStack = 60 << 10
