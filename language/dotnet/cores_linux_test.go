package dotnet_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
	"github.com/sfwalk/sfwalk/internal/test/languagetest"
	"github.com/sfwalk/sfwalk/language/dotnet"
	"github.com/sfwalk/sfwalk/target/core"
)

// TestCores holds the frames in core files against what .NET says: in one that has the files that
// were mapped, and in one that lacks them. There what assemblies bring along is not known.
func TestCores(t *testing.T) {
	needCores(t)
	for _, d := range dotnets(t) {
		for _, filter := range []string{"0x3f", "0x33"} {
			if d.command == "" && filter == "0x33" {
				continue // nothing leads to assemblies in a program of one file
			}
			t.Run(d.name+"/"+filter, func(t *testing.T) {
				dir := t.TempDir()
				name := filepath.Join(dir, "slots")
				if err := os.WriteFile(name, make([]byte, slots*slotSize), 0o600); err != nil {
					t.Fatal(err)
				}
				p := d.dies(t, dir, filter, "stops.dll", name, "3")
				_ = p.Exit(t) // by SIGABRT
				cores := gdbtest.Glob(t, filepath.Join(dir, "core*"))
				tg, err := core.Open(cores[0], core.Options{})
				if err != nil {
					t.Fatal(err)
				}
				defer tg.Close()
				all := languagetest.All(t, tg, dotnet.Decorator{}, nil)
				compared := 0
				for tid, want := range said(t, name) {
					th := all[tid]
					if th == nil {
						continue
					}
					got := outside(th)
					for i := range got {
						got[i], _, _ = strings.Cut(got[i], " ")
					}
					for i := range want {
						want[i], _, _ = strings.Cut(want[i], " ")
					}
					if strings.Join(got, "\n") != strings.Join(want, "\n") {
						t.Errorf("thread %d:\n%s\n.NET says:\n%s", tid, strings.Join(got, "\n"), strings.Join(want, "\n"))
					}
					compared++
				}
				if compared == 0 {
					t.Error("no thread says what its frames are")
				}
			})
		}
	}
}

// needCores needs a kernel that leaves core files in the program's folder.
func needCores(t *testing.T) {
	t.Helper()
	pattern, err := os.ReadFile("/proc/sys/kernel/core_pattern")
	if err != nil || strings.ContainsAny(string(pattern), "|/") {
		gdbtest.Cannot(t, fmt.Sprintf("the kernel leaves no cores in the program's folder: core_pattern is %q", pattern))
	}
}

// TestTasksOfCores holds the tasks in core files against the program's own notes: in one that has
// the files that were mapped, and in one that lacks them.
func TestTasksOfCores(t *testing.T) {
	needCores(t)
	for _, d := range dotnets(t) {
		for _, filter := range []string{"0x3f", "0x33"} {
			if d.command == "" && filter == "0x33" {
				continue // nothing leads to assemblies in a program of one file
			}
			t.Run(d.name+"/"+filter, func(t *testing.T) {
				dir, name := t.TempDir(), notesFile(t)
				p := d.dies(t, dir, filter, "tasks.dll", name, "20", fmt.Sprint(rand.N(1000)))
				_ = p.Exit(t) // by SIGABRT
				tg, err := core.Open(gdbtest.Glob(t, filepath.Join(dir, "core*"))[0], core.Options{})
				if err != nil {
					t.Fatal(err)
				}
				defer tg.Close()
				got, err := tasksOf(t, tg, tg.Memory())
				if err != nil {
					t.Error(err)
				}
				_, want := noted(t, name)
				if text := differ(want, waysOf(got)); text != "" {
					t.Errorf("in the tasks, and not in the notes (+), or the other way round (-):\n%s", text)
				}
			})
		}
	}
}

// outside returns the frames of a thread that are outside of the innermost place.
func outside(th *languagetest.Thread) (list []string) {
	found := false
	for _, f := range th.Frames() {
		if found {
			list = append(list, f.Function)
		}
		found = found || f.Function == deepest
	}
	return list
}
