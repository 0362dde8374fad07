package java_test

import (
	"context"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
	"github.com/sfwalk/sfwalk/internal/test/languagetest"
	"github.com/sfwalk/sfwalk/language"
	"github.com/sfwalk/sfwalk/language/java"
	"github.com/sfwalk/sfwalk/target"
	"github.com/sfwalk/sfwalk/target/live"
)

// told returns what Java knows of each thread of a process, by the threads' IDs.
func told(t *testing.T, pid int) map[int]*language.Thread {
	t.Helper()
	tg, err := live.Attach(context.Background(), pid, live.Options{Consistent: true})
	if err != nil {
		t.Fatal(err)
	}
	defer tg.Close()
	all := map[int]*language.Thread{}
	for id, th := range languagetest.All(t, tg, java.Decorator{}, nil) {
		if th.Said != nil {
			all[id] = &th.Said.Threads[0].Thread
		}
	}
	return all
}

// findIn returns the threads of a target, and the virtual machines.
func findIn(t *testing.T, tg target.Target) ([]target.Thread, []language.Named) {
	t.Helper()
	threads, err := tg.Threads()
	if err != nil {
		t.Fatal(err)
	}
	return threads, languagetest.Find(t, tg, java.Decorator{})
}

// printed is a thread as jcmd prints it.
type printed struct {
	name, state string
	daemon      bool
	waits       []uint64 // objects
	held        []uint64
	levels      map[uint64]int // of the innermost frame that has locked an object
}

var (
	threadLine = regexp.MustCompile(`^"(.*)" #\d+ (?:\[\d+\] )?(daemon )?.* nid=(\w+) `)
	stateLine  = regexp.MustCompile(`^   java.lang.Thread.State: (.*)`)
	lockLine   = regexp.MustCompile(`^\t- (waiting to lock|waiting on|parking to wait for|locked) +<(0x\w+)>`)
	ownerLine  = regexp.MustCompile(`^  which is held by "(.*)"`)
	cycleLine  = regexp.MustCompile(`^"(.*)":$`)
)

// print has jcmd print the threads of a process by their IDs, and who holds what a thread waits for
// in a deadlock, by names.
func print(t *testing.T, pid int) (all map[int]*printed, owners map[string]string) {
	t.Helper()
	cmd := exec.Command(gdbtest.Tool(t, "jcmd"), strconv.Itoa(pid), "Thread.print", "-l")
	cmd.Env = append(os.Environ(), "LC_ALL=C.UTF-8") // else it writes "?" for letters that the locale lacks
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	all, owners = map[int]*printed{}, map[string]string{}
	var th *printed
	cycle, level := "", 0
	for line := range strings.Lines(string(out)) {
		line = strings.TrimRight(line, "\n")
		if m := threadLine.FindStringSubmatch(line); m != nil {
			id, err := strconv.ParseInt(m[3], 0, 32)
			if err != nil {
				t.Fatal(err)
			}
			th, level = &printed{name: m[1], daemon: m[2] != "", levels: map[uint64]int{}}, -1
			all[int(id)] = th
		} else if at.MatchString(line) {
			level++
		} else if m := cycleLine.FindStringSubmatch(line); m != nil {
			cycle, th = m[1], &printed{levels: map[uint64]int{}}
		} else if m := ownerLine.FindStringSubmatch(line); m != nil {
			owners[cycle] = m[1]
		} else if m := stateLine.FindStringSubmatch(line); m != nil && th != nil {
			th.state = m[1]
		} else if m := lockLine.FindStringSubmatch(line); m != nil && th != nil {
			object, err := strconv.ParseUint(m[2], 0, 64)
			if err != nil {
				t.Fatal(err)
			}
			if _, inner := th.levels[object]; m[1] == "locked" && !inner {
				th.levels[object] = level
			}
			if m[1] != "locked" {
				th.waits = append(th.waits, object)
			} else if !slices.Contains(th.held, object) && !slices.Contains(th.waits, object) {
				th.held = append(th.held, object) // Object.wait has let go of it
			}
		}
	}
	return all, owners
}

// variants are the ways in which objects and locks lie in memory.
var variants = map[string][]string{
	"usual":              nil,
	"wide references":    {"-XX:-UseCompressedOops"},
	"ZGC":                {"-XX:+UnlockExperimentalVMOptions", "-XX:+UseZGC"},
	"serial, interprets": {"-XX:+UseSerialGC", "-Xint"},
	"compiled by C1":     {"-Xcomp", "-XX:TieredStopAtLevel=1"},
	"compiled by C2":     {"-Xcomp", "-XX:-TieredCompilation"},
	"biased":             {"-XX:+UseBiasedLocking", "-XX:BiasedLockingStartupDelay=0"}, // up to 17
}

