package picture_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/picture"
)

// What formats that repeat names write is bounded by MaxText: the stacks with the most samples are
// there, all samples are counted, and LeftOut says what is not there.
func TestMaxText(t *testing.T) {
	const stacks, size, most = 200, 10_000, 100_000
	s := &picture.Stacks{Types: []picture.Type{{Name: "samples", Unit: "count"}}}
	total := 0
	for i := range stacks {
		name := string(rune('a'+i%26)) + strings.Repeat("n", size)
		frames := []picture.Place{{Function: "leaf", Line: i}, {Function: name, Line: i}, {Function: "main"}}
		s.Add(frames, picture.Sample{Values: []int64{int64(i + 1)}, Numbers: []picture.Number{{Key: "tid", Value: int64(i)}}})
		total += i + 1
	}
	for _, format := range []string{"folded", "flamegraph", "firefox"} {
		s.MaxText = 0
		if all := written(t, s, format); s.LeftOut != "" || len(all) < 20*size {
			t.Errorf("%s: %d bytes without a bound; %q", format, len(all), s.LeftOut)
		}
		s.MaxText = most
		text := written(t, s, format)
		if len(text) < most/2 || len(text) > 4*most || s.LeftOut == "" {
			t.Errorf("%s: %d bytes, want about %d; %q is left out", format, len(text), most, s.LeftOut)
		}
		switch format {
		case "folded":
			counted, lines := 0, 0
			for line := range strings.Lines(text) {
				counted += number(t, line[strings.LastIndexByte(line, ' ')+1:len(line)-1])
				lines++
			}
			// The 200th stack has the 18th letter. Each letter has seven stacks, the first ones
			// eight.
			if counted != total || lines > most/size+1 || !strings.Contains(text, "main;rnn") {
				t.Errorf("folded: %d samples in %d lines, want %d", counted, lines, total)
			}
		case "firefox":
			var doc struct {
				Threads []struct{ StringArray []string }
			}
			if err := json.Unmarshal([]byte(text), &doc); err != nil || len(doc.Threads) < most/size || len(doc.Threads[0].StringArray) < 3 {
				t.Errorf("firefox: %d threads: %v", len(doc.Threads), err)
			}
		}
	}
}

func number(t *testing.T, text string) (n int) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), &n); err != nil {
		t.Fatal(err)
	}
	return n
}
