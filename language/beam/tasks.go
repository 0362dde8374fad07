package beam

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/sfwalk/sfwalk/internal/erts"
	"github.com/sfwalk/sfwalk/language"
	"github.com/sfwalk/sfwalk/language/internal/structs"
	"github.com/sfwalk/sfwalk/target"
)

// Bounds of what a broken process can make of its table.
const (
	mostTasks    = 1 << 20
	mostMessages = 1 << 16 // looked at one by one, of one process
	mostLinks    = 64      // told of one process
	mostNodes    = 1 << 12 // of a tree of links
)

var errTable = errors.New("the table of processes cannot be read")

// Tasks implements [language.Tasker]: it lists the processes, in the order of their numbers.
func (x *runtime) Tasks(m target.Memory) ([]language.Task, error) {
	base := structs.New(x.Arch, m, &x.once)
	defer base.Free()
	r := x.reader(base)
	t := &tasks{reader: r, stacks: map[string]*stack{}}
	table := r.Symbol("erts_proc")
	tab, slots, none := r.Pointer(table+r.Of("table.processes")), r.Uint(table+r.Of("table.most"), 4), r.Pointer(table+r.Of("table.invalid"))
	if !r.OK() || tab == 0 || slots > erts.MostSlots {
		r.Err()
		return nil, errTable
	}
	var places []uint64
	for i := uint64(0); i < slots && len(places) < mostTasks; i += readSlots {
		b := t.slots[:8*min(readSlots, slots-i)]
		if !r.Bytes(tab+8*i, b) {
			r.Err()
			return nil, errTable
		}
		for ; len(b) > 0; b = b[8:] {
			if p := r.Arch.Order.Uint64(b); p != 0 && p != none {
				places = append(places, p)
			}
		}
	}
	order, unread := make([]numbered, 0, len(places)), 0
	for _, p := range places {
		if id := r.Pointer(p + r.Of("process.id")); r.OK() {
			number, serial := r.processes.Of(id)
			order = append(order, numbered{serial<<28 | number, p})
		} else {
			unread++
		}
		r.Err()
	}
	slices.SortFunc(order, func(a, b numbered) int { return cmp.Compare(a.number, b.number) })
	t.list = make([]language.Task, 0, len(order))
	for _, x := range order {
		if !t.add(x.process) {
			unread++
		}
		r.Err()
	}
	if unread > 0 {
		return t.list, fmt.Errorf("%d processes cannot be read", unread)
	}
	return t.list, nil
}

// numbered is a process's record, and the process's number.
type numbered struct{ number, process uint64 }

// readSlots is how many places of the table are read at once.
const readSlots = 512

// tasks lists processes.
type tasks struct {
	*reader
	list   []language.Task
	stacks map[string]*stack // by the addresses of code on them: most processes have one of few
	slots  [8 * readSlots]byte
	words  []uint64
	key    []byte
}

// stack is one that several processes may have.
type stack struct{ frames []language.Frame }

// add adds the process whose record is at an address.
func (t *tasks) add(p uint64) bool {
	flags := t.Uint(p+t.Of("process.state"), 4)
	if flags&t.Of("state.free") != 0 && t.OK() {
		return true // it has ended, its record has not gone yet
	}
	if !t.isProcess(p) {
		return false
	}
	task := language.Task{ID: p, Name: t.called(p), Kind: "process", State: t.state(flags)}
	if running := t.Of("state.running") | t.Of("state.running_system"); flags&running != 0 && flags&t.Of("state.garbage") == 0 {
		// The stack of the scheduler's thread has its frames.
		if scheduler := t.Pointer(p + t.Of("process.scheduler")); scheduler != 0 {
			task.State += fmt.Sprintf(" on scheduler %d", t.Pointer(scheduler+t.Of("scheduler.number")))
		}
	} else {
		task.Frames, task.Early = t.framesOf(p)
	}
	t.Err()
	if n, ok := t.queued(p); ok && n > 0 {
		task.State += ", " + messages(n)
	}
	t.Err()
	task.Links = t.links(p)
	t.list = append(t.list, task)
	return true
}

