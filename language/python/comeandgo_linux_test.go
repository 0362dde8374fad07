package python_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
	"github.com/sfwalk/sfwalk/internal/test/languagetest"
	"github.com/sfwalk/sfwalk/language"
	"github.com/sfwalk/sfwalk/language/python"
	"github.com/sfwalk/sfwalk/target/live"
)

// comeAndGo ends threads and starts others for each line that it reads, and then says the names of
// all that there are. Threads' records, and pthread_self(), are used again.
const comeAndGo = `
import sys, threading
print("ready", flush=True)
left, begun = [], 0
def wait(event):
    event.wait()
for round, line in enumerate(sys.stdin):
    for thread, event in left[round % 2::2]:
        event.set()
        thread.join()
    left = left[1 - round % 2::2]
    for i in range(4):
        event = threading.Event()
        thread = threading.Thread(target=wait, args=(event,), name=f"thread {begun}", daemon=True)
        thread.start()
        left.insert(begun % (len(left) + 1), (thread, event))
        begun += 1
    print(",".join(sorted(t.name for t in threading.enumerate())), flush=True)
`

// TestThreadsComeAndGo: a run time that has seen other threads before finds the ones that the
// module threading has now, each with its frames.
func TestThreadsComeAndGo(t *testing.T) {
	for _, interpreter := range pythons(t) {
		p := gdbtest.Start(t, interpreter, "-c", comeAndGo)
		var runtimes []language.Named
		for round := range 8 {
			if _, err := p.Stdin.Write([]byte("next\n")); err != nil {
				t.Fatal(err)
			}
			line, err := p.Stdout.ReadString('\n')
			if err != nil {
				t.Fatal(err)
			}
			tg := look(t, p, &runtimes)
			threads, err := tg.Threads()
			if err != nil {
				t.Fatal(err)
			}
			var names []string
			for _, th := range threads {
				if d := languagetest.Decorate(t, tg, th, runtimes, nil).Said; d != nil {
					frames := 0
					for _, place := range d.At {
						frames += len(place.Frames)
					}
					if frames == 0 || len(d.Warnings) > 0 {
						t.Errorf("%s: round %d: thread %d has %d frames: %q", interpreter, round, th.ID(), frames, d.Warnings)
					}
					names = append(names, d.Threads[0].Name)
				}
			}
			tg.Close()
			slices.Sort(names)
			if got, want := strings.Join(names, ","), strings.TrimSpace(line); got != want {
				t.Errorf("%s: round %d: the threads are %s, threading says %s", interpreter, round, got, want)
			}
		}
	}
}

// TestCodeComesAndGoes: a code object at the address of an earlier one has its own name.
func TestCodeComesAndGoes(t *testing.T) {
	for _, interpreter := range pythons(t) {
		p := gdbtest.Start(t, interpreter, "testdata/made.py")
		var runtimes []language.Named
		again, at := 0, map[string]bool{}
		for range 40 {
			if _, err := p.Stdin.Write([]byte("next\n")); err != nil {
				t.Fatal(err)
			}
			line, err := p.Stdout.ReadString('\n')
			if err != nil {
				t.Fatal(err)
			}
			name, addr, _ := strings.Cut(strings.TrimSpace(line), " ")
			if at[addr] {
				again++
			}
			at[addr] = true
			gdbtest.Await(t, "the program waits for a line", func() bool {
				tg := look(t, p, &runtimes)
				defer tg.Close()
				threads, err := tg.Threads()
				if err != nil {
					t.Fatal(err)
				}
				var names []string
				for _, f := range languagetest.Decorate(t, tg, threads[0], runtimes, nil).Frames() {
					names = append(names, f.Function)
				}
				if len(names) == 0 {
					return false
				}
				if !slices.Equal(names, []string{name, "call", "<module>"}) {
					t.Errorf("%s: the frames are %q, and the function is called %s", interpreter, names, name)
				}
				return true
			})
		}
		if again == 0 {
			t.Errorf("%s: no address was used again", interpreter)
		}
	}
}

// look attaches to an interpreter, and finds its run time the first time.
func look(t *testing.T, p *gdbtest.Process, runtimes *[]language.Named) *live.Target {
	t.Helper()
	tg, err := live.Attach(context.Background(), p.PID, live.Options{Consistent: true})
	if err != nil {
		t.Fatal(err)
	}
	if *runtimes == nil {
		if *runtimes = languagetest.Find(t, tg, python.Decorator{}); len(*runtimes) != 1 {
			t.Fatalf("process %d: run times %v", p.PID, *runtimes)
		}
	}
	return tg
}
