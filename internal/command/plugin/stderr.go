package plugin

import (
	"bytes"
	"io"
	"sync"

	"github.com/sfwalk/sfwalk/internal/printable"
)

// said writes a plug-in's standard error with the plug-in's name before each line, so that no line
// looks like one of sfwalk's own.
type said struct {
	name string
	to   io.Writer

	mu   sync.Mutex
	line []byte // without its newline yet
}

// maxLine bounds a line, bytes. A longer one is broken.
const maxLine = 4 << 10

// Write implements [io.Writer].
func (s *said) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for rest := p; len(rest) > 0; {
		end := bytes.IndexByte(rest, '\n')
		if end < 0 {
			end = len(rest)
		}
		end = min(end, maxLine-len(s.line))
		s.line = append(s.line, rest[:end]...)
		ended := end < len(rest) && rest[end] == '\n'
		if ended || len(s.line) == maxLine {
			s.flush()
		}
		if ended {
			end++
		}
		rest = rest[end:]
	}
	return len(p), nil
}

// flush writes s.line. The caller holds s.mu.
func (s *said) flush() {
	printable.Fprintf(s.to, "%s: %s\n", s.name, string(bytes.TrimSuffix(s.line, []byte{'\r'})))
	s.line = s.line[:0]
}

// Close writes a last line without a newline.
func (s *said) Close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.line) > 0 {
		s.flush()
	}
}
