package external

import (
	"io"
	"slices"
	"strings"
	"sync"
)

// tail keeps the end of a plug-in's standard error, and passes all of it on.
type tail struct {
	mu   sync.Mutex
	text []byte
	to   io.Writer // may be nil
}

// tailSize is how much tail keeps, in bytes: as much as a Go program writes when it panics.
const tailSize = 64 << 10

// Write implements [io.Writer].
func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.to != nil {
		t.to.Write(p)
	}
	t.text = append(t.text, p[max(0, len(p)-tailSize):]...)
	if over := len(t.text) - tailSize; over > tailSize {
		t.text = append(t.text[:0], t.text[over:]...)
	}
	return len(p), nil
}

// end returns the last few lines, without a terminal's control characters. If a Go program has
// panicked, end returns the panic's first line, because the traceback behind it is long.
func (t *tail) end() string {
	const most, longest = 3, 300
	t.mu.Lock()
	defer t.mu.Unlock()
	list := strings.Split(strings.TrimSpace(string(t.text)), "\n")
	for i, line := range slices.Backward(list) {
		if strings.HasPrefix(line, "panic: ") || strings.HasPrefix(line, "fatal error: ") {
			list = list[i : i+1]
			break
		}
	}
	list = list[max(0, len(list)-most):]
	for i := range list {
		list[i] = clean(list[i], longest)
	}
	return strings.Join(list, "; ")
}
