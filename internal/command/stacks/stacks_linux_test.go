package stacks_test

import (
	"bytes"
	"encoding/json"
	"regexp"
	"strconv"
	"testing"

	"github.com/sfwalk/sfwalk/internal/command/report"
	"github.com/sfwalk/sfwalk/internal/command/sniffers"
	"github.com/sfwalk/sfwalk/internal/test/commandtest"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
)

// The document that is written piece by piece, thread by thread, equals the one that encoding/json
// writes at once.
func TestPieces(t *testing.T) {
	pause := regexp.MustCompile(`"(pause|held)_us":\d+`)
	for _, tt := range []struct {
		src  string
		args []string
	}{
		{src: "chain.c"},
		{src: "inline.c"},
		{src: "sighandler.c", args: []string{"alt", "nested"}},
		{src: "nullcall.c"},
		{src: "threads.c"},
		{src: "recurse.c", args: []string{"3000"}},
	} {
		p := commandtest.StartTarget(t, tt.src, gdbtest.Plain, tt.args)
		for _, flags := range []report.Flags{
			{}, {Explain: true, Registers: true}, {MaxFrames: 2}, {Choice: sniffers.Choice{Order: []string{"fp-guess"}}, Explain: true}, {TIDs: []int{p.PID}},
		} {
			flags.JSON = true
			args := []string{"attach", strconv.Itoa(p.PID), "--json"}
			if flags.Explain {
				args = append(args, "--explain")
			}
			if flags.Registers {
				args = append(args, "--registers")
			}
			if flags.MaxFrames > 0 {
				args = append(args, "--max-frames", strconv.Itoa(flags.MaxFrames))
			}
			for _, s := range flags.Order {
				args = append(args, "--sniffers", s)
			}
			for _, tid := range flags.TIDs {
				args = append(args, "--tid", strconv.Itoa(tid))
			}
			got, _, err := commandtest.Run(args...)
			doc := commandtest.Take(t, p.PID, &flags)
			var want bytes.Buffer
			e := json.NewEncoder(&want)
			e.SetEscapeHTML(false)
			if err := e.Encode(doc); err != nil {
				t.Fatal(err)
			}
			whole := true
			for _, th := range doc.Threads {
				whole = whole && th.Whole
			}
			if (err == nil) != whole {
				t.Errorf("%s %q: error %v, whole is %v", tt.src, args, err, whole)
			}
			if a, b := pause.ReplaceAllString(got, ""), pause.ReplaceAllString(want.String(), ""); a != b {
				at := 0
				for at < min(len(a), len(b)) && a[at] == b[at] {
					at++
				}
				t.Errorf("%s %q: %d bytes, want %d; at byte %d %.80q, want %.80q", tt.src, args, len(a), len(b), at, a[at:], b[at:])
			}
		}
	}
}
