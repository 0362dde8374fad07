// Package screenhost has the user's terminal, for commands with a screen. It is a package of its
// own so that only sfwalk-full links a library of terminals.
package screenhost

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/sfwalk/sfwalk/internal/command/profile"

	"github.com/gdamore/tcell/v2"
	"golang.org/x/term"

	"github.com/sfwalk/sfwalk/internal/printable"
)

// Terminal is the [profile.ScreenHost] of this process's terminal.
type Terminal struct{}

var _ profile.ScreenHost = Terminal{}

// Show implements [profile.ScreenHost].
func (Terminal) Show(ctx context.Context, s profile.Screen) error {
	if !term.IsTerminal(int(os.Stdout.Fd())) || !term.IsTerminal(int(os.Stdin.Fd())) {
		return errors.New("this is no terminal: use 'sfwalk record', which writes files")
	}
	tty, err := tcell.NewDevTty()
	if err != nil {
		return fmt.Errorf("terminal %q: %w", os.Getenv("TERM"), err)
	}
	screen, err := tcell.NewTerminfoScreenFromTty(bounded{tty})
	if err != nil {
		tty.Close()
		return fmt.Errorf("terminal %q: %w", os.Getenv("TERM"), err)
	}
	return show(ctx, screen, s)
}

// A terminal may claim 65,535 by 65,535 characters, and each takes some hundred bytes. What is
// beyond these stays empty.
const maxWidth, maxHeight = 1024, 256

// bounded is a terminal that is not too large to be kept.
type bounded struct{ tcell.Tty }

// WindowSize implements [tcell.Tty].
func (b bounded) WindowSize() (tcell.WindowSize, error) {
	size, err := b.Tty.WindowSize()
	size.Width, size.Height = min(size.Width, maxWidth), min(size.Height, maxHeight)
	return size, err
}

// show shows s on a screen.
func show(ctx context.Context, screen tcell.Screen, s profile.Screen) error {
	if err := screen.Init(); err != nil {
		return fmt.Errorf("terminal %q: %w", os.Getenv("TERM"), err)
	}
	defer screen.Fini()
	events, quit := make(chan tcell.Event, 128), make(chan struct{})
	defer close(quit)
	go screen.ChannelEvents(events, quit)
	for {
		draw(screen, s)
		select {
		case <-ctx.Done():
			return nil
		case <-s.Changed:
		case event := <-events:
			if end, err := take(screen, s, event, events); end {
				return err
			}
		}
	}
}

// take takes an event, and the events that have come meanwhile: keys may come faster than the
// screen can be drawn.
func take(screen tcell.Screen, s profile.Screen, event tcell.Event, more <-chan tcell.Event) (end bool, err error) {
	resized := false
	for taken := 0; ; taken++ {
		switch event := event.(type) {
		case nil:
			return true, errors.New("the terminal is gone")
		case *tcell.EventResize:
			resized = true
		case *tcell.EventKey:
			if s.Key(name(event)) {
				return true, nil
			}
		}
		if taken < cap(more) {
			select {
			case event = <-more:
				continue
			default:
			}
		}
		if resized {
			screen.Sync()
		}
		return false, nil
	}
}

// Read implements [io.Reader]. It leaves out what is not ASCII: no key of ours is, and tcell never
// ends reading what is not UTF-8.
func (b bounded) Read(to []byte) (int, error) {
	for {
		n, err := b.Tty.Read(to)
		kept := slices.DeleteFunc(to[:n], func(c byte) bool { return c >= 0x80 })
		if len(kept) > 0 || n == 0 || err != nil {
			return len(kept), err
		}
	}
}

// styles are for each [profile.Style].
var styles = [...]tcell.Style{profile.Plain: tcell.StyleDefault, profile.Heading: tcell.StyleDefault.Bold(true), profile.Selected: tcell.StyleDefault.Reverse(true), profile.Dim: tcell.StyleDefault.Dim(true)}

func draw(screen tcell.Screen, s profile.Screen) {
	width, height := screen.Size()
	screen.Clear()
	for y, line := range s.Draw(height) {
		text := printable.Escape(line.Text)
		if line.Style == profile.Selected {
			text += strings.Repeat(" ", max(0, width-len(text)))
		}
		screen.PutStrStyled(0, y, text, styles[line.Style])
	}
	screen.Show()
}

// names are for keys that have no character.
var names = map[tcell.Key]string{
	tcell.KeyUp: "up", tcell.KeyDown: "down", tcell.KeyLeft: "left", tcell.KeyRight: "right", tcell.KeyPgUp: "pgup", tcell.KeyPgDn: "pgdn",
	tcell.KeyHome: "home", tcell.KeyEnd: "end", tcell.KeyEnter: "enter", tcell.KeyEscape: "esc", tcell.KeyBackspace: "backspace",
	tcell.KeyBackspace2: "backspace", tcell.KeyCtrlC: "ctrl-c",
}

func name(event *tcell.EventKey) string {
	if event.Key() == tcell.KeyRune {
		return string(event.Rune())
	}
	return names[event.Key()]
}
