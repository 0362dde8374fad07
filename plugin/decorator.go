package plugin

import (
	"errors"
	"fmt"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/plugin/protocol"
	"github.com/sfwalk/sfwalk/trad"
)

// Decorator is the interface of a plug-in that knows the frames of a language whose functions are
// no code of a file, such as an interpreter's. [ServeDecorator] serves one. A [Sniffer] that has
// these methods, too, decorates as well.
type Decorator interface {
	// Describe is called once, after the start. [Description.Decorates] is required.
	Describe() Description
	// Find is called for each file of a process that Decorates names ([Target.Runtime]), before
	// the first stack of the process. What it reads there need not be read for each stack. It
	// returns [ErrNoRuntime] if the file is no run time of the language. Any other error says why a
	// run time cannot be read: users see it.
	Find(t *Target) (Runtime, error)
}

// Runtime is one run time of a language in a process.
type Runtime interface {
	// Decorate says what the stack of a thread is in the language. It returns nil if the thread has
	// nothing of the language, as most threads. An error says why the frames are missing; what was
	// found before it may be returned with it. One run time has one call at a time.
	Decorate(s *Stack) (*Decoration, error)
}

// RuntimeFunc is a [Runtime] that needs no type of its own.
type RuntimeFunc func(s *Stack) (*Decoration, error)

// Decorate calls f.
func (f RuntimeFunc) Decorate(s *Stack) (*Decoration, error) { return f(s) }

// ErrNoRuntime is what [Decorator].Find returns for a file that is no run time of the language.
var ErrNoRuntime = errors.New("the file is no run time of the language")

// Decorates describes a plug-in that decorates stacks.
type Decorates struct {
	Language  string     // a-z, 0-9 and -, at most 32 bytes: "lua"
	Modules   []string   // patterns of path.Match for the base names of files that are, or have, a run time; at least one
	Registers []trad.Reg // that are wanted of each physical frame, beside PC, SP and the CFA; at most 32
	Tasks     bool       // run times are [Tasker]s: the language has tasks that are no threads of the system
}

// Stack is the stack of one thread: its physical frames, and the memory of that moment. It is valid
// until Decorate returns.
type Stack struct {
	Target *Target
	Thread int          // the thread's ID; 0 if not known
	Frames []StackFrame // the innermost first
	Whole  bool         // the last of Frames is the outermost frame of the thread
	Locals bool         // arguments and local variables are wanted, too

	pages map[uint64][]byte // memory that was read, by the number of its page
}

// StackFrame is a physical frame.
type StackFrame struct {
	PC             uint64
	AddressInBlock uint64 // the address to look up in tables: PC, or PC-1 where PC is a return address
	CFA            uint64 // 0 if not known
	SP             uint64 // 0 if not known
	Signal         bool   // a signal handler's trampoline
	Registers      arch.Registers
}

// Decoration says what a stack is in a language.
type Decoration struct {
	Groups []Group        // in the order of the stack, the innermost first
	Own    []int          // levels of physical frames that are the run time's own: users see them with --all-frames
	Names  map[int]string // other names for physical frames, by level
	Thread ThreadFacts
	Early  string // why the frames of the language end before they should; "" if they do not
}

// Group is a run of frames of the language with one place in the stack.
type Group struct {
	Anchor Anchor
	Frames []LanguageFrame // the innermost first; at least one
}

// Anchor says where a group belongs. The host checks it. A group whose anchor is wrong stands
// behind the stack, with a warning.
type Anchor struct {
	// Address is an address on the stack, such as the address of an interpreter's record there: the
	// group belongs to the physical frame whose [SP, CFA) has it. 0 if Level says where.
	Address uint64
	// Level is the physical frame's, its index in [Stack].Frames.
	Level int
	// Beside leaves the physical frame in its place: the group stands outside of it. Else the group
	// replaces the frame.
	Beside bool
}

// LanguageFrame is one frame of a language.
type LanguageFrame struct {
	Function string // as the language's own traces have it
	File     string // "" if not known
	Line     int    // from 1; 0 if not known
	Kind     string // "interpreted", "generator"; "" for the usual way
	Place    uint64 // the address of the record by which it was found, for --explain; 0 for none
	MovedOn  bool   // it was read at another moment than the stack
	Guess    bool   // the frame, or its line, need not be right: users see a mark
	Args     []Variable
	Locals   []Variable
}

// Variable is an argument or a local variable.
type Variable struct {
	Name, Type string
	Value      string // as the language writes it
}

