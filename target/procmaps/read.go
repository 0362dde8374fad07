package procmaps

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
)

// These bound what [Read] takes of a list. A process may have 65,530 mappings, of files whose paths
// have any length.
const (
	maxLine      = 16 << 10 // bytes of a line that are looked at
	usualPath    = 256      // bytes of a path that is kept in any case
	maxLongPaths = 8 << 20  // bytes of all longer paths
	maxText      = 512 << 20
)

// Warnings of [Read].
const (
	leftPaths = "files with paths of more than 256 bytes are mapped, which have more than 8 MiB together: some have no name, and their code is of no known file"
	leftText  = "the list of what is mapped has more than 512 MiB: what is beyond is not known"
)

// Read reads /proc/PID/maps as [Parse] does its text, but keeps a bounded part of the paths: paths
// that are longer than usual are left out where they are too many, and so is what is behind 512
// MiB. warn, which may be nil, is told so once the list is read.
func Read(r io.Reader, warn func(format string, args ...any)) ([]Mapping, error) {
	return read(r, warn, maxText)
}

func read(r io.Reader, warn func(format string, args ...any), most int) ([]Mapping, error) {
	lines := bufio.NewReaderSize(r, maxLine)
	var p parser
	long, paths, cut := 0, false, false
	for {
		line, err := lines.ReadSlice('\n')
		size := len(line)
		named := err != bufio.ErrBufferFull
		if !named { // the rest of the path takes the place of its beginning
			line = bytes.Clone(line[:min(len(line), usualPath)])
			for err == bufio.ErrBufferFull && size <= most {
				var rest []byte
				rest, err = lines.ReadSlice('\n')
				size += len(rest)
			}
		}
		if err != nil && err != io.EOF && err != bufio.ErrBufferFull {
			return nil, fmt.Errorf("read maps: %w", err)
		}
		if cut = size > most; cut {
			break
		}
		most -= size
		if line = bytes.TrimSuffix(line, []byte("\n")); len(line) > 0 {
			if name := pathOf(line); named && len(name) > usualPath && string(name) != p.path {
				if named = long+len(name) <= maxLongPaths; named {
					long += len(name)
				}
			}
			paths = paths || !named
			if err := p.add(line, named); err != nil {
				return nil, err
			}
		}
		if err == io.EOF {
			break
		}
	}
	if warn != nil && paths {
		warn(leftPaths)
	}
	if warn != nil && cut {
		warn(leftText)
	}
	return p.maps, nil
}

// pathOf returns the path of a line, as the line has it; nothing if the line is broken.
func pathOf(line []byte) []byte {
	for range 5 {
		_, line, _ = bytes.Cut(line, []byte(" "))
	}
	return bytes.TrimLeft(line, " ")
}
