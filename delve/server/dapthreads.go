//go:build linux && (amd64 || arm64)

package server

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/go-delve/delve/pkg/proc"
	"github.com/go-delve/delve/service/api"
	"github.com/google/go-dap"

	"github.com/sfwalk/sfwalk/delve"
)

// An editor sees goroutines as threads, with the goroutine's number. A thread that runs no
// goroutine, as all threads of a C program, has minus its thread ID. Delve uses -1 itself.

// owner returns the goroutine or thread that a number stands for.
func owner(number int64) delve.Owner {
	if number < -1 {
		return delve.Thread(int(-number))
	}
	return delve.Goroutine(number)
}

// threads adds threads of C to the goroutines that Delve lists.
func (f *filter) threads(reply []byte, seq int) bool {
	var r dap.ThreadsResponse
	if reply == nil || json.Unmarshal(reply, &r) != nil || !r.Success || len(r.Body.Threads) == 1 && r.Body.Threads[0].Id == -1 {
		return false // the process runs
	}
	if one := r.Body.Threads; len(one) == 1 && one[0].Name == "Dummy" {
		r.Body.Threads = nil // Delve finds no goroutines
	}
	list, err := f.server.stacks.dapThreads(len(r.Body.Threads) == 0)
	if err != nil || len(list) == 0 {
		return false
	}
	f.respond(reply, "threads", seq, dap.ThreadsResponseBody{Threads: append(r.Body.Threads, list...)})
	return true
}

// mistaken reports whether an event says that Delve finds no goroutines, although the engine finds
// some.
func (f *filter) mistaken(content []byte) bool {
	var e dap.OutputEvent
	if json.Unmarshal(content, &e) != nil || !strings.Contains(e.Body.Output, proc.ErrNoRuntimeAllG.Error()) {
		return false
	}
	list, _, err := f.server.stacks.goroutines(0, 1)
	return err == nil && len(list) > 0
}

// dapThreads lists the threads that run C code and no goroutine. all says that Delve finds no
// goroutines: then it lists the engine's goroutines or, in a C program, all threads.
func (s *stacks) dapThreads(all bool) (list []dap.Thread, err error) {
	err = s.locked(func(t *delve.Target) error {
		current := t.Proc.CurrentThread().ThreadID()
		gs, _ := t.Goroutines()
		running := map[int]bool{}
		chosen := s.current(t)
		for i := range gs {
			g := &gs[i]
			if i < maxGoroutines || g == chosen {
				list = append(list, dapGoroutine(delve.DescribeGoroutine(t, g), g == chosen))
			}
			running[g.Thread] = true
		}
		all := all && len(gs) == 0
		threads, err := t.Threads()
		if err != nil {
			return err
		}
		for _, th := range threads {
			if running[th.ID()] {
				continue
			}
			if x, ok := t.Proc.FindThread(th.ID()); ok {
				if g, err := proc.GetG(x); err == nil && g != nil {
					continue
				}
			}
			frames, err := delve.Frames(t, delve.Thread(th.ID()), delve.Options{})
			if err != nil || len(frames) == 0 || frames[0].Err != "" || !all && t.IsGo(frames[0].PC) {
				continue // a thread of Go's runtime that waits for work
			}
			selected := ""
			if th.ID() == current && t.Proc.SelectedGoroutine() == nil && chosen == nil {
				selected = "* " // as Delve marks a goroutine
			}
			list = append(list, dap.Thread{Id: -th.ID(), Name: fmt.Sprintf("%s[Thread %d] %s", selected, th.ID(), frames[0].Function.Name())})
		}
		return nil
	})
	return list, err
}

// maxGoroutines is how many goroutines an editor gets, as from Delve.
const maxGoroutines = 1 << 10

// dapGoroutine describes a goroutine as Delve does.
func dapGoroutine(g *api.Goroutine, selected bool) dap.Thread {
	mark, thread := "", ""
	if selected {
		mark = "* "
	}
	if g.ThreadID != 0 {
		thread = fmt.Sprintf(" (Thread %d)", g.ThreadID)
	}
	return dap.Thread{Id: int(g.ID), Name: fmt.Sprintf("%s[Go %d] %s%s", mark, g.ID, shortName(g.UserCurrentLoc.Function.Name()), thread)}
}

// stoppedAt adds the thread to an event that says that the process has stopped in no goroutine.
func (f *filter) stoppedAt(content []byte) []byte {
	var e dap.StoppedEvent
	if json.Unmarshal(content, &e) != nil || e.Body.ThreadId != 0 {
		return content
	}
	err := f.server.stacks.locked(func(t *delve.Target) error {
		if t.Proc.SelectedGoroutine() == nil {
			e.Body.ThreadId = -t.Proc.CurrentThread().ThreadID()
			if g := f.server.stacks.current(t); g != nil {
				e.Body.ThreadId = int(g.Number)
			}
		}
		return nil
	})
	if with, err2 := json.Marshal(e); err == nil && err2 == nil {
		return with
	}
	return content
}
