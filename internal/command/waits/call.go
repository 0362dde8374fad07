package waits

import (
	"encoding/json"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/internal/count"
	"github.com/sfwalk/sfwalk/internal/descriptors"
	"github.com/sfwalk/sfwalk/internal/waitfor"
	"github.com/sfwalk/sfwalk/target"
)

// Call is the part of an [Entry] about a thread that waits in a system call other than futex(2).
type Call struct {
	Call string `json:"call,omitempty"` // the kernel's name: "recvmsg"
	// Files are what the call's descriptors lead to, as far as /proc tells; of poll and select the
	// first of Polled.
	Files    []descriptors.File     `json:"files,omitempty"`
	Polled   int                    `json:"polled,omitempty"`
	Path     string                 `json:"path,omitempty"` // that is opened
	ID       int                    `json:"id,omitempty"`   // of System V's semaphores or queue
	Least    int                    `json:"least,omitempty"`
	Child    int                    `json:"child,omitempty"` // as the process itself knows it; 0 for any
	Group    bool                   `json:"group,omitempty"` // any of a process group
	Children []descriptors.Relative `json:"children,omitempty"`
	// AllChildren is how many children there are, if Children has the first of them alone.
	AllChildren int                    `json:"all_children,omitempty"`
	Holders     []descriptors.Relative `json:"holders,omitempty"` // of the lock of a file
	Until       bool                   `json:"until,omitempty"`   // the call ends at a set time
	Timeout     time.Duration          `json:"timeout_ns,omitempty"`
	// Stuck says that nothing but what the thread waits for can end the call.
	Stuck bool `json:"uninterruptible,omitempty"`
}

// Calls finds out for what the threads of a target wait in system calls. It is safe for concurrent
// use.
type Calls struct {
	Target target.Target
	// Live tells of a process that lives; nil of another target.
	Live Live
	// Files reads what descriptors lead to; nil if nobody can tell.
	Files *descriptors.Reader

	mu   sync.Mutex
	code map[uint64][]byte // around a PC

	patience atomic.Int32 // how often threads were waited for
}

// patience is how long a thread is waited for at a time, mostPatience how often all together are.
const patience, mostPatience = 100 * time.Microsecond, 50

// Live is what /proc tells of a thread as it is now.
type Live interface {
	// Blocked returns the system call in which the thread is, its SP, and the function of the
	// kernel in which it sleeps if the call is restart_syscall.
	Blocked(tid int) (c arch.SystemCall, sp uint64, function string, ok bool)
	// Present is memory as it is now.
	Present() target.Memory
}

// Of returns for what a thread waits in a system call; nil if it waits in none, or for a futex.
// stuck says that it could not be stopped: its registers are not known.
func (c *Calls) Of(th target.Thread, stuck bool) *Entry {
	a := c.Target.Arch()
	calls := a.SystemCalls
	var regs arch.Registers
	if calls == nil || th.Registers(&regs) != nil {
		return nil
	}
	pc, ok := regs.Get(a.PC)
	sp, also := regs.Get(a.SP)
	if !ok || !also {
		return nil
	}
	memory := target.MemoryOf(c.Target, th)
	in, ok := arch.SystemCall{}, false
	if code := c.around(pc, memory); !stuck && len(code) == arch.SystemCallCode {
		before := code[:arch.MaxSystemCall]
		if in, ok = calls.Blocked(&regs, before, code[arch.MaxSystemCall:]); !ok && calls.CutShort != nil && c.Files != nil {
			in, ok = calls.CutShort(&regs, before)
			ok = ok && c.Files.Waits(th.ID(), int(int32(in.Args[0])))
		}
	}
	name := ""
	if ok {
		name = calls.Name(in.Number)
	}
	again := ok && in.Number == calls.Restart
	switch {
	case ok && in.Sure && !again:
	case c.Live == nil, !stuck && !again && name == "":
		return nil
	default:
		now, at, function, there := c.Live.Blocked(th.ID())
		if !there || at != sp || ok && now.Number != in.Number {
			return nil
		}
		in = now
		if name = calls.Name(in.Number); in.Number == calls.Restart {
			name = waitfor.Restarted(a, in.Args, function)
		}
	}
	if name == "" {
		return nil
	}
	if c.Live != nil {
		memory = presently{memory, c.Live.Present()}
	}
	found, ok := waitfor.CallAt(a, memory, name, in.Args)
	if !ok {
		return nil
	}
	if again && a.PtrSize == 4 && found.Action == waitfor.Sleep {
		found.Timeout = 0
	}
	e := &Entry{Kind: string(found.Action), Timed: found.Timed, Call: Call{
		Call: found.Name, Polled: found.Polled, Path: found.Path, ID: found.ID, Least: found.Least, Child: found.Child, Group: found.Group,
		Until: found.Until, Timeout: found.Timeout, Stuck: stuck,
	}}
	for _, fd := range found.FDs {
		e.Files = append(e.Files, descriptors.File{FD: fd})
	}
	c.describe(e, th.ID(), &found, in, sp)
	return e
}

