package minidump

// Exception is what the process died of (MINIDUMP_EXCEPTION_STREAM).
type Exception struct {
	Thread  uint32 // the ID of the thread that it came to
	Code    uint32 // Windows: NTSTATUS; Linux: the signal; macOS: Mach's exception
	Flags   uint32 // Windows: 1 if the process could not go on; Linux: si_code; macOS: Mach's code
	Record  uint64 // the address of another exception's record; 0 if there is none
	Address uint64 // Windows: of the instruction; Linux: si_addr; macOS: Mach's subcode
	Params  []uint64
	Context Location // the registers at the exception; those of the thread are the handler's
}

func (f *File) readException(s Stream) error {
	const maxParams = 15
	b, err := f.r.at(s.Location)
	if err != nil {
		return err
	}
	if len(b) < 168 {
		return errShort
	}
	x := &Exception{
		Thread: f.Order.Uint32(b), Code: f.Order.Uint32(b[8:]), Flags: f.Order.Uint32(b[12:]), Record: f.Order.Uint64(b[16:]), Address: f.Order.Uint64(b[24:]),
		Context: f.r.location(b[160:]),
	}
	for i := range min(f.Order.Uint32(b[32:]), maxParams) {
		x.Params = append(x.Params, f.Order.Uint64(b[40+8*i:]))
	}
	f.Exception = x
	return nil
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

// Requesting returns the ID of the thread that the dump is about: the one that crashed, or that asked for the dump.
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
