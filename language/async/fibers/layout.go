package fibers

// layout is where members of boost::fibers::context are that releases have in different places
// (context.hpp, compiled for each release from 1.66 on).
type layout struct {
	scheduler uint64
	sleep     uint64 // the link to the scheduler's fibers that sleep
	hook      uint64 // the link to the fibers that wait for the same; 0 if that is not in the context
	epoch     uint64 // how often the fiber was woken; 0 if that is not there
}

// layouts are the known ones.
var layouts = [...]layout{
	{scheduler: 56, sleep: 112, epoch: 48}, // 1.75 and later
	{scheduler: 72, sleep: 128, hook: 48},  // 1.66 to 1.74
}

// Offsets in a boost::fibers::context of all releases.
const (
	remoteLink = 16  // to fibers that another thread has made ready
	terminated = 28  // a byte
	waiters    = 32  // the queue of fibers that wait for this one's end
	readyLink  = 160 // to fibers that are ready
	workerLink = 184 // to the scheduler's other fibers
	savedAt    = 208 // the address of the registers; 0 while the fiber runs
	kind       = 224 // 32 bits
)

// Kinds of contexts (type.hpp).
const (
	mainContext       = 2
	dispatcherContext = 4
	workerContext     = 8
)

// Offsets in a boost::fibers::scheduler of all releases.
const (
	remoteQueue = 24 // behind the count of its fibers
	algorithm   = 40
	workers     = 80
	dispatcher  = 120
	mainFiber   = 128
)

// Offsets in a boost::fibers::mutex of any kind, a condition_variable, and a work_stealing.
const (
	waitQueue  = 8
	owner      = 24
	readyQueue = 24
)