func messages(n uint64) string {
	if n == 1 {
		return "1 message"
	}
	return fmt.Sprintf("%d messages", n)
}

// framesOf returns the frames of a process that does not run.
func (t *tasks) framesOf(p uint64) ([]language.Frame, string) {
	t.words = append(t.words[:0], t.Pointer(p+t.Of("process.i")))
	var early string
	t.words, early = t.returns(t.Pointer(p+t.Of("process.stop")), t.Pointer(p+t.Of("process.hend")), t.words)
	t.key = t.key[:0]
	for _, w := range t.words {
		t.key = binary.LittleEndian.AppendUint64(t.key, w)
	}
	s := t.stacks[string(t.key)]
	if s == nil {
		s = &stack{t.frames(t.words)}
		t.stacks[string(t.key)] = s
	}
	return s.frames, early
}

// queued returns how many messages a process has that it has not received: in the queue that it
// looks through, and in two that also have signals of other kinds. ok is false if that cannot be
// told.
func (t *tasks) queued(p uint64) (n uint64, ok bool) {
	if t.Has("process.length") { // up to OTP 26
		inner, outer := int64(t.Pointer(p+t.Of("process.length"))), int64(t.Pointer(p+t.Of("process.outer_length")))
		// While another process asks how many there are, the number means something else.
		return uint64(inner + outer), inner >= 0 && outer >= 0 && t.OK()
	}
	n = t.Pointer(p + t.Of("process.inner_length"))
	n += t.behind(p, "middle") + t.behind(p, "outer")
	return n, t.OK() && int64(n) >= 0
}

// behind returns how many messages are in a queue that also has signals of other kinds. The run
// time system counts the ones behind the last such signal.
func (t *tasks) behind(p uint64, queue string) (n uint64) {
	n = t.Pointer(p + t.Of("process."+queue+"_behind"))
	if int64(n) < 0 {
		n = 0
	}
	last := t.Pointer(p + t.Of("process."+queue+"_signals"))
	if last == 0 {
		return n
	}
	// last is where the link to the last other signal is.
	end := t.Pointer(last)
	at := t.Pointer(p + t.Of("process."+queue))
	for range mostMessages {
		if at == 0 || at == end || !t.OK() {
			break
		}
		if !t.isSignal(t.Pointer(at + t.Of("message.tag"))) {
			n++
		}
		at = t.Pointer(at + t.Of("message.next"))
	}
	return n
}

// isSignal reports whether a tag in a queue is one of a signal that is no message: it is like the
// header of a process of another node.
func (t *tasks) isSignal(tag uint64) bool { return tag&0x3f == t.Of("signal.tag") }

// links returns what a process is linked to, as Erlang writes it.
func (t *tasks) links(p uint64) (list []string) {
	var todo []uint64
	if root := t.Pointer(p + t.Of("process.links")); root != 0 {
		todo = append(todo, root)
	}
	for n := 0; len(todo) > 0 && n < mostNodes && t.OK(); n++ {
		at := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		for _, side := range [...]string{"link.right", "link.left"} {
			if next := t.Pointer(at + t.Of(side)); next != 0 {
				todo = append(todo, next)
			}
		}
		switch item := t.Pointer(at + t.Of("link.other")); {
		case (erts.IsPid(item) || erts.IsPort(item)) && t.Pointer(at+t.Of("link.unlinking")) != 0: // it ends
		case len(list) == mostLinks:
			return append(list, "more")
		case erts.IsPid(item):
			list = append(list, t.pid(item))
		case erts.IsPort(item) && !t.ports.Known():
			list = append(list, "a port")
		case erts.IsPort(item):
			number, _ := t.ports.Of(item)
			list = append(list, fmt.Sprintf("#Port<0.%d>", number))
		default:
			list = append(list, "a process of another node")
		}
	}
	slices.SortFunc(list, func(a, b string) int { return cmp.Or(cmp.Compare(len(a), len(b)), strings.Compare(a, b)) })
	return list
}
