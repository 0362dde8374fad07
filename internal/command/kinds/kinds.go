package kinds

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/sfwalk/sfwalk/internal/regular"
)

// Kind is what a file is.
type Kind struct {
	Name string // with its article: "a minidump"
	Verb string // the verb whose argument the file is; "" if there is none
	Use  string // what reads the file, where there is no such verb; FILE stands for its path. It may be ""
}

// maxHead is how much of a file is looked at, bytes: of a compressed one, how much is unpacked.
const maxHead = 1 << 20

// Of returns what the file at path is: a regular file, a folder or a socket. ok is false if it is
// none that the table has, or cannot be read. A FIFO is not opened: that could wait for ever.
func Of(path string) (k Kind, ok bool) {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return k, false
	case info.IsDir():
		return folder(path)
	case info.Mode()&os.ModeSocket != 0:
		return socket, true
	}
	f, err := regular.Open(path)
	if err != nil {
		return k, false
	}
	defer f.Close()
	return Read(f, info.Size())
}

// Read is Of for the bytes of a file.
func Read(r io.ReaderAt, size int64) (k Kind, ok bool) {
	if k, ok = look(r, size); !ok {
		return Kind{}, false
	}
	return k, true
}

// look is Read; the kind counts if ok is true.
func look(r io.ReaderAt, size int64) (k Kind, ok bool) {
	head := make([]byte, 4096)
	n, err := r.ReadAt(head, 0)
	if head = head[:n]; err != nil && !errors.Is(err, io.EOF) {
		return k, false
	}
	for i := range packers {
		if p := &packers[i]; bytes.HasPrefix(head, p.magic) {
			return p.look(r, size)
		}
	}
	return unpacked(head, r, size)
}

// unpacked is Read for a file that is not compressed, which begins with head.
func unpacked(head []byte, r io.ReaderAt, size int64) (k Kind, ok bool) {
	for i := range magics {
		m := &magics[i]
		if !bytes.HasPrefix(head, m.magic) {
			continue
		}
		if m.look == nil {
			return m.Kind, true
		}
		return m.look(head, r)
	}
	return log(head, r, size)
}

// folder returns what a folder is, by the files in it.
func folder(path string) (k Kind, ok bool) {
	if k, ok := Of(filepath.Join(path, "data")); ok && k == perf {
		return perf, true
	}
	f, err := os.Open(path)
	if err != nil {
		return k, false
	}
	defer f.Close()
	names, _ := f.Readdirnames(1024)
	for _, name := range names {
		if ext := strings.ToLower(filepath.Ext(name)); ext == ".dmp" || ext == ".mdmp" {
			return dumps, true
		}
	}
	return k, false
}

// HasCode reports whether the file is a program or a library of Linux: what --exe takes.
func (k Kind) HasCode() bool { return k == program || k == library }

// Says says of the file at path what it is, and what reads it.
func (k Kind) Says(path string) string {
	switch {
	case k == socket:
		return fmt.Sprintf("%s: 'sfwalk %s unix:%s' speaks with a debugger's stub there", k.Name, k.Verb, path)
	case k.Verb != "":
		return fmt.Sprintf("%s: 'sfwalk %s %s' reads it", k.Name, k.Verb, path)
	case k.Use != "":
		if !strings.Contains(path, "/") { // a program without one is looked for in PATH
			path = "./" + path
		}
		return k.Name + ": " + strings.ReplaceAll(k.Use, "FILE", path)
	}
	return k.Name
}

// isFor reports whether a verb reads such files, or says itself what to do with them.
func (k Kind) isFor(verb string) bool {
	switch verb {
	case "core":
		return k == core || k == saved || k.HasCode()
	case "open":
		return k == saved || k.HasCode()
	case "sframe", "symbols":
		return k == object || k.HasCode()
	}
	return k.Verb == verb
}

// Explain adds to err, with which verb has failed to read the file at path, what the file is, if
// that is something else than what the verb reads.
func Explain(err error, verb, path string) error {
	if err == nil {
		return nil
	}
	k, ok := Of(path)
	says := func(text string) bool { return strings.Contains(err.Error(), text) }
	if !ok || k.isFor(verb) || k.Verb != "" && says("'sfwalk "+k.Verb+"'") || k.Verb == "" && says("unpack it first") {
		return err
	}
	return fmt.Errorf("%w: it is %s", err, k.Says(path))
}
