package stacks_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
)

// asanLines are the lines of AddressSanitizer's report that say what the error is, and where.
var asanLines = regexp.MustCompile(`(?m)^(?:==\d+==)?(ERROR: AddressSanitizer: .*|(?:READ|WRITE) of size .*|The signal is caused by .*|SUMMARY: AddressSanitizer: .*)$`)

// TestLastWordsOfASan: the lines of AddressSanitizer's report are the ones that it has written.
func TestLastWordsOfASan(t *testing.T) {
	t.Setenv("ASAN_OPTIONS", "abort_on_error=1:disable_coredump=0")
	for _, flags := range [][]string{{"-O0", "-g"}, {"-O1", "-static-libasan"}} {
		program := gdbtest.Build(t, "lastwordssan.c", append(flags, "-w", "-fsanitize=address")...)
		for _, way := range []string{"heap", "freed", "double", "stack", "zero"} {
			t.Run(way+flags[0], func(t *testing.T) {
				core, said := coreAndWords(t, program, way)
				var want []string
				for _, m := range asanLines.FindAllStringSubmatch(said, -1) {
					want = append(want, m[1])
				}
				if len(want) < 2 {
					t.Fatalf("it has said %q", said)
				}
				hasWords(t, strings.Join(want, "\n"), "the report of AddressSanitizer", "sfwalk core", "core", core)
			})
		}
	}
}

// TestLastWordsOfUBSan: the place is where UndefinedBehaviorSanitizer says it is; its kind is there
// in place of the numbers.
func TestLastWordsOfUBSan(t *testing.T) {
	t.Setenv("UBSAN_OPTIONS", "abort_on_error=1")
	for way, kind := range map[string]string{"overflow": "add overflow", "index": "out of bounds", "exponent": "shift out of bounds"} {
		for _, level := range []string{"-O0", "-O2"} {
			program := gdbtest.Build(t, "lastwordssan.c", level, "-w", "-fsanitize=undefined", "-fno-sanitize-recover")
			core, said := coreAndWords(t, program, way)
			place, _, ok := strings.Cut(said, "runtime error: ")
			if got := wordsIn(t, "sfwalk core", "core", core); !ok || len(got) != 1 || got[0].Text != place+"runtime error: "+kind {
				t.Errorf("%s %s: %+v, it has said %q", way, level, got, said)
			}
		}
	}
}
