package dotnet

import (
	"cmp"
	"fmt"
	"slices"
	"sort"
	"unicode/utf16"

	"github.com/sfwalk/sfwalk/internal/coreclr"
	"github.com/sfwalk/sfwalk/internal/pages"
	"github.com/sfwalk/sfwalk/language"
)

// mostString bounds a text of the program, in characters of UTF-16.
const mostString = 2 << 10

// about returns what the run time knows of the thread of a stack; nil if it knows nothing.
func (x *runtime) about(mem *pages.Pages, s *language.Stack, groups []language.Group) *language.Thread {
	th, ok := x.thread(mem, s)
	if !ok {
		return nil
	}
	o := x.shapes(mem)
	about := language.Thread{State: fmt.Sprintf("managed thread %d", th.ID)}
	for _, flag := range []struct {
		bit  uint32
		name string
	}{{coreclr.ThreadBackground, "Background"}, {coreclr.ThreadOfPool, "of the thread pool"}, {coreclr.ThreadWaits, "WaitSleepJoin"}} {
		if th.State&flag.bit != 0 {
			about.State += ", " + flag.name
		}
	}
	if t := o.object(th.Object); t != nil {
		about.Name = o.text(o.get(th.Object, t, "_name"))
	}
	if t := o.object(th.Thrown); t != nil && t.name != "" {
		about.Exception = t.name
		if text := o.text(o.get(th.Thrown, t, "_message")); text != "" {
			about.Exception += ": " + text
		}
	}
	if w, ok := x.vm.Wait(mem, &th); ok {
		lock := language.Lock{Kind: "monitor", Address: w.Object, Level: -1, Timed: w.Timed}
		if t := o.object(w.Object); t != nil {
			lock.Name = t.called()
		}
		if w.Called {
			lock.Kind = "Pulse of the monitor"
		}
		if int(th.System) == s.Thread.ID() && !w.Called { // the process's own numbers are the system's
			lock.Owner = int(w.Owner)
		}
		about.Waits = append(about.Waits, lock)
	} else if lock, ok := o.waitsForLock(s, groups); ok && th.State&coreclr.ThreadWaits != 0 {
		if int(th.System) != s.Thread.ID() { // the process's own numbers are not the system's
			lock.Owner = 0
		}
		about.Waits = append(about.Waits, lock)
	}
	return &about
}

// thread returns the record of the thread of a stack: the one whose stack it is.
func (x *runtime) thread(mem *pages.Pages, s *language.Stack) (th coreclr.Thread, ok bool) {
	if len(s.Frames) == 0 {
		return th, false
	}
	v := s.Frames[len(s.Frames)-1].Register(s.Arch.SP)
	if !v.Known() {
		return th, false
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	for fresh := range 2 {
		if fresh == 1 {
			x.threads = x.vm.Threads(mem)
			slices.SortFunc(x.threads, func(a, b coreclr.Thread) int { return cmp.Compare(a.Stack.End, b.Stack.End) })
		}
		i := sort.Search(len(x.threads), func(i int) bool { return x.threads[i].Stack.End > v.Bits })
		for ; i < len(x.threads) && x.threads[i].Stack.Begin <= v.Bits; i++ {
			// A thread that has ended may have had the same stack.
			if th = x.vm.Thread(mem, x.threads[i].At); th.System != 0 && th.Stack == x.threads[i].Stack {
				return th, true
			}
		}
	}
	return th, false
}

// text returns a string of the program, bounded; "" if there is none at the address.
func (s *shapes) text(at uint64) string {
	const length, first = 8, 12
	if t := s.object(at); t == nil || t.name != stringType || t.Component != 2 {
		return ""
	}
	n := min(s.half(at+length), mostString)
	b := make([]byte, 2*n)
	if k, _ := s.mem.ReadMemory(at+first, b); k < len(b) {
		return ""
	}
	text := make([]uint16, n)
	for i := range text {
		text[i] = order.Uint16(b[2*i:])
	}
	return string(utf16.Decode(text))
}