// TestThreads holds names, states and locks of threads against what the virtual machine itself
// prints.
func TestThreads(t *testing.T) {
	gdbtest.Later(t, "java")
	dir := compileJava(t, "Locks.java")
	for name, flags := range variants {
		t.Run(name, func(t *testing.T) {
			args := append(slices.Clone(flags), "-XX:+IgnoreUnrecognizedVMOptions", "-Xmx128m", "-Dfile.encoding=UTF-8", "-Dstdout.encoding=UTF-8", "-Dempty", "-cp", dir, "Locks", "--password=secret")
			p := gdbtest.StartRunning(t, gdbtest.Tool(t, "java"), args...)
			var want map[int]*printed
			var owners map[string]string
			gdbtest.Await(t, "all threads are where they end", func() bool {
				want, owners = print(t, p.PID)
				return len(owners) == 4 && inPlace(want)
			})
			got := told(t, p.PID)
			machine := ""
			for _, th := range got {
				if th.Name == "VM Thread" {
					machine = th.State
				}
			}
			if machine != started(t, p.PID) {
				t.Errorf("the VM thread says %q, jcmd %q", machine, started(t, p.PID))
			}
			names, compared, levels := map[int]string{}, 0, 0
			for id, w := range want {
				names[id] = w.name
			}
			for id, w := range want {
				g := got[id]
				if g == nil {
					t.Errorf("%d %q: nothing is told", id, w.name)
					continue
				}
				state := w.state
				if w.daemon {
					state = "daemon, " + state
				}
				said, _, _ := strings.Cut(g.State, ", compiles")
				if g.Name != w.name || said != state {
					t.Errorf("%d: %q %q, jcmd has %q %q", id, g.Name, g.State, w.name, state)
				}
				waits, held := objects(g.Waits), objects(g.Holds)
				if len(w.waits) == 0 && len(waits) == 1 && strings.HasSuffix(w.state, "WAITING (on object monitor)") {
					// The compiler has kept no reference where jcmd looks: jcmd has it as locked.
					w.waits, w.held = waits, slices.DeleteFunc(w.held, func(object uint64) bool { return object == waits[0] })
				}
				slices.Sort(w.waits)
				slices.Sort(w.held)
				if !slices.Equal(waits, w.waits) {
					t.Errorf("%q waits for %#x, jcmd has %#x", w.name, waits, w.waits)
				}
				if !slices.Equal(held, w.held) {
					t.Errorf("%q holds %#x, jcmd has %#x", w.name, held, w.held)
				}
				for _, l := range g.Holds {
					if level, ok := w.levels[l.Address]; ok && l.Level != level {
						t.Errorf("%q has %s in frame %d, jcmd says %d", w.name, l.Name, l.Level, level)
					} else if ok {
						levels++
					}
				}
				if owner := owners[w.name]; owner != "" && (len(g.Waits) != 1 || names[g.Waits[0].Owner] != owner) {
					t.Errorf("%q waits for %+v, jcmd has it held by %q", w.name, g.Waits, owner)
				} else if owner != "" {
					compared++
				}
			}
			if compared != 4 || len(want) < 15 || levels < 6 {
				t.Errorf("jcmd tells %d threads, %d of deadlocks, and the frames of %d monitors", len(want), compared, levels)
			}
		})
	}
}

var startedLines = regexp.MustCompile(`(?s)VM version (\S+).*jvm_args: (.*?) ?\njava_command: (.*?)\n`)

// ofProgram are the options that the program reads, and not the virtual machine.
var ofProgram = regexp.MustCompile(`(-D[^= ]+=)[^ ]+`)

// started has jcmd say what a virtual machine is, and how it was started. It leaves out what may be
// a secret.
func started(t *testing.T, pid int) string {
	t.Helper()
	var all []byte
	for _, command := range []string{"VM.version", "VM.command_line"} {
		out, err := exec.Command(gdbtest.Tool(t, "jcmd"), strconv.Itoa(pid), command).Output()
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, out...)
	}
	m := startedLines.FindStringSubmatch(string(all))
	if m == nil {
		t.Fatalf("jcmd says %s", all)
	}
	main, arguments, _ := strings.Cut(m[3], " ")
	if arguments != "--password=secret" {
		t.Fatalf("jcmd says %s", all)
	}
	return "HotSpot " + m[1] + ", " + ofProgram.ReplaceAllString(m[2], "$1…") + " " + main + " …"
}

// places are what the threads of Locks do in the end, but for the ones of deadlocks.
var places = map[string]string{
	"waits":                    "WAITING (on object monitor)",
	"waits for a time":         "TIMED_WAITING (on object monitor)",
	"parked":                   "WAITING (parking)",
	"parked for a time":        "TIMED_WAITING (parking)",
	"holds":                    "TIMED_WAITING (sleeping)",
	"holds in many frames":     "TIMED_WAITING (sleeping)",
	"wants what another holds": "BLOCKED (on object monitor)",
}

// inPlace reports whether all threads of Locks are where they end.
func inPlace(all map[int]*printed) bool {
	n := 0
	for _, th := range all {
		if places[th.name] == th.state && th.state != "" {
			n++
		}
	}
	return n == len(places)
}

// objects returns the addresses of locks in their order.
func objects(list []language.Lock) (all []uint64) {
	for _, l := range list {
		all = append(all, l.Address)
	}
	slices.Sort(all)
	return all
}