// describe adds what /proc tells, if the thread is in the same call when that was read.
func (c *Calls) describe(e *Entry, tid int, found *waitfor.Call, in arch.SystemCall, sp uint64) {
	if c.Files == nil || len(found.FDs) == 0 && found.Action != waitfor.Children {
		return
	}
	said := *e
	e.Files = nil
	for _, fd := range found.FDs {
		f, err := c.Files.File(tid, fd)
		if err != nil {
			f = descriptors.File{FD: fd}
		}
		e.Files = append(e.Files, f)
	}
	switch found.Action {
	case waitfor.LockFile:
		e.Holders = c.Files.Holders(tid, found.FDs[0], found.Records)
	case waitfor.Children:
		c.children(e, found)
	}
	now, at, _, ok := c.Live.Blocked(tid)
	for !ok && c.patience.Add(1) <= mostPatience { // it was stopped, and has not come to a processor since
		time.Sleep(patience)
		now, at, _, ok = c.Live.Blocked(tid)
	}
	if calls := c.Target.Arch().SystemCalls; !ok || at != sp || now.Args[0] != in.Args[0] || now.Number != in.Number && now.Number != calls.Restart {
		*e = said
	}
}

// children adds the children that a thread may wait for.
func (c *Calls) children(e *Entry, found *waitfor.Call) {
	switch {
	case found.Group:
	case found.Child != 0:
		if child, ok := c.Files.Child(found.Child); ok {
			e.Children = []descriptors.Relative{child}
		}
	case len(e.Files) == 1: // a pidfd
		if f := &e.Files[0]; f.PID > 0 {
			e.Children = []descriptors.Relative{{PID: f.PID, Name: f.Name}}
		}
	default:
		var all int
		if e.Children, all = c.Files.Children(); all > len(e.Children) {
			e.AllChildren = all
		}
	}
}

// around returns the code around a PC, as [arch.Arch.Futex] takes it.
func (c *Calls) around(pc uint64, memory target.Memory) []byte {
	c.mu.Lock()
	defer c.mu.Unlock()
	code, ok := c.code[pc]
	if !ok {
		code = make([]byte, arch.SystemCallCode)
		n, _ := memory.ReadMemory(pc-arch.SystemCallCode/2, code)
		if code = code[:n]; c.code == nil {
			c.code = map[uint64][]byte{}
		}
		c.code[pc] = code
	}
	return code
}

// presently is memory of a thread's copies, and else as it is now: it asks for no more copies.
type presently struct {
	of  target.Memory
	now target.Memory
}

func (m presently) ReadMemory(addr uint64, p []byte) (int, error) {
	if copied, ok := m.of.(target.CopiedMemory); ok {
		if lo, data := copied.Window(addr); addr >= lo && addr-lo < uint64(len(data)) && uint64(len(data))-(addr-lo) >= uint64(len(p)) {
			return copy(p, data[addr-lo:]), nil
		}
	}
	return m.now.ReadMemory(addr, p)
}

// Saved returns an entry about a system call as a snapshot keeps it; nil if there is none to keep.
func Saved(e *Entry) []byte {
	if e == nil || e.Call.Call == "" {
		return nil
	}
	text, err := json.Marshal(e)
	if err != nil {
		return nil
	}
	return text
}

// OfSaved returns the entry that a snapshot has; nil if it has none.
func OfSaved(text []byte) *Entry {
	e := new(Entry)
	if len(text) == 0 || json.Unmarshal(text, e) != nil || e.Call.Call == "" {
		return nil
	}
	return &Entry{Kind: e.Kind, Timed: e.Timed, Call: e.Call}
}

