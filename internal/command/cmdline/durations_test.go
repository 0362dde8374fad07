package cmdline

import (
	"io"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/spf13/pflag"

	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
)

// A number is seconds, as timeout(1) and sleep(1) have it; all else is as package time has it.
func TestDurations(t *testing.T) {
	for _, text := range []string{
		"10", "0.5", "0.25", "1", "0", "3600", "0.000000001", "100000", ".5", "5.",
		"10s", "500ms", "1m30s", "1h", "0s", "1.5h", "-3s",
		"", ".", "x", "10x", "1 0", "10 s", "1e3", "0x10", "--5", "1.2.3", "NaN", "Inf", "9223372036.9", "1e400", strings.Repeat("9", 400),
	} {
		var got time.Duration
		f := pflag.NewFlagSet("", pflag.ContinueOnError)
		f.SetOutput(io.Discard)
		DurationP(f, &got, "duration", "d", 0, "")
		err := f.Parse([]string{"-d", text})
		// What package time makes of the text, where it takes it; else of the text with a unit.
		want, wrong := time.ParseDuration(text)
		if wrong != nil && strings.Trim(text, "0123456789.") == "" {
			want, wrong = time.ParseDuration(text + "s")
		}
		if (err == nil) != (wrong == nil) || err == nil && got != want {
			t.Errorf("%q: %v, %v, want %v, %v", text, got, err, want, wrong)
		}
		if err != nil && !strings.Contains(err.Error(), "want ") {
			t.Errorf("%q: the error does not say what is wanted: %v", text, err)
		}
	}
}

// Fractions of seconds are as the sleep of GNU's coreutils has them.
func TestDurationsAsSleep(t *testing.T) {
	sleep := gdbtest.Tool(t, "sleep")
	for _, text := range []string{"0", "0.0", ".0", "0.", "-", "x", "0x", ".", ""} {
		var got time.Duration
		f := pflag.NewFlagSet("", pflag.ContinueOnError)
		f.SetOutput(io.Discard)
		Duration(f, &got, "duration", 0, "")
		err := f.Parse([]string{"--duration", text})
		if wrong := exec.Command(sleep, text).Run(); (err == nil) != (wrong == nil) {
			t.Errorf("%q: %v, sleep has %v", text, err, wrong)
		}
	}
}
