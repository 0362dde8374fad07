package dotnet_test

import (
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
	"github.com/sfwalk/sfwalk/internal/test/languagetest"
	"github.com/sfwalk/sfwalk/language"
	"github.com/sfwalk/sfwalk/language/dotnet"
	"github.com/sfwalk/sfwalk/target/core"
)

// TestThreads holds what is known of the threads of testdata/threads.cs against what the program
// says of them, and its source.
func TestThreads(t *testing.T) {
	for _, d := range dotnets(t) {
		t.Run(d.name, func(t *testing.T) {
			p := d.start(t, "threads.dll")
			said := saidOfThreads(t, p)
			holdThreads(t, said, languagetest.Attach(t, p.PID, dotnet.Decorator{}, nil))
		})
	}
}

// TestThreadsOfCores does the same with core files that have the files that were mapped.
func TestThreadsOfCores(t *testing.T) {
	needCores(t)
	for _, d := range dotnets(t) {
		t.Run(d.name, func(t *testing.T) {
			dir := t.TempDir()
			p := d.dies(t, dir, "0x3f", "threads.dll")
			said := saidOfThreads(t, p)
			_ = p.Exit(t) // by SIGABRT
			tg, err := core.Open(gdbtest.Glob(t, filepath.Join(dir, "core*"))[0], core.Options{})
			if err != nil {
				t.Fatal(err)
			}
			defer tg.Close()
			holdThreads(t, said, languagetest.All(t, tg, dotnet.Decorator{}, nil))
		})
	}
}

// saidOfThreads returns what the program says of its threads, by the system's numbers: .NET's
// number, and the name.
func saidOfThreads(t *testing.T, p *gdbtest.Process) map[int]string {
	t.Helper()
	said := map[int]string{}
	for {
		line, err := p.Stdout.ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		if line = strings.TrimSuffix(line, "\n"); line == "end" {
			return said
		}
		system, rest, _ := strings.Cut(line, " ")
		n, err := strconv.Atoi(system)
		if err != nil {
			t.Fatal(err)
		}
		said[n] = rest
	}
}

func holdThreads(t *testing.T, said map[int]string, all map[int]*languagetest.Thread) {
	t.Helper()
	got, id := map[string]language.Thread{}, map[string]int{}
	for system, want := range said {
		var about language.Thread
		if th := all[system]; th != nil && th.Said != nil && len(th.Said.Threads) == 1 {
			about = th.Said.Threads[0].Thread
		}
		number, name, _ := strings.Cut(want, " ")
		if about.Name != name || !strings.HasPrefix(about.State+",", "managed thread "+number+",") {
			t.Errorf("thread %d: name %q, %s; .NET says %q", system, about.Name, about.State, want)
		}
		got[about.Name], id[about.Name] = about, system
	}
	for name, want := range map[string]string{
		"first": "Background, WaitSleepJoin", "second": "WaitSleepJoin", "waits": "Background, WaitSleepJoin",
		"handles": "Background, WaitSleepJoin", "": "Background", ".NET TP Worker": "Background, of the thread pool, WaitSleepJoin",
	} {
		if _, state, _ := strings.Cut(got[name].State, ", "); state != want {
			t.Errorf("thread %q: %q, want %q", name, state, want)
		}
	}
	for name, want := range map[string]language.Lock{
		"first":  {Kind: "monitor", Name: "<Threads.Shelf>", Owner: id["second"]},
		"second": {Kind: "monitor", Name: "<Threads.Till>", Owner: id["first"]},
		"waits":  {Kind: "Pulse of the monitor", Name: "<System.Object>"},
	} {
		var lock language.Lock
		if list := got[name].Waits; len(list) == 1 {
			lock = list[0]
		}
		if lock.Kind != want.Kind || lock.Name != want.Name || lock.Owner != want.Owner || lock.Address == 0 || lock.Timed {
			t.Errorf("thread %q waits for %+v, want %+v", name, lock, want)
		}
	}
	for name, about := range got {
		want := ""
		if name == "handles" {
			want = "System.InvalidOperationException: nested"
		}
		if about.Exception != want {
			t.Errorf("thread %q has the exception %q, want %q", name, about.Exception, want)
		}
	}
}
