package record

import (
	"time"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/format/perfevent"
	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/language"
)

// UsualFrequency is how many samples a second are taken where nobody says otherwise. It is no round
// number, so that samples do not keep step with what programs do a hundred times a second.
const UsualFrequency = 99

// UsualWallFrequency is how many times a second each thread is sampled with [Options.Wall] where
// nobody says otherwise.
const UsualWallFrequency = 20

// Options say what is recorded.
type Options struct {
	PIDs []int // the processes, with all that they begin; empty for all of the machine
	// Event is what is counted; the zero Event is the processor's time.
	Event     perfevent.Event
	Frequency int // samples a second of each thread's time on a processor; 0 for [UsualFrequency]
	// Duration is how long is recorded, by the kernel's clock, from the moment when all threads are
	// sampled: [Recorder.Run] ends then, and samples of later are not counted, however late they
	// are looked at. 0 is no bound. With Wall, each thread has a sample even so.
	Duration time.Duration
	// Wall says that all threads are sampled, running or waiting: each is stopped for a moment,
	// Frequency times a second (0 for [UsualWallFrequency]). That takes no perf_event_open(2), but
	// the right to trace the processes. Event and StackSize do not matter then.
	Wall bool
	// StackSize is how much of each stack the kernel copies, bytes; 0 for the most that it can.
	StackSize int
	// Arch and Arch32 describe this machine's processor, and how it runs 32-bit programs. A nil
	// Arch is the one that runs this program, which package sniffer knows if it is linked; Arch32
	// may be nil.
	Arch, Arch32 *arch.Arch
	// Table returns the sniffers for the stacks of a process.
	Table func(pid int, a *arch.Arch) *frame.Table
	// Decorators returns what knows the languages of a process: their functions are frames then.
	// Wall has all of them, and samples those alone that are on the stack ([language.OnStack]). nil
	// is for none.
	Decorators func(pid int) []language.Decorator
	// HiddenFrames keeps the frames of the run times of languages themselves, such as an
	// interpreter's, in whose place the languages' frames stand.
	HiddenFrames bool
	// Warn is called with what the user should know; nil for nobody.
	Warn func(format string, args ...any)
}
