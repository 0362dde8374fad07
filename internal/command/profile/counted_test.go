package profile

import (
	"testing"
	"time"

	"github.com/sfwalk/sfwalk/record"
)

// What is said of a recording agrees with its numbers, as English wants it.
func TestCounted(t *testing.T) {
	one := &record.Profile{Threads: make([]record.Thread, 1), Duration: time.Second}
	one.Stats.Samples, one.Stats.Lost, one.Stats.Unread, one.Stats.Cut, one.Stats.Chained, one.Stats.Stopped = 1, 1, 1, 1, 1, 1
	two := &record.Profile{Threads: make([]record.Thread, 2), Duration: time.Second}
	two.Stats.Samples, two.Stats.Lost = 2, 2
	for want, p := range map[string]*record.Profile{
		"1 sample of 1 thread in 1.0 s; 1 was lost: the machine was too busy; 1 record does not parse, and is left out; 1 has a stack that goes on where nothing was copied, and is cut;" +
			" 1 has outer frames by frame pointers alone; 1 has a stack that is not whole": one,
		"2 samples of 2 threads in 1.0 s; 2 were lost: the machine was too busy": two,
	} {
		if got := counted(p, ""); got != want {
			t.Errorf("%s; want %s", got, want)
		}
	}
	if got := progressText(time.Second, &one.Stats); got != "1 s, 1 sample, 1 lost (Ctrl-C ends)" {
		t.Error(got)
	}
}
