// Package languagetest decorates the stacks of a target's threads, for tests of languages.
package languagetest

import (
	"context"
	"testing"

	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/language"
	"github.com/sfwalk/sfwalk/sniffer"
	"github.com/sfwalk/sfwalk/target"
	"github.com/sfwalk/sfwalk/target/live"
	"github.com/sfwalk/sfwalk/target/procmaps"
)

// Find returns the run times that a decorator finds in a target.
func Find(t testing.TB, tg target.Target, d language.Decorator) []language.Named {
	t.Helper()
	p := &language.Process{Arch: tg.Arch(), Memory: tg.Memory(), Modules: tg.Modules(), Threads: tg.Threads}
	switch tg := tg.(type) {
	case interface {
		Maps(warn func(format string, args ...any)) []procmaps.Mapping
	}:
		p.Writable = func() []target.Mapping { return procmaps.Writable(tg.Maps(nil), p.Modules) }
	case interface{ Mappings() []procmaps.Mapping }:
		p.Writable = func() []target.Mapping { return procmaps.Writable(tg.Mappings(), p.Modules) }
	}
	runtimes, err := language.Find(p, []language.Decorator{d})
	if err != nil {
		t.Fatal(err)
	}
	return runtimes
}

// Tasks returns the tasks that a decorator's run times list in a target.
func Tasks(t testing.TB, tg target.Target, d language.Decorator) (list []language.Task) {
	t.Helper()
	memory := tg.Memory()
	if now, ok := tg.(interface{ Now() target.Memory }); ok {
		memory = now.Now() // the copies of Memory are for stacks
	}
	for _, r := range Find(t, tg, d) {
		found, err := r.Runtime.(language.Tasker).Tasks(memory)
		if err != nil {
			t.Error(err)
		}
		list = append(list, found...)
	}
	return list
}

// Thread is a decorated stack.
type Thread struct {
	Stack *language.Stack
	Said  *language.Decorated // nil if the languages say nothing
}

// Attach decorates the stacks of all threads of a process, by the threads' IDs. change may ask for
// more ([language.Stack.Locals]); it may be nil.
func Attach(t testing.TB, pid int, d language.Decorator, change func(s *language.Stack)) map[int]*Thread {
	t.Helper()
	tg, err := live.Attach(context.Background(), pid, live.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer tg.Close()
	return All(t, tg, d, change)
}

// All decorates the stacks of all threads of a target, by the threads' IDs.
func All(t testing.TB, tg target.Target, d language.Decorator, change func(s *language.Stack)) map[int]*Thread {
	t.Helper()
	threads, err := tg.Threads()
	if err != nil {
		t.Fatal(err)
	}
	runtimes := Find(t, tg, d)
	all := map[int]*Thread{}
	for _, th := range threads {
		all[th.ID()] = one(t, tg, th, runtimes, change)
	}
	return all
}

// mostTries bounds how often a thread is read until its stack and what it has on the heap are of
// one moment.
const mostTries = 100

func one(t testing.TB, tg target.Target, th target.Thread, runtimes []language.Named, change func(s *language.Stack)) (d *Thread) {
	t.Helper()
	read := func() { d = Decorate(t, tg, th, runtimes, change) }
	read()
	running, ok := th.(target.RunningThread)
	for n := 0; ok && running.MovedOn(); n++ {
		if n == mostTries {
			t.Fatalf("thread %d cannot be read at one moment", th.ID())
		}
		if running.Retake(read) != nil {
			break // it has ended, or all threads were read at one moment
		}
	}
	return d
}

// Decorate decorates the stack of a thread, as it is read once.
func Decorate(t testing.TB, tg target.Target, th target.Thread, runtimes []language.Named, change func(s *language.Stack)) *Thread {
	t.Helper()
	stack, err := frame.New(tg, th, sniffer.Table(tg.Arch()))
	if err != nil {
		t.Fatal(err)
	}
	s := &language.Stack{Arch: tg.Arch(), Thread: th, Memory: target.MemoryOf(tg, th)}
	if change != nil {
		change(s)
	}
	for f, err := range stack.All() {
		if err != nil {
			break // a thread that has run on has such frames: it is read once more
		}
		s.Frames = append(s.Frames, f)
	}
	s.Whole = s.Frames[len(s.Frames)-1].StopReason().Whole()
	return &Thread{s, language.Decorate(s, runtimes)}
}

// Frames returns the languages' frames of a thread, the innermost first.
func (d *Thread) Frames() (list []language.Placed) {
	if d.Said == nil {
		return nil
	}
	for level := range d.Stack.Frames {
		if p := d.Said.At[level]; p != nil {
			list = append(list, p.Frames...)
		}
	}
	return list
}

// Warnings returns what is wrong with them.
func (d *Thread) Warnings() []string {
	if d.Said == nil {
		return nil
	}
	return d.Said.Warnings
}
