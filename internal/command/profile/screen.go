package profile

import "context"

// ScreenHost has the user's terminal. There is one, in internal/command/screenhost; this package
// must not import it, nor a library of terminals with it.
type ScreenHost interface {
	// Show shows a screen until its Key returns true, or ctx is done. The terminal is then as it
	// was before.
	Show(ctx context.Context, s Screen) error
}

// Screen is what a terminal shows. Its functions are called one at a time.
type Screen struct {
	// Draw returns the lines for a terminal with height lines. What is longer or more is left out.
	Draw func(height int) []Line
	// Key takes a key: a character, or the name of one that has none, such as "up", "pgdn" or
	// "esc". It reports whether that is the end.
	Key func(key string) (end bool)
	// Changed has an element when there is something new to draw.
	Changed <-chan struct{}
}

// Line is a line of a screen.
type Line struct {
	Text  string
	Style Style
}

// Style is how a line looks.
type Style uint8

// The styles.
const (
	Plain    Style = iota
	Heading        // of a table
	Selected       // the line that keys act on
	Dim            // what is less important
)
