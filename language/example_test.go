package language_test

import (
	"context"
	"fmt"

	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/language"
	"github.com/sfwalk/sfwalk/language/decorators"
	"github.com/sfwalk/sfwalk/sniffer"
	"github.com/sfwalk/sfwalk/target"
	"github.com/sfwalk/sfwalk/target/live"
)

// Print the frames of Python, Java and C of a process's threads, each in its place.
func ExampleDecorate() {
	t, err := live.Attach(context.Background(), 4242, live.Options{Consistent: true})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer t.Close()
	process := &language.Process{Arch: t.Arch(), Memory: t.Memory(), Modules: t.Modules()}
	runtimes, err := language.Find(process, decorators.Usual())
	if err != nil {
		fmt.Println("warning:", err) // of run times that cannot be read; the others are there
	}
	threads, err := t.Threads()
	if err != nil {
		fmt.Println(err)
		return
	}
	table := sniffer.Table(t.Arch())
	for _, thread := range threads {
		stack, err := frame.New(t, thread, table)
		if err != nil {
			fmt.Println(err)
			continue
		}
		stack.RetakeIfMovedOn()
		s := &language.Stack{Arch: t.Arch(), Thread: thread, Memory: target.MemoryOf(t, thread)}
		for f, err := range stack.All() {
			if err != nil {
				break
			}
			s.Frames = append(s.Frames, f)
		}
		said := language.Decorate(s, runtimes) // nil if the thread has no frame of a language
		for _, f := range s.Frames {
			var place language.Place
			if said != nil && said.At[f.Level] != nil {
				place = *said.At[f.Level]
			}
			if !place.Hidden {
				fmt.Printf("#%d %#x\n", f.Level, f.PC())
			}
			for _, x := range place.Frames {
				fmt.Printf("#%d %s at %s:%d [%s]\n", f.Level, x.Function, x.File, x.Line, x.Language)
			}
		}
	}
}
