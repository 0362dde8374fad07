package command

import (
	"bytes"
	"io"
	"path"
	"strings"
	"sync"

	"github.com/sfwalk/sfwalk/internal/regular"
)

// sourceLine is a line of a source file.
type sourceLine struct {
	Line int    `json:"line"`
	Text string `json:"text"`
}

// sourceFiles are files of source code as far as they were asked for. It is safe for concurrent use.
type sourceFiles struct {
	dirs []string

	mu    sync.Mutex
	known map[[3]string][]byte // contents by root, the unit's folder, and the name in debug information; nil for files that are not there
	size  int
}

// Bounds of what is read and shown of source files, bytes.
const (
	maxSourceFile = 16 << 20
	maxSources    = 64 << 20 // all files together that are kept
	maxSourceLine = 240      // of one line that is shown
)

// around returns the lines of a file from context lines before a line to as many behind it; nothing if there is no such line. root is the
// folder below which the file is looked for first; "" for none. dir is the one from which a relative name counts; "" if that is not known.
func (s *sourceFiles) around(root, dir, file string, line, context int) (list []sourceLine) {
	if file == "" || line < 1 {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	key := [3]string{root, dir, file}
	text, ok := s.known[key]
	if !ok {
		text = s.read(root, dir, file)
		if s.size += len(text); s.size > maxSources || s.known == nil {
			s.known, s.size = map[[3]string][]byte{}, len(text)
		}
		s.known[key] = text
	}
	for n := 1; len(text) > 0 && n <= line+context; n++ {
		one, rest, _ := bytes.Cut(text, []byte("\n"))
		if n >= line-context {
			one = bytes.TrimRight(one, "\r")
			cut := ""
			if len(one) > maxSourceLine {
				one, cut = one[:maxSourceLine], "…"
			}
			list = append(list, sourceLine{n, strings.ToValidUTF8(string(one), "�") + cut})
		}
		text = rest
	}
	if len(list) == 0 || list[len(list)-1].Line < line {
		return nil // the file is another one than was compiled
	}
	return list
}

// read reads a file. The user's folders come first, as in GDB, and have it by its whole path or an end of that with a folder. Then it is looked for where
// it was compiled: in the target's root, then on this machine; a relative one from the unit's folder, then from the one in which sfwalk runs. At last the user's
// folders have a file of its name.
func (s *sourceFiles) read(root, dir, file string) []byte {
	var places []regular.At
	parts := strings.Split(strings.TrimPrefix(path.Clean("/"+file), "/"), "/")
	for _, d := range s.dirs {
		for i := range max(1, len(parts)-1) {
			if i == 0 && len(parts) == 1 && path.IsAbs(file) {
				break
			}
			places = append(places, regular.At{Path: path.Join(append([]string{d}, parts[i:]...)...)})
		}
	}
	compiled := file
	if !path.IsAbs(file) && path.IsAbs(dir) {
		compiled = path.Join(dir, file)
	}
	if path.IsAbs(compiled) {
		if root != "" {
			places = append(places, regular.At{Root: root, Path: compiled})
		}
		places = append(places, regular.At{Path: compiled})
	}
	if !path.IsAbs(file) {
		places = append(places, regular.At{Path: file})
	}
	for _, d := range s.dirs {
		places = append(places, regular.At{Path: path.Join(d, parts[len(parts)-1])})
	}
	for _, at := range places {
		f, err := at.Open()
		if err != nil {
			continue
		}
		text, err := io.ReadAll(io.LimitReader(f, maxSourceFile))
		f.Close()
		if err == nil {
			return text
		}
	}
	return nil
}

// source prints the source lines of a frame, that of the frame marked as Delve marks it.
func (p *textPrinter) source(f *frameEntry) {
	for _, l := range f.Source {
		mark := "     "
		if l.Line == f.Line {
			mark = "  => "
		}
		p.text(mark)
		before := len(p.buf)
		p.number(uint64(l.Line))
		for n := len(p.buf) - before; n < 5; n++ {
			p.buf = append(p.buf, 0)
			copy(p.buf[before+1:], p.buf[before:])
			p.buf[before] = ' '
		}
		p.text(": ")
		if l.Line == f.Line {
			p.styled(bold, expandTabs(l.Text))
		} else {
			p.styled(faint, expandTabs(l.Text))
		}
		p.byte('\n')
	}
}

// expandTabs has a blank for the escape that a tab would be shown as: tabs are four columns wide.
func expandTabs(s string) string { return strings.ReplaceAll(s, "\t", "    ") }
