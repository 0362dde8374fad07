package external_test

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/language"
	"github.com/sfwalk/sfwalk/sniffer/external"
)

// languageStack returns the subject's stack for decorators.
func (s *subject) languageStack(t testing.TB) *language.Stack {
	t.Helper()
	threads, err := s.Threads()
	if err != nil {
		t.Fatal(err)
	}
	stack, err := frame.New(s, threads[0], s.table())
	if err != nil {
		t.Fatal(err)
	}
	to := &language.Stack{Arch: s.Arch(), Thread: threads[0], Memory: s.Memory(), Whole: true, Locals: true}
	for f, err := range stack.All() {
		if err != nil {
			t.Fatal(err)
		}
		to.Frames = append(to.Frames, f)
	}
	return to
}

func (s *subject) runtimes(p *external.Plugin) ([]language.Named, error) {
	d := p.Decorator(external.Target{PID: s.PID})
	return language.Find(&language.Process{Arch: s.Arch(), Memory: s.Memory(), Modules: s.Modules()}, []language.Decorator{d})
}

// TestDecorator: the frames of a plug-in's language stand where the program's source says that the
// machine code's frames are, on all architectures.
func TestDecorator(t *testing.T) {
	p, err := start(t, "toy", external.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"amd64", "arm64", "s390x"} {
		s := newSubject(t, name)
		runtimes, err := s.runtimes(p)
		if err != nil || len(runtimes) != 1 || runtimes[0].Language != "toy" {
			t.Fatalf("%s: run times %v, %v", name, runtimes, err)
		}
		stack := s.languageStack(t)
		d := language.Decorate(stack, runtimes)
		if d == nil || len(d.Warnings) > 0 || d.Threads[0].State != "runs toy" {
			t.Fatalf("%s: %+v, %v", name, d, p.Err())
		}
		for level := range stack.Frames[:13] { // newSubject: the functions alternate
			place := d.At[level]
			switch {
			case place == nil || !place.Hidden:
				t.Errorf("%s: frame %d is not hidden", name, level)
			case level%2 == 0 && len(place.Frames) > 0 || level%2 == 1 && len(place.Frames) != 2:
				t.Errorf("%s: at frame %d are %v", name, level, place.Frames)
			case level%2 == 1:
				inner, outer := place.Frames[0], place.Frames[1]
				cfa, _ := stack.Frames[level].CFA()
				if inner.Function != fmt.Sprint("toy.inner", level) || outer.Function != fmt.Sprint("toy.outer", level) || outer.Line != level+1 ||
					outer.File != "demo.toy" || outer.Kind != "interpreted" || outer.Place != cfa || len(inner.Args) != 1 {
					t.Errorf("%s: at frame %d are %+v", name, level, place.Frames)
				}
			}
		}
		if d.At[13] != nil {
			t.Errorf("%s: at the outermost frame is %+v", name, d.At[13])
		}
	}
	if err := p.Err(); err != nil {
		t.Error(err)
	}
}

// TestDecoratorPages: a decoration that is larger than a message comes whole.
func TestDecoratorPages(t *testing.T) {
	p, err := start(t, "toy-large", external.Options{})
	if err != nil {
		t.Fatal(err)
	}
	s := newSubject(t, "amd64")
	runtimes, err := s.runtimes(p)
	if err != nil {
		t.Fatal(err)
	}
	d := language.Decorate(s.languageStack(t), runtimes)
	if d == nil || len(d.Warnings) > 0 {
		t.Fatalf("%+v, %v", d, p.Err())
	}
	frames := d.At[1].Frames
	if len(frames) != 20_002 || frames[0].Function != "toy.inner1" || frames[20_001].Function != "toy.deep19999" || frames[20_001].Depth != 20_002 {
		t.Errorf("%d frames, the last is %+v", len(frames), frames[len(frames)-1])
	}
}

