package waits

import (
	"slices"
	"testing"

	"github.com/sfwalk/sfwalk/language"
)

// TestTold: what a thread's state says of a lock, no other line says, but which thread holds it.
func TestTold(t *testing.T) {
	gil := language.Lock{Kind: "GIL", Address: 16, Owner: 7, Level: -1}
	at := language.Lock{Kind: "monitor", Name: "a.B", Address: 32, Level: 3}
	for _, tt := range []struct {
		of    language.Thread
		about string
		lines []string // with all locks
		some  int      // how many of the lines stand without the locks of frames
	}{
		{language.Thread{Name: "python3"}, "", nil, 0},
		{language.Thread{Name: "worker"}, `"worker"`, nil, 0},
		{language.Thread{Name: "python3", State: "daemon"}, `"python3", daemon`, nil, 0},
		{language.Thread{State: "daemon, waits for the GIL", Waits: []language.Lock{gil}}, "daemon", []string{"waits for the GIL 0x10, held by thread 7"}, 1},
		{language.Thread{State: "daemon, has the GIL", Holds: []language.Lock{gil}}, "daemon, has the GIL", nil, 0},
		{language.Thread{State: "has the GILT", Holds: []language.Lock{gil}}, "has the GILT", []string{"holds the GIL 0x10"}, 1},
		{language.Thread{Holds: []language.Lock{gil, at}, Exception: "E: x"}, "", []string{"holds the GIL 0x10", "holds the monitor 0x20 (a.B)", "has the exception E: x"}, 2},
		{language.Thread{Waits: []language.Lock{{Kind: "lock", Timed: true}}}, "", []string{"waits, with a timeout, for the lock"}, 1},
		{language.Thread{Waits: []language.Lock{{Kind: "Thread", Address: 16, Owner: 7, Ends: true}}}, "", []string{"waits for the end of thread 7"}, 1},
		{language.Thread{Waits: []language.Lock{{Kind: "Thread", Name: "worker", Address: 16, Ends: true}}}, "", []string{"waits for the end of the Thread 0x10 (worker)"}, 1},
	} {
		told := (*Graph)(nil).NewTold(1, []language.Told{{Language: "python", Thread: tt.of}})[0]
		if got := told.About("python3"); got != tt.about {
			t.Errorf("%+v: %q, want %q", tt.of, got, tt.about)
		}
		if got := told.Lines(true); !slices.Equal(got, tt.lines) || len(told.Lines(false)) != tt.some {
			t.Errorf("%+v: %q, want %q", tt.of, got, tt.lines)
		}
	}
}
