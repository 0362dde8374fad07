package lua_test

import (
	"fmt"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
	"github.com/sfwalk/sfwalk/internal/test/languagetest"
	"github.com/sfwalk/sfwalk/language/lua"
	"github.com/sfwalk/sfwalk/target/core"
)

// tracebackLine is a line of debug.traceback's.
var tracebackLine = regexp.MustCompile(`^\t(.*?):(\d+:)? (?:in )?(.*)$`)

// TestRest holds a process that stands still, and its core file, against what debug.traceback
// says.
func TestRest(t *testing.T) {
	script, err := filepath.Abs("testdata/rest.lua")
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range luas(t) {
		t.Run(filepath.Base(l[0]), func(t *testing.T) {
			p := languagetest.StartTold(t, l[0], script, oracleOf(t, l[1]))
			p.Rest(t)
			text, callers := p.Next(t), !strings.HasSuffix(l[0], "5.3") && !strings.HasSuffix(l[0], "5.4")
			hold(t, languagetest.Attach(t, p.PID, lua.Decorator{}, nil)[p.PID], text, callers)
			path := filepath.Join(t.TempDir(), "core")
			gdbtest.Batch(t, nil, "attach "+strconv.Itoa(p.PID), "generate-core-file "+path, "detach")
			tg, err := core.Open(path, core.Options{})
			if err != nil {
				t.Fatal(err)
			}
			defer tg.Close()
			hold(t, languagetest.All(t, tg, lua.Decorator{}, nil)[p.PID], text, callers)
		})
	}
}

// hold holds frames against texts of debug.traceback. The first frame, which waits, and what
// resumes a coroutine are in no text.
func hold(t *testing.T, d *languagetest.Thread, text string, callers bool) {
	t.Helper()
	if w := d.Warnings(); len(w) > 0 {
		t.Errorf("%q", w)
	}
	var want [][]string
	// The main state has told first: its frames are the outer ones.
	texts := strings.Split(strings.TrimSpace(text), "stack traceback:")
	for i := len(texts) - 1; i > 0; i-- {
		resumes := i < len(texts)-1 // what has told is over, and the function that resumes is in its place
		for line := range strings.Lines(texts[i]) {
			if f := tracebackLine.FindStringSubmatch(strings.TrimRight(line, "\n")); f != nil {
				if resumes {
					f, resumes = []string{"", "[C]", "", "?"}, false
				}
				want = append(want, f)
			}
		}
	}
	frames := d.Frames()
	if len(frames) < 1 || !strings.HasSuffix(frames[0].Function, "rest") {
		t.Fatalf("no frames, or others: %s", dump(d))
	}
	frames = frames[1:]
	named := 0
	for i, w := range want {
		if i == len(frames) {
			t.Fatalf("only %d frames of %d:\n%s\n%s", i, len(want), text, dump(d))
		}
		f := frames[i]
		if strings.HasPrefix(f.Kind, "native") != (w[1] == "[C]") {
			t.Errorf("%d: %+v, want %q", i, f, w[0])
			continue
		}
		line, source := "", f.File
		if f.Line > 0 {
			line = strconv.Itoa(f.Line) + ":"
		}
		// Lua shortens names of files.
		if w[1] != "[C]" && (line != w[2] || !strings.HasSuffix(source, strings.TrimPrefix(w[1], "..."))) && i > 0 {
			t.Errorf("%d: %+v, want %q", i, f, w[0])
		}
		if w[0] == "" || callers && f.Function == "inner" { // the caller calls it otherwise
			continue
		}
		if named++; !sameName(f.Function, w[3]) {
			t.Errorf("%d: %s, want %s", i, f.Function, fmt.Sprint(w[0]))
		}
	}
	if named < 15 {
		t.Errorf("only %d names in\n%s", named, text)
	}
}

// sameName reports whether a function is called as debug.traceback writes it: "main chunk",
// "function <FILE:LINE>" with a shortened file, "function 'NAME'", or from 5.4 on "local 'NAME'"
// and other words; "?" for none.
func sameName(function, told string) bool {
	kind, name, _ := strings.Cut(told, " ")
	if at, ok := strings.CutPrefix(name, "<"); ok {
		return strings.HasPrefix(function, "function <") && strings.HasSuffix(function, at[strings.LastIndex(at, ":"):])
	}
	if name = strings.Trim(name[strings.IndexByte(name, '\'')+1:], "'"); name == "" || name == "?" {
		return strings.HasPrefix(function, "function <") || strings.HasPrefix(function, "C function ")
	}
	if kind == "metamethod" {
		name = "__" + strings.TrimPrefix(name, "__")
	}
	return told == function || function == name || strings.HasSuffix(function, "."+name)
}
