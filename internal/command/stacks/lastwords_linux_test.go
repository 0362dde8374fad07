package stacks_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/internal/command/exit"
	"github.com/sfwalk/sfwalk/internal/printable"
	"github.com/sfwalk/sfwalk/internal/test/commandtest"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
)

// wordsOfGlibc are the flags by which glibc and the compiler check lastwords.c.
var wordsOfGlibc = []string{"-O2", "-w", "-U_FORTIFY_SOURCE", "-D_FORTIFY_SOURCE=2", "-fstack-protector-all", "-fno-builtin-puts"}

// glibcWays are the ways in which lastwords.c dies with words of glibc.
var glibcWays = []string{"assert", "lines", "free", "top", "smash", "fortify"}

// word is an element of last_words.
type word struct {
	Text, From string
	TID        int
	Goroutine  uint64
}

// wordsIn returns last_words of a document, which a section of json.md describes.
func wordsIn(t *testing.T, page string, args ...string) []word {
	t.Helper()
	out, errs, err := commandtest.Run(append(args, "--json")...)
	var doc struct {
		LastWords []word `json:"last_words"`
	}
	if out == "" || json.Unmarshal([]byte(out), &doc) != nil {
		t.Fatalf("%v: %v\n%s\n%s", args, err, errs, out)
	}
	if page != "" {
		commandtest.InPage(t, page, out)
	}
	return doc.LastWords
}

// hasWords holds the text and the JSON of a command against what a program has written to its
// standard error.
func hasWords(t *testing.T, said, from, page string, args ...string) {
	t.Helper()
	said = strings.TrimRight(said, "\n")
	out, errs, err := commandtest.Run(args...)
	if out == "" {
		t.Fatalf("%v: %v\n%s", args, err, errs)
	}
	lines := strings.Split(said, "\n")
	for i := range lines {
		lines[i] = printable.Escape(lines[i])
	}
	want := regexp.QuoteMeta("last words: " + strings.Join(lines, "\n            "))
	if from == "" {
		want = `last words: `
	} else {
		want += regexp.QuoteMeta("   (from " + from + ")")
	}
	found := regexp.MustCompile(`(?m)^(Process .*\n| *Thread .*\n  )` + strings.ReplaceAll(want, "\n", "\n(|  )")).MatchString(out)
	if found != (from != "") {
		t.Errorf("%v: the words %q, found %v, in\n%.600s", args, said, found, out)
	}
	got := wordsIn(t, page, args...)
	if from == "" && len(got) > 0 || from != "" && (len(got) != 1 || got[0].Text != said || got[0].From != from || got[0].TID == 0) {
		t.Errorf("%v: %+v, want %q from %s", args, got, said, from)
	}
}

// TestLastWordsOfGlibc: what glibc has written as it aborted the process is found in all kinds of
// targets, as it was written.
func TestLastWordsOfGlibc(t *testing.T) {
	const from = "glibc's __abort_msg"
	for _, how := range [][]string{nil, {"-static"}} {
		program := gdbtest.Build(t, "lastwords.c", append(how, wordsOfGlibc...)...)
		for _, way := range glibcWays {
			t.Run(fmt.Sprint(way, how), func(t *testing.T) {
				core, said := coreAndWords(t, program, way)
				hasWords(t, said, from, "sfwalk core", "core", core)
				if how != nil {
					return
				}
				if got := wordsIn(t, "", "core", core, "--merge"); len(got) != 1 || got[0].Text != strings.TrimRight(said, "\n") {
					t.Errorf("--merge: %+v", got)
				}
				dump := filepath.Join(t.TempDir(), "dump")
				if _, errs, err := commandtest.Run("core", core, "--save", dump, "--format", "minidump"); err != nil && !errors.Is(err, exit.ErrEarly) {
					t.Fatal(err, errs)
				}
				hasWords(t, said, from, "sfwalk minidump", "minidump", dump)
			})
		}
		for _, way := range []string{"silent", "fault"} {
			core, said := coreAndWords(t, program, way)
			if said != "" {
				t.Errorf("%s has said %q", way, said)
			}
			hasWords(t, "", "", "sfwalk core", "core", core)
		}
	}
}