// TestDecoratorFaults: a decorator that fails costs its own frames, and the user learns why.
func TestDecoratorFaults(t *testing.T) {
	for _, c := range []struct {
		mode   string
		find   string // the error of Find
		warns  string // the warning of the stack
		fault  error  // that puts the plug-in out of use
		frames bool
	}{
		{mode: "toy-none"},
		{mode: "toy-unknown", find: "the release of toy is not known"},
		{mode: "toy-early", warns: "enough", frames: true},
		{mode: "toy-fails", warns: "a record is broken", frames: true},
		{mode: "toy-nowhere", warns: "belong to no place in the stack", frames: true},
		{mode: "toy-slow", frames: true},
		{mode: "toy-nameless", fault: external.ErrNonsense},
		{mode: "toy-crash", fault: external.ErrCrash},
		{mode: "toy-hang", fault: external.ErrDeadline},
	} {
		t.Run(c.mode, func(t *testing.T) {
			t.Parallel()
			o := external.Options{}
			if c.fault == external.ErrDeadline {
				o.Deadline = external.DefaultDeadline
			}
			p, err := start(t, c.mode, o)
			if err != nil {
				t.Fatal(err)
			}
			s := newSubject(t, "amd64")
			runtimes, err := s.runtimes(p)
			if c.find == "" && err != nil || c.find != "" && (err == nil || !strings.Contains(err.Error(), c.find)) {
				t.Fatalf("run times %v, %v", runtimes, err)
			}
			d := language.Decorate(s.languageStack(t), runtimes)
			if (d != nil) != c.frames {
				t.Errorf("decorated: %+v", d)
			}
			if d != nil && strings.Join(d.Warnings, "") == "" != (c.warns == "") || d != nil && !strings.Contains(strings.Join(d.Warnings, ""), c.warns) {
				t.Errorf("the warnings are %q, want %q", d.Warnings, c.warns)
			}
			if c.fault == nil {
				if err := p.Err(); err != nil {
					t.Error(err)
				}
				return
			}
			says(t, p.Err(), "toy-frames", "toy-frames", "asked about the stack of thread")
			if d := language.Decorate(s.languageStack(t), runtimes); d != nil {
				t.Errorf("out of use, it says %+v", d)
			}
		})
	}
}

// tasksOf returns the tasks that a plug-in lists of a process.
func tasksOf(t *testing.T, p *external.Plugin, s *subject) ([]language.Task, error) {
	t.Helper()
	runtimes, err := s.runtimes(p)
	if err != nil || len(runtimes) != 1 {
		t.Fatalf("run times %v, %v", runtimes, err)
	}
	tasker, ok := runtimes[0].Runtime.(language.Tasker)
	if !ok {
		t.Fatal("the run time has no tasks")
	}
	return tasker.Tasks(s.Memory())
}

// TestDecoratorTasks: tasks come as the plug-in has them, also in pages, and from a plug-in that
// has announced them alone.
func TestDecoratorTasks(t *testing.T) {
	p, err := start(t, "toy-tasks", external.Options{})
	if err != nil {
		t.Fatal(err)
	}
	list, err := tasksOf(t, p, newSubject(t, "s390x"))
	want := []language.Task{
		{ID: 32, Number: 32, Name: "outer", Kind: "toy task", State: "running", Thread: 1, Frames: []language.Frame{{Function: "outer0", File: "demo.toy", Line: 1}}},
		{
			ID: 16, Number: 16, Name: "inner", Kind: "toy task", State: "waiting", Thread: 1, AwaitedBy: []uint64{32}, Waits: []language.Lock{{Kind: "semaphore", Address: 48, Level: -1, Timed: true}},
			Frames: []language.Frame{{Function: "inner0", File: "demo.toy", Line: 1}, {Function: "inner1", File: "demo.toy", Line: 2, Guess: true}},
		},
	}
	if err != nil || !reflect.DeepEqual(list, want) {
		t.Errorf("%+v, %v\nwant %+v", list, err, want)
	}
	if p, err = start(t, "toy-tasks-large", external.Options{}); err != nil {
		t.Fatal(err)
	}
	list, err = tasksOf(t, p, newSubject(t, "amd64"))
	if err != nil || len(list) != 3001 || len(list[0].Frames) != 10 || len(list[2999].Frames) != 10 || len(list[3000].Frames) != 20_000 || list[3000].Frames[19_999].Line != 20_000 {
		t.Errorf("%d tasks, %v, %v", len(list), err, p.Err())
	}
	if p, err = start(t, "toy", external.Options{}); err != nil {
		t.Fatal(err)
	}
	runtimes, err := newSubject(t, "amd64").runtimes(p)
	if err != nil || len(runtimes) != 1 {
		t.Fatalf("run times %v, %v", runtimes, err)
	}
	if _, ok := runtimes[0].Runtime.(language.Tasker); ok {
		t.Error("a plug-in is asked for tasks that it has not announced")
	}
	for mode, fault := range map[string]error{"toy-tasks-crash": external.ErrCrash, "toy-tasks-kind": external.ErrNonsense, "toy-tasks-hang": external.ErrDeadline} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			p, err := start(t, mode, external.Options{Deadline: external.DefaultDeadline})
			if err != nil {
				t.Fatal(err)
			}
			if list, err := tasksOf(t, p, newSubject(t, "amd64")); list != nil || err != nil {
				t.Errorf("%v, %v", list, err)
			}
			if err := p.Err(); !errors.Is(err, fault) {
				t.Errorf("%v, want %v", err, fault)
			}
			says(t, p.Err(), "toy-frames", "toy-frames", "asked about its tasks")
		})
	}
}
