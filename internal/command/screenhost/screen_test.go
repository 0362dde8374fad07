package screenhost

import (
	"context"
	"testing"

	"github.com/sfwalk/sfwalk/internal/command/profile"

	"github.com/gdamore/tcell/v2"
)

// tty is a terminal of a size, which shows and says nothing.
type tty struct {
	tcell.Tty
	size tcell.WindowSize
	gone chan struct{} // closed when nobody reads any more
	keys chan string   // what is typed
}

func (t tty) Start() error                          { return nil }
func (t tty) Stop() error                           { return nil }
func (t tty) Close() error                          { return nil }
func (t tty) Drain() error                          { close(t.gone); return nil }
func (t tty) NotifyResize(func())                   {}
func (t tty) WindowSize() (tcell.WindowSize, error) { return t.size, nil }
func (t tty) Write(b []byte) (int, error)           { return len(b), nil }

func (t tty) Read(to []byte) (int, error) {
	select {
	case keys := <-t.keys:
		return copy(to, keys), nil
	case <-t.gone:
		return 0, nil
	}
}

// A terminal of any size is shown, in bounded memory.
func TestSizes(t *testing.T) {
	t.Setenv("TERM", "xterm")
	for _, size := range []tcell.WindowSize{{}, {Width: 1, Height: 1}, {Width: 80, Height: 24}, {Width: 1<<16 - 1, Height: 1<<16 - 1}} {
		screen, err := tcell.NewTerminfoScreenFromTty(bounded{tty{size: size, gone: make(chan struct{})}})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		drawn := 0
		err = show(ctx, screen, profile.Screen{Draw: func(height int) []profile.Line {
			if width, _ := screen.Size(); width > maxWidth || height > maxHeight {
				t.Errorf("%+v: %d by %d", size, width, height)
			}
			drawn++
			cancel()
			return []profile.Line{{Text: "selected", Style: profile.Selected}}
		}})
		if err != nil || drawn == 0 {
			t.Errorf("%+v: drawn %d times: %v", size, drawn, err)
		}
	}
}

// Keys that come faster than the screen is drawn do not have it drawn for each.
func TestManyKeys(t *testing.T) {
	screen := tcell.NewSimulationScreen("UTF-8")
	const keys = 100
	all := make(chan struct{})
	drawn, taken := 0, 0
	err := show(t.Context(), screen, profile.Screen{
		Draw: func(int) []profile.Line {
			if drawn++; drawn == 1 {
				go func() {
					for range keys {
						screen.InjectKey(tcell.KeyRune, 'x', tcell.ModNone)
					}
					close(all)
				}()
				<-all
			}
			return nil
		},
		Key: func(key string) bool { taken++; return taken == keys },
	})
	if err != nil || taken != keys || drawn > keys/4 {
		t.Errorf("%d keys, drawn %d times: %v", taken, drawn, err)
	}
}

// The keys behind bytes that are not UTF-8 are read.
func TestKeysNotUTF8(t *testing.T) {
	t.Setenv("TERM", "xterm")
	typed := make(chan string, 2)
	typed <- "\xff\xfe\xc3"
	typed <- "\x80q"
	screen, err := tcell.NewTerminfoScreenFromTty(bounded{tty{gone: make(chan struct{}), keys: typed}})
	if err != nil {
		t.Fatal(err)
	}
	err = show(t.Context(), screen, profile.Screen{
		Draw: func(int) []profile.Line { return nil },
		Key:  func(key string) bool { return key == "q" },
	})
	if err != nil {
		t.Error(err)
	}
}
