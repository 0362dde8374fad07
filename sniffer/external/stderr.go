package external

import (
	"io"
	"strings"
	"sync"
)

// tail keeps the end of what a plug-in writes to its standard error, and passes all of it on.
type tail struct {
	mu   sync.Mutex
	text []byte
	to   io.Writer // nil for nobody
}

// tailSize is how much is kept, bytes.
const tailSize = 2 << 10

// Write implements [io.Writer].
func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.to != nil {
		t.to.Write(p)
	}
	t.text = append(t.text, p[max(0, len(p)-tailSize):]...)
	if over := len(t.text) - tailSize; over > 0 {
		t.text = append(t.text[:0], t.text[over:]...)
	}
	return len(p), nil
}

// lines returns the last few lines, without what a terminal would take for orders.
func (t *tail) lines(n int) string {
	t.mu.Lock()
	defer t.mu.Unlock()
	text := strings.TrimSpace(string(t.text))
	list := strings.Split(text, "\n")
	list = list[max(0, len(list)-n):]
	for i := range list {
		list[i] = clean(list[i], tailSize)
	}
	return strings.Join(list, "; ")
}
