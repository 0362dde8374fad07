package minidump

import (
	"slices"
	"strings"
)

// Exception is what a thread met (MINIDUMP_EXCEPTION_STREAM): mostly what the process died of;
// [File.Died] tells.
type Exception struct {
	Thread  uint32 // the ID of the thread that it came to
	Code    uint32 // Windows: NTSTATUS; Linux: the signal; macOS: Mach's exception
	Flags   uint32 // Windows: 1 if the process could not go on; Linux: si_code; macOS: Mach's code
	Record  uint64 // the address of another exception's record; 0 if there is none
	Address uint64 // Windows: of the instruction; Linux: si_addr; macOS: Mach's subcode; LLDB: PC
	Params  []uint64
	Context Location // the registers at the exception; the thread's registers are the handler's
	// Words say why LLDB had stopped the thread: "breakpoint 1.1", "signal SIGSEGV: address not
	// mapped to object". They are "" of other writers, whose codes are the system's.
	Words string
}

// readExceptions reads all streams of the type: LLDB writes one for each thread that it has
// stopped.
func (f *File) readExceptions(Stream) error {
	var broken error
	for _, s := range f.Streams {
		if s.Type != ExceptionStream {
			continue
		}
		x, err := f.exception(s)
		if err != nil {
			broken = err
			continue
		}
		f.Exceptions = append(f.Exceptions, x)
	}
	if len(f.Exceptions) == 0 {
		return broken
	}
	f.Exception = &f.Exceptions[0]
	if i := slices.IndexFunc(f.Exceptions, func(x Exception) bool { return x.fatal(&f.System) }); i > 0 {
		f.Exception = &f.Exceptions[i]
	}
	f.contexts = make(map[uint32]Location, len(f.Exceptions))
	for _, x := range append([]Exception{*f.Exception}, f.Exceptions...) {
		if _, has := f.contexts[x.Thread]; !has && x.Context.Size > 0 {
			f.contexts[x.Thread] = x.Context
		}
	}
	f.addThreads()
	return broken
}

// lldbFlag stands in the flags of an exception that has LLDB's words in place of parameters:
// "LLDB".
const lldbFlag = 0x4c4c4442

func (f *File) exception(s Stream) (x Exception, err error) {
	const maxParams = 15
	b, err := f.r.at(s.Location)
	if err != nil {
		return x, err
	}
	if len(b) < 168 {
		return x, errShort
	}
	x = Exception{
		Thread: f.Order.Uint32(b), Code: f.Order.Uint32(b[8:]), Flags: f.Order.Uint32(b[12:]),
		Record: f.Order.Uint64(b[16:]), Address: f.Order.Uint64(b[24:]), Context: f.r.location(b[160:]),
	}
	if x.Flags == lldbFlag {
		x.Words = upToZero(b[40 : 40+8*maxParams])
		return x, nil
	}
	for i := range min(f.Order.Uint32(b[32:]), maxParams) {
		x.Params = append(x.Params, f.Order.Uint64(b[40+8*i:]))
	}
	return x, nil
}

// addThreads adds the threads that only an exception tells of: LLDB 21 loses the record of a thread
// whose stack lies in one mapping with another thread's.
func (f *File) addThreads() {
	listed := make(map[uint32]bool, len(f.Threads))
	for i := range f.Threads {
		listed[f.Threads[i].ID] = true
	}
	for i := range f.Exceptions {
		x := &f.Exceptions[i]
		if listed[x.Thread] || x.Context.Size == 0 {
			continue
		}
		listed[x.Thread] = true
		f.Threads = append(f.Threads, Thread{ID: x.Thread, Context: x.Context})
		f.warn("thread %d is not in the list of threads: its registers are from %v", x.Thread, ExceptionStream)
	}
}

// signalWords begin LLDB's words for a signal, whose number is the code then.
const signalWords = "signal "

// fatal reports whether the exception ends a process: a debugger's stop, a signal that no process
// dies of and a request for a dump do not.
func (x *Exception) fatal(s *System) bool {
	if x.Words != "" && !strings.HasPrefix(x.Words, signalWords) && !strings.HasPrefix(x.Words, "EXC_") {
		return false
	}
	switch {
	case !s.Known:
	case s.OS.IsLinux():
		return x.Code != dumpRequested && !harmless(x.Code)
	case s.OS.IsWindows():
		return x.Code != simulatedWindows
	case s.OS.IsApple():
		return x.Code != simulatedApple
	}
	return true
}

// Died reports whether the process died of its exception.
func (f *File) Died() bool { return f.Exception != nil && f.Exception.fatal(&f.System) }

// ContextOf returns where the file has a thread's registers. If the thread has met an exception,
// they are its registers at that moment; else what the list of threads has.
func (f *File) ContextOf(t *Thread) Location {
	if c, has := f.contexts[t.ID]; has {
		return c
	}
	return t.Context
}

// BreakpadInfo says which threads are not the program's own affair (MDRawBreakpadInfo).
type BreakpadInfo struct {
	Handler    uint32 // the ID of the thread that wrote the dump, whose stack changed meanwhile; 0 if there is none
	Requesting uint32 // the ID of the thread that asked for the dump; 0 if there is none
}

func (f *File) readBreakpad(s Stream) error {
	b, err := f.r.at(s.Location)
	if err != nil {
		return err
	}
	if len(b) < 12 {
		return errShort
	}
	valid := f.Order.Uint32(b)
	if valid&1 != 0 {
		f.Breakpad.Handler = f.Order.Uint32(b[4:])
	}
	if valid&2 != 0 {
		f.Breakpad.Requesting = f.Order.Uint32(b[8:])
	}
	return nil
}

// Requesting returns the ID of the thread that the dump is about: the one that crashed, or that
// asked for the dump.
func (f *File) Requesting() (id uint32, ok bool) {
	if f.Exception != nil {
		return f.Exception.Thread, true
	}
	return f.Breakpad.Requesting, f.Breakpad.Requesting != 0
}

// Assertion is an assertion that has failed (MDRawAssertionInfo).
type Assertion struct {
	Expression, Function, File string
	Line                       int
	Type                       uint32 // 1: an invalid parameter, 2: a call of a pure virtual function
}

func (f *File) readAssertion(s Stream) error {
	const text = 128 * 2
	b, err := f.r.at(s.Location)
	if err != nil {
		return err
	}
	if len(b) < 3*text+8 {
		return errShort
	}
	f.Assertion = &Assertion{
		Expression: f.r.utf16(b[:text]), Function: f.r.utf16(b[text : 2*text]), File: f.r.utf16(b[2*text : 3*text]),
		Line: int(f.Order.Uint32(b[3*text:])), Type: f.Order.Uint32(b[3*text+4:]),
	}
	return nil
}
