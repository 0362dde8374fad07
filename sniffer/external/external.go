package external

import (
	"errors"
	"io"
	"time"

	"github.com/sfwalk/sfwalk/plugin/protocol"
)

// Options says what to start, and how far to trust it.
type Options struct {
	Path         string         // of the program
	SHA256       string         // the checksum in hexadecimal that the program must have; "" for any
	Guard        bool           // refuse a program, or a script's interpreter, that others than root and the user own or may change, as [Find] does; keep others' folders out of its environment
	StartTimeout time.Duration  // until the plug-in has described itself, and, for each process, until it is ready for questions; 0 means [DefaultStartTimeout]
	Deadline     time.Duration  // for one answer; 0 means [DefaultDeadline]
	Total        time.Duration  // for all answers together, from one [Sniffer.Forget] to the next; 0 means no bound
	Host         string         // the host's name, for the plug-in to log: "sfwalk 1.4.0"
	Stderr       io.Writer      // receives the plug-in's standard error; if nil, errors have the end of it
	Trace        func(Exchange) // is called after each question, by one goroutine at a time for each process; may be nil
}

const (
	DefaultStartTimeout = 5 * time.Second
	DefaultDeadline     = 250 * time.Millisecond
)

// Exchange is one question and its result.
type Exchange struct {
	Question *protocol.Question
	Answer   *protocol.Answer // nil if the plug-in gave none
	Requests int              // that the plug-in made before it answered
	Took     time.Duration
	Err      error // why the plug-in was put out of use
}

// Errors of [Start] and [Plugin.Err]; test with errors.Is.
var (
	ErrStart    = errors.New("the plug-in does not start")
	ErrChecksum = errors.New("the checksum is not the one that was pinned")
	ErrVersion  = errors.New("the plug-in speaks another version of the protocol")
	ErrCrash    = errors.New("the plug-in has ended")
	ErrDeadline = errors.New("the plug-in does not answer in time")
	ErrNonsense = errors.New("the plug-in answers nonsense")
)

// Target tells a plug-in about a process, beside its memory.
type Target struct {
	PID  int    // 0 if not known
	Live bool   // the process exists, on this machine
	Root string // folder below which its files are: "/proc/4242/root"; "" for "/"
}

// Stats counts the questions to a sniffer by how they were answered.
type Stats struct {
	Asked  uint64 // sent to the plug-in
	Kept   uint64 // answered by the plug-in's earlier answers
	Denied uint64 // declined without the plug-in: it never claims that code
}
