//go:build linux && (amd64 || arm64)

package front

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/go-delve/delve/pkg/proc"
	"github.com/google/go-dap"

	"github.com/sfwalk/sfwalk/delve"
)

// To an editor, goroutines are threads, by their numbers. Threads of C, on which no
// goroutine runs, are there by theirs, which are negative; Delve has -1 for itself. So are all
// threads where Delve finds no goroutines: in programs of C, and of Go without DWARF.

// who is the goroutine, or the thread, that a number stands for.
func who(number int64) delve.Who {
	if number < -1 {
		return delve.Thread(int(-number))
	}
	return delve.Goroutine(number)
}

// threads adds threads of C to the goroutines that Delve lists.
func (f *filter) threads(reply []byte, seq int) bool {
	var r dap.ThreadsResponse
	if reply == nil || json.Unmarshal(reply, &r) != nil || !r.Success || len(r.Body.Threads) == 1 && r.Body.Threads[0].Id == -1 {
		return false // it runs
	}
	if one := r.Body.Threads; len(one) == 1 && one[0].Name == "Dummy" {
		r.Body.Threads = nil // Delve finds no goroutines
	}
	list, err := f.server.stacks.threads(len(r.Body.Threads) == 0)
	if err != nil || len(list) == 0 {
		return false
	}
	f.respond(reply, "threads", seq, dap.ThreadsResponseBody{Threads: append(r.Body.Threads, list...)})
	return true
}

// threads lists the threads that run code of C's, and no goroutine; or all.
func (s *stacks) threads(all bool) (list []dap.Thread, err error) {
	err = s.locked(func(t *delve.Target) error {
		current := t.Proc.CurrentThread().ThreadID()
		threads, err := t.Threads()
		if err != nil {
			return err
		}
		for _, th := range threads {
			if x, ok := t.Proc.FindThread(th.ID()); ok {
				if g, err := proc.GetG(x); err == nil && g != nil {
					continue
				}
			}
			frames, err := delve.Frames(t, delve.Thread(th.ID()), delve.Options{})
			if err != nil || len(frames) == 0 || frames[0].Err != "" || !all && isGo(t.Proc.BinInfo(), frames[0].PC) {
				continue // one of Go's runtime, that waits for work
			}
			selected := ""
			if th.ID() == current && t.Proc.SelectedGoroutine() == nil {
				selected = "* " // as Delve marks a goroutine
			}
			list = append(list, dap.Thread{Id: -th.ID(), Name: fmt.Sprintf("%s[Thread %d] %s", selected, th.ID(), frames[0].Function.Name())})
		}
		return nil
	})
	return list, err
}

func isGo(bi *proc.BinaryInfo, pc uint64) bool {
	fn := bi.PCToFunc(pc)
	return fn != nil && !strings.HasPrefix(fn.Name, "C.")
}

// stoppedAt names the thread in an event that says that the process has stopped in no
// goroutine.
func (f *filter) stoppedAt(content []byte) []byte {
	var e dap.StoppedEvent
	if json.Unmarshal(content, &e) != nil || e.Body.ThreadId != 0 {
		return content
	}
	err := f.server.stacks.locked(func(t *delve.Target) error {
		if t.Proc.SelectedGoroutine() == nil {
			e.Body.ThreadId = -t.Proc.CurrentThread().ThreadID()
		}
		return nil
	})
	if with, err2 := json.Marshal(e); err == nil && err2 == nil {
		return with
	}
	return content
}