// TestLastWordsLive: a process that hangs in its handler of SIGABRT has last words, and its
// snapshots have them.
func TestLastWordsLive(t *testing.T) {
	const from = "glibc's __abort_msg"
	program := gdbtest.Build(t, "lastwords.c", wordsOfGlibc...)
	_, said := coreAndWords(t, program, "free")
	p := gdbtest.Start(t, program, "free", "hang")
	pid := fmt.Sprint(p.PID)
	hasWords(t, said, from, "sfwalk attach", "attach", pid)
	hasWords(t, said, from, "sfwalk attach", "attach", pid, "--consistent")
	for _, layout := range []string{"core", "minidump"} {
		saved := filepath.Join(t.TempDir(), layout)
		if _, errs, err := commandtest.Run("attach", pid, "--save", saved, "--format", layout); err != nil {
			t.Fatal(err, errs)
		}
		if layout == "core" {
			hasWords(t, said, from, "sfwalk open", "open", saved)
			hasWords(t, said, from, "sfwalk core", "core", saved)
		} else {
			hasWords(t, said, from, "sfwalk minidump", "minidump", saved)
		}
	}
	out, _, err := commandtest.Run("attach", pid, "--merge")
	if want := "last words: " + strings.TrimSpace(said) + "   (thread " + pid + ", from " + from + ")\n"; err != nil || !strings.HasPrefix(out, want) {
		t.Errorf("--merge: %v, no %q before\n%.300s", err, want, out)
	}
	hasWords(t, said, from, "sfwalk remote", "remote", "localhost:"+commandtest.GDBServer(t, p.PID))
	quiet := gdbtest.Start(t, program, "silent", "hang")
	hasWords(t, "", "", "sfwalk attach", "attach", fmt.Sprint(quiet.PID))
}

// TestLastWordsCut: a core that is cut short has the words, or none.
func TestLastWordsCut(t *testing.T) {
	program := gdbtest.Build(t, "lastwords.c", wordsOfGlibc...)
	core, said := coreAndWords(t, program, "assert")
	whole, err := os.ReadFile(core)
	if err != nil {
		t.Fatal(err)
	}
	with, without := 0, 0
	const steps = 48
	for i := 1; i <= steps; i++ {
		cut := filepath.Join(t.TempDir(), "core")
		if err := os.WriteFile(cut, whole[:len(whole)*i/steps], 0o600); err != nil {
			t.Fatal(err)
		}
		out, _, _ := commandtest.Run("core", cut)
		switch _, words, ok := strings.Cut(out, "last words: "); {
		case !ok:
			without++
		case strings.HasPrefix(words, strings.TrimSpace(said)+"   (from "):
			with++
		default:
			t.Errorf("the first %d of %d parts: %.200s", i, steps, words)
		}
	}
	if with == 0 || without == 0 {
		t.Errorf("%d of the cores have the words, %d have none", with, without)
	}
}

// TestLastWordsOfGuests: glibc's words in the cores of other processors.
func TestLastWordsOfGuests(t *testing.T) {
	for _, tt := range []struct{ arch, qemu, compiler string }{
		{"arm64", "qemu-aarch64", "aarch64-linux-gnu-gcc"},
		{"s390x", "qemu-s390x", "s390x-linux-gnu-gcc"},
		{"arm", "qemu-arm", "arm-linux-gnueabihf-gcc"},
		{"386", "qemu-i386", "i686-linux-gnu-gcc"},
	} {
		program := gdbtest.Compile(t, gdbtest.Testdata(t, "progs", "lastwords.c"), append([]string{gdbtest.Tool(t, tt.compiler), "-static"}, wordsOfGlibc...)...)
		for _, way := range []string{"assert", "free"} {
			t.Run(tt.arch+" "+way, func(t *testing.T) {
				core, said := coreAndWords(t, gdbtest.Tool(t, tt.qemu), "-s", "65536", program, way)
				said, _, _ = strings.Cut(said, "qemu: ") // which says that the guest has died
				hasWords(t, said, "glibc's __abort_msg", "sfwalk core", "core", core, "--exe", program)
			})
		}
	}
}

// TestLastWordsOfGLib: GLib keeps the message of an assertion in a variable, where debuggers look
// for it.
func TestLastWordsOfGLib(t *testing.T) {
	gdbtest.File(t, "/usr/lib/x86_64-linux-gnu/libglib-2.0.so.0")
	program := gdbtest.Build(t, "lastwordsglib.c")
	core, said := coreAndWords(t, program)
	_, said, _ = strings.Cut(said, "**\n")
	said, _, _ = strings.Cut(said, "\n") // a second line says that it bails out
	hasWords(t, said, "GLib's __glib_assert_msg", "sfwalk core", "core", core)
}
