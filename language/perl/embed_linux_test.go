package perl_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
	"github.com/sfwalk/sfwalk/internal/test/languagetest"
	"github.com/sfwalk/sfwalk/language/perl"
)

// TestEmbedded stops a program of C with two interpreters, on two threads, at random moments. The
// frames of each thread are its own interpreter's: of one, what perl tells at the same moment; of
// the other, the subs that it is always in.
func TestEmbedded(t *testing.T) {
	interpreter := gdbtest.Tool(t, "perl")
	busy, err := filepath.Abs("testdata/busy.pl")
	if err != nil {
		t.Fatal(err)
	}
	program := embedded(t, interpreter)
	start := func() *languagetest.Told {
		return languagetest.StartTold(t, program, busy, oracleOf(t, interpreter), t.TempDir())
	}
	p := start()
	stops := 30
	if os.Getenv("SFWALK_SOAK") == "1" {
		stops = 300
	}
	seen, others, deaths, between := 0, 0, 0, 0
	second := strings.Repeat("Second::deep\t-e\t1\n", 6) + "(main)\t-e\t1\n\n"
	for range stops {
		var all map[int]*languagetest.Thread
		want := p.AtRandom(t, func() { all = languagetest.Attach(t, p.PID, perl.Decorator{}, nil) })
		if want == "" {
			if p, deaths = start(), deaths+1; deaths > 5+stops/20 {
				t.Fatalf("perl has died %d times", deaths)
			}
			continue
		}
		for id, d := range all {
			got, _ := frames(d)
			switch {
			case id != p.PID:
				if others++; got != second {
					t.Errorf("the other thread has\n%s%s", got, physical(d))
				}
			case got == "\n" && !strings.Contains(physical(d), "Perl_runops_"):
				between++ // an exception has ended the run loop, and the next has not begun
			default:
				if seen++; got != want {
					t.Errorf("perl says\n%sand sfwalk\n%s%s", want, got, physical(d))
				}
			}
			if w := d.Warnings(); len(w) > 0 {
				t.Errorf("thread %d: %q", id, w)
			}
		}
	}
	t.Logf("%d stacks of the first thread, %d of the other one, %d between run loops", seen, others, between)
	if others < stops-deaths || between > 1+stops/100 {
		t.Error("there are too few stacks, or too many between run loops")
	}
}

// embedded compiles testdata/embed.c with a perl's headers and its library.
func embedded(t *testing.T, interpreter string) string {
	t.Helper()
	if config(t, interpreter, "useithreads") == "" {
		gdbtest.Cannot(t, "its perl is built without threads")
	}
	core := filepath.Join(config(t, interpreter, "archlibexp"), "CORE")
	if _, err := os.Stat(filepath.Join(core, "perl.h")); err != nil {
		gdbtest.Missing(t, err.Error())
	}
	libraries := config(t, interpreter, "libpth") // where the linker looks
	found := false
	for _, dir := range append(strings.Fields(libraries), core) {
		_, err := os.Stat(filepath.Join(dir, "libperl.so"))
		found = found || err == nil
	}
	if !found {
		gdbtest.Missing(t, "libperl.so is needed (libperl-dev)")
	}
	source, err := filepath.Abs("testdata/embed.c")
	if err != nil {
		t.Fatal(err)
	}
	flags := append([]string{gdbtest.Tool(t, "cc")}, strings.Fields(config(t, interpreter, "ccflags"))...)
	return gdbtest.Compile(t, source, append(flags, "-w", "-O1", "-I"+core, "-Wl,-E", "-L"+core, "-Wl,-rpath,"+core, "-lperl", "-lpthread")...)
}