// call returns the wait in words, behind "waits " or "wait ". all is false for the words that
// threads share that wait for several things of a kind.
func (e *Entry) call(all bool) string {
	first, behind := "", ""
	switch waitfor.Action(e.Kind) {
	case waitfor.Read:
		first, behind = "to read", "from"
	case waitfor.Write:
		first, behind = "to write", "to"
	case waitfor.Accept:
		first, behind = "to accept a connection", "on"
	case waitfor.Connect:
		first = "to connect"
	case waitfor.LockFile:
		first = "to lock"
	case waitfor.Sync:
		first = "to sync"
	case waitfor.Control:
		first, behind = "in ioctl", "on"
	case waitfor.Complete:
		first, behind = "for "+count.Of(e.Least, "completion"), "of"
	case waitfor.Copy:
		if len(e.Files) == 2 && all {
			return fmt.Sprintf("to copy from fd %s to fd %s", descriptors.List(e.Files[:1], 1), descriptors.List(e.Files[1:], 1))
		}
		return "to copy"
	case waitfor.Open:
		if e.Path == "" || !all {
			return "to open a file"
		}
		return "to open " + e.Path
	case waitfor.Poll:
		switch n := max(e.Polled, len(e.Files)); {
		case n == 1 && len(e.Files) == 1:
			first = "for"
		case n == 0:
			return "in " + e.Call.Call
		case !all:
			return fmt.Sprintf("for any of %d fds", n)
		default:
			return fmt.Sprintf("for any of %d fds: %s", n, descriptors.List(e.Files, n))
		}
	case waitfor.Children:
		return e.child(all)
	case waitfor.Signals:
		return "for a signal"
	case waitfor.Semaphores:
		return fmt.Sprintf("for the System V semaphores %d", e.ID)
	case waitfor.Message:
		return fmt.Sprintf("for the System V message queue %d", e.ID)
	default:
		return "in " + e.Call.Call
	}
	if len(e.Files) == 0 {
		return first
	}
	f := &e.Files[0]
	if !all {
		if text := f.Summary(); text != "" {
			return first + ": " + text
		}
		return first
	}
	if behind != "" {
		first += " " + behind
	}
	first += fmt.Sprintf(" fd %d", f.FD)
	if text := f.String(); text != "" {
		first += ": " + text
	}
	return first
}

// child returns which children a thread waits for, in words.
func (e *Entry) child(all bool) string {
	switch {
	case len(e.Files) == 1 && all && len(e.Children) == 1:
		return fmt.Sprintf("for its child, %v (fd %d)", e.Children[0], e.Files[0].FD)
	case len(e.Files) == 1 && all:
		text := fmt.Sprintf("for a child: fd %d", e.Files[0].FD)
		if is := e.Files[0].String(); is != "" {
			text += ", " + is
		}
		return text
	case e.Child != 0 && len(e.Children) == 1:
		return "for its child, " + e.Children[0].String()
	case e.Child != 0:
		return fmt.Sprintf("for its child %d", e.Child)
	case e.Group:
		return "for any child of a process group"
	case len(e.Children) == 1:
		return "for its child, " + e.Children[0].String()
	case len(e.Children) > 0:
		return "for any child: " + descriptors.Join(e.Children, max(len(e.Children), e.AllChildren))
	}
	return "for any child"
}

// text returns the wait in words. verb conjugates: "waits" or "wait".
func (e *Entry) text(all bool, verb func(string) string) string {
	text := ""
	if waitfor.Action(e.Kind) == waitfor.Sleep {
		switch text = verb("sleep"); {
		case e.Until:
			text += " until a set time"
		case e.Timeout > 0:
			text += fmt.Sprintf(" for %v", e.Timeout.Round(time.Millisecond))
		}
	} else {
		switch text = verb("wait") + " " + e.call(all); {
		case len(e.Holders) > 0:
			text += ", held by " + descriptors.Join(e.Holders, len(e.Holders))
		case e.Timed && e.Timeout > 0 && all:
			text += fmt.Sprintf(", for at most %v", e.Timeout.Round(time.Millisecond))
		case e.Timed:
			text += ", with a timeout"
		}
	}
	if e.Stuck {
		text += ", which no signal ends (state D)"
	}
	return text
}
