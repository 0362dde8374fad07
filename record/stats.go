package record

import "time"

// Thread is a thread that was sampled.
type Thread struct {
	PID, TID int
	Name     string // "" if it is not known
	Process  string // the name of the process's first thread
}

// Stats say how a recording went.
type Stats struct {
	Samples    uint64 // that were taken
	Lost       uint64 // samples that were lost because the rings were full
	Unread     uint64 // records that do not parse, and are left out
	Throttled  uint64 // times that the kernel has stopped the events for a moment, because they took too long
	Whole      uint64 // samples whose stacks go to the outermost frame
	Chained    uint64 // samples whose stacks are longer than the copy, and go on along frame pointers
	Cut        uint64 // samples whose stacks are longer than the copy, and end with it
	Stopped    uint64 // samples whose stacks end for another reason
	Empty      uint64 // samples without a frame
	Unwalked   uint64 // samples without a copy of the stack: how many have what the kernel has walked along frame pointers
	Bounded    uint64 // how many of the unwalked have as many frames as the kernel looks for, so that outer ones may be lacking
	Unfollowed uint64 // samples whose program's frames were to follow in another record, and did not
	Bare       uint64 // samples without any stack: how many have one frame of the program alone
	// Unsampled is how many threads have begun and ended without a sample, each within the time
	// between two samples; 0 where processors are sampled, and not threads.
	Unsampled uint64
	// Missed is how much time of processors is in no sample, for threads ended, or the recording
	// did, before they had run until their next sample. It is 0 before the recording has ended,
	// where processors are sampled, and where something else than their time is counted.
	Missed time.Duration
	// Processors says that processors are sampled, and not threads, and so threads of any length:
	// there were many threads, or many that lived for a short time.
	Processors bool

	Stops uint64        // with [Options.Wall]: how often processes were stopped
	Pause time.Duration // with [Options.Wall]: the longest time that a thread was held
}