// ThreadFacts are what the language knows of a thread, beside its stack.
type ThreadFacts struct {
	Name      string // the language's name for it
	State     string // what it does, in the language's words: "has the interpreter lock"
	Waits     []Lock // for which it waits; at most 64
	Holds     []Lock // that it holds; at most 64
	Exception string // what is being handled, or was raised last: "KeyError: no such key"
}

// Lock is something of the language for which threads wait.
type Lock struct {
	Kind    string // "lock", "monitor"
	Name    string // of the object; "" if not known
	Address uint64 // of the object or its lock; 0 if not known
	Owner   int    // the ID of the thread that holds it; 0 if none does, or that is not known
	Frame   int    // the frame of the language that has it, 1 for the innermost; 0 if not known
	Timed   bool   // of a lock that is waited for: the thread gives up when a time is over
}

// LevelAt returns the level of the physical frame whose part of the stack, [SP, CFA), has an
// address. ok is false if there is none: the address is on no stack, or on another thread's.
func (s *Stack) LevelAt(addr uint64) (level int, ok bool) {
	for i := range s.Frames {
		if f := &s.Frames[i]; f.SP != 0 && f.SP <= addr && addr < f.CFA {
			return i, true
		}
	}
	return 0, false
}

// pageSize is the unit in which a stack's memory is read from the host, bytes.
const pageSize = 4096

// ReadMemory reads len(p) bytes at addr. It asks the host for whole pages, and keeps them as long
// as the stack: to follow a list of many small records takes few requests. It returns the number of
// bytes that could be read, and an error if these are not all.
func (s *Stack) ReadMemory(addr uint64, p []byte) (n int, err error) {
	for n < len(p) {
		at := addr + uint64(n)
		if at < addr {
			return n, fmt.Errorf("beyond the last address: %w", ErrUnmapped)
		}
		page, err := s.page(at / pageSize)
		if err != nil {
			return n, err
		}
		off := int(at % pageSize)
		if off >= len(page) { // the page can be read in part
			if at == ^uint64(0) {
				return n, fmt.Errorf("%#x: %w", at, ErrUnmapped)
			}
			part := p[n:min(len(p), n+pageSize-off)]
			if at+uint64(len(part)) == 0 {
				part = part[:len(part)-1]
			}
			m, err := s.Target.ReadMemory(at, part)
			if n += m; err != nil {
				return n, err
			}
			continue
		}
		n += copy(p[n:], page[off:])
	}
	return n, nil
}

// page returns what can be read of a page.
func (s *Stack) page(number uint64) ([]byte, error) {
	if page, ok := s.pages[number]; ok {
		return page, nil
	}
	page := make([]byte, pageSize)
	if number == ^uint64(0)/pageSize {
		page = page[:pageSize-1] // a range ends before its Hi, and there is no address 2^64
	}
	n, err := s.Target.ReadMemory(number*pageSize, page)
	if err != nil && !errors.Is(err, ErrUnmapped) {
		return nil, err
	}
	if s.pages == nil {
		s.pages = map[uint64][]byte{}
	}
	s.pages[number] = page[:n]
	return page[:n], nil
}

// Word reads a word of the process, as long as its addresses are.
func (s *Stack) Word(addr uint64) (uint64, error) { return s.Uint(addr, s.Target.PtrSize) }

// Uint reads an unsigned number of size bytes: 1, 2, 4 or 8.
func (s *Stack) Uint(addr uint64, size int) (uint64, error) {
	var room [8]byte
	p := room[:max(min(size, len(room)), 1)]
	if _, err := s.ReadMemory(addr, p); err != nil {
		return 0, err
	}
	switch len(p) {
	case 1:
		return uint64(p[0]), nil
	case 2:
		return uint64(s.Target.Order.Uint16(p)), nil
	case 4:
		return uint64(s.Target.Order.Uint32(p)), nil
	case 8:
		return s.Target.Order.Uint64(p), nil
	}
	return 0, errors.New("a number has 1, 2, 4 or 8 bytes")
}

// Text reads a text that ends with a zero byte, and at most most bytes of it.
func (s *Stack) Text(addr uint64, most int) (string, error) {
	most = min(most, protocol.MaxText)
	var text []byte
	for len(text) < most {
		var room [64]byte
		n, err := s.ReadMemory(addr+uint64(len(text)), room[:min(len(room), most-len(text))])
		for i, c := range room[:n] {
			if c == 0 {
				return string(append(text, room[:i]...)), nil
			}
		}
		if text = append(text, room[:n]...); err != nil {
			return string(text), err
		}
	}
	return string(text), nil
}
