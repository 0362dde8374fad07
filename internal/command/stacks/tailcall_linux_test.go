package stacks_test

import (
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/internal/command/stacks"
	"github.com/sfwalk/sfwalk/internal/test/commandtest"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
)

// TestTailCalls looks at what is printed of functions that have left by a tail call. The source
// tells.
func TestTailCalls(t *testing.T) {
	p := gdbtest.Start(t, gdbtest.Build(t, "tailcall.c", gdbtest.Plain...))
	attach := func(flags ...string) string {
		t.Helper()
		out, stderr, err := commandtest.Execute(stacks.NewAttach(nil), append(flags, strconv.Itoa(p.PID))...)
		if err != nil || stderr != "" {
			t.Fatal(stderr, err)
		}
		return regexp.MustCompile(`0x[0-9a-f]+`).ReplaceAllString(out, "0x#")
	}
	for _, tt := range []struct{ name, out, want string }{
		{"text", attach(), "in third (…) at FILE:22\n#N 0x# in second (…) at FILE:30 [tail call]\n#N 0x# in first (…) at FILE:35 [tail call]\n#N 0x# in entry (…)"},
		{"explanation of a tail call", attach("--explain"), "at FILE:30 [tail call]\n      id {stack=0x#,code=0x#,!special,tailcall=2}\n      tail call: second jumps to third before 0x#\n#N"},
		{"explanation of the caller", attach("--explain"), "id {stack=0x#,code=0x#,!special}\n      tail calls: it calls first\n"},
		{"JSON", attach("--json", "--explain"), `"type":"tailcall","pc":"0x#","cfa":"0x#","function":"second",`},
		{"JSON, explained", attach("--json", "--explain"), `"tail_call":"tail call: first jumps to second before 0x#"}`},
		{"symbols alone", attach("--no-lines"), "in third+0x# (/"},
	} {
		out := regexp.MustCompile(`[^\s"]*/tailcall\.c`).ReplaceAllString(tt.out, "FILE")
		out = regexp.MustCompile(`(?m)^#\d+ +`).ReplaceAllString(out, "#N ")
		if !strings.Contains(out, tt.want) {
			t.Errorf("%s: no %s in\n%s", tt.name, tt.want, out)
		}
		if tt.name == "symbols alone" && strings.Contains(out, "tail call") {
			t.Errorf("%s:\n%s", tt.name, out)
		}
	}
}
