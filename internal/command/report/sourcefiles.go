package report

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"strings"
	"sync"

	"github.com/sfwalk/sfwalk/internal/count"
	"github.com/sfwalk/sfwalk/internal/regular"
)

// SourceLine is a line of a source file.
type SourceLine struct {
	Line int    `json:"line"`
	Text string `json:"text"`
}

// sourceFiles are files of source code as far as they were asked for. It is safe for concurrent
// use.
type sourceFiles struct {
	dirs  []string
	trust bool // read also what the targets' users may not

	mu      sync.Mutex
	known   map[sourceName][]byte // contents; nil for files that are not there
	size    int
	refused []string // the first few files that were left out, and why
	more    int      // how many others
}

// sourceName is what a target calls a file, by the unit's folder and the name in debug information.
type sourceName struct {
	by        Source
	dir, file string
}

// Bounds of what is read and shown of source files, bytes.
const (
	maxSourceFile = 16 << 20
	maxSources    = 64 << 20 // all files together that are kept
	maxSourceLine = 240      // of one line that is shown
)

// maxRefused bounds the files that are named of all that were left out.
const maxRefused = 3

// around returns the lines of a file from context lines before a line to as many behind it; nothing
// if there is no such line. by is the target that names the file. dir is the folder from which a
// relative name counts; "" if that is not known.
func (s *sourceFiles) around(by Source, dir, file string, line, context int) (list []SourceLine) {
	if file == "" || line < 1 {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	key := sourceName{by, dir, file}
	text, ok := s.known[key]
	if !ok {
		text = s.read(key)
		if s.size += len(text); s.size > maxSources || s.known == nil {
			s.known, s.size = map[sourceName][]byte{}, len(text)
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
			list = append(list, SourceLine{n, strings.ToValidUTF8(string(one), "�") + cut})
		}
		text = rest
	}
	if len(list) == 0 || list[len(list)-1].Line < line {
		return nil // the file is another one than was compiled
	}
	return list
}

// read reads a file. The user's folders come first, as in GDB, and have it by its whole path or an
// end of that with a folder. Then it is looked for where it was compiled: in the target's root,
// then on this machine; a relative one from the unit's folder, then from the one in which sfwalk
// runs. At last the user's folders have a file of its name.
func (s *sourceFiles) read(name sourceName) []byte {
	type place struct {
		in string // a folder of the user's; "" for none
		regular.At
	}
	var places []place
	root, dir, file := name.by.From().Root, name.dir, name.file
	parts := strings.Split(strings.TrimPrefix(path.Clean("/"+file), "/"), "/")
	for _, d := range s.dirs {
		for i := range max(1, len(parts)-1) {
			if i == 0 && len(parts) == 1 && path.IsAbs(file) {
				break
			}
			places = append(places, place{d, regular.At{Path: path.Join(parts[i:]...)}})
		}
	}
	compiled := file
	if !path.IsAbs(file) && path.IsAbs(dir) {
		compiled = path.Join(dir, file)
	}
	if path.IsAbs(compiled) {
		if root != "" {
			places = append(places, place{"", regular.At{Root: root, Path: compiled}})
		}
		places = append(places, place{"", regular.At{Path: compiled}})
	}
	if !path.IsAbs(file) {
		places = append(places, place{"", regular.At{Path: file}})
	}
	for _, d := range s.dirs {
		places = append(places, place{d, regular.At{Path: parts[len(parts)-1]}})
	}
	open := name.by.From().Opener
	if s.trust || open == nil {
		open = regular.Word{}.Open
	}
	var refused *regular.NotAllowedError
	for _, at := range places {
		var f *os.File
		var err error
		if at.in != "" {
			f, err = regular.OpenIn(open, at.in, at.Path)
		} else {
			f, err = open(at.Root, at.Path)
		}
		if err != nil {
			errors.As(err, &refused)
			continue
		}
		text, err := io.ReadAll(io.LimitReader(f, maxSourceFile))
		f.Close()
		if err == nil {
			return text
		}
	}
	switch {
	case refused == nil:
	case len(s.refused) < maxRefused:
		s.refused = append(s.refused, "source file "+refused.Error())
	default:
		s.more++
	}
	return nil
}

// warnings says which files were left out since it was called last.
func (s *sourceFiles) warnings() (list []string) {
	if s == nil {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if list = s.refused; s.more > 0 {
		list = append(list, fmt.Sprintf("%s %s not read for the same reason", count.Of(s.more, "more source file"), count.Verb(s.more, "is", "are")))
	}
	s.refused, s.more = nil, 0
	return list
}
