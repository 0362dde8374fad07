package command

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"

	"github.com/spf13/cobra"

	"github.com/sfwalk/sfwalk/internal/symbolstore"
	format "github.com/sfwalk/sfwalk/minidump"
	"github.com/sfwalk/sfwalk/symbol"
	"github.com/sfwalk/sfwalk/target"
	"github.com/sfwalk/sfwalk/target/minidump"
)

// batchLine is one line of a batch: a document, or why there is none.
type batchLine struct {
	*document
	Warnings []string `json:"warnings,omitempty"`
}

type batchError struct {
	Minidump string `json:"minidump"`
	Error    string `json:"error"`
}

// dumpsIn returns the dumps that the argument of minidump names: those below a folder, or, for "-", those whose paths
// are the lines of in. ok is false if it is one dump.
func dumpsIn(arg string, in io.Reader) (list []string, ok bool, err error) {
	if arg == "-" {
		lines := bufio.NewScanner(in)
		for lines.Scan() {
			if path := lines.Text(); path != "" {
				list = append(list, path)
			}
		}
		if err := lines.Err(); err != nil {
			return nil, true, fmt.Errorf("list of dumps: %w", err)
		}
		return list, true, nil
	}
	if info, err := os.Stat(arg); err != nil || !info.IsDir() {
		return nil, false, nil // an error is told when the dump is opened
	}
	err = filepath.WalkDir(arg, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() && isDumpName(path) {
			list = append(list, path)
		}
		return err
	})
	return list, true, err
}

// isDumpName reports whether a file has a name as writers of minidumps give them.
func isDumpName(path string) bool {
	ext := strings.ToLower(filepath.Ext(path))
	return ext == ".dmp" || ext == ".mdmp"
}

// runBatch prints a line of JSON for each dump, in their order, and goes on after a bad one.
func runBatch(cmd *cobra.Command, dumps []string, opts minidump.Options, number int, flags *walkFlags) error {
	b := &batch{opts: opts, number: number, flags: flags}
	defer b.end()
	n := runtime.GOMAXPROCS(0)
	if flags.plugins != nil {
		n = 1
	}
	workers := make([]func(int) result, min(n, max(len(dumps), 1)))
	for i := range workers {
		workers[i] = func(i int) result { return b.one(dumps[i]) }
	}
	// What lives from one dump to the next is little: at the usual pace a third of the time would be spent on finding that out.
	// This counts as living, and is never touched.
	ballast := make([]byte, 64<<20)
	defer runtime.KeepAlive(ballast)
	early, bad := false, 0
	err := inOrder(len(dumps), workers, func(r result) error {
		if r.bad {
			bad++
		}
		early = early || r.early
		if err := cmd.Context().Err(); err != nil {
			return errInterrupted
		}
		_, err := cmd.OutOrStdout().Write(r.line)
		b.lines.put(r.line)
		return err
	})
	switch {
	case err != nil:
		return err
	case bad > 0:
		return fmt.Errorf("%d of %d dumps cannot be read", bad, len(dumps))
	case early:
		return errEarly
	}
	return nil
}

// batch is what the dumps of a run share.
type batch struct {
	opts   minidump.Options
	number int
	flags  *walkFlags

	lines buffers

	mu     sync.Mutex
	kept   map[string]*symbolstore.Symbols // by path: one of each file, which keeps that open for the next dump
	shared *shared                         // by the next dump; nil if that begins anew
}

// shared are the files that some dumps have opened, and what is known of them.
type shared struct {
	files   minidump.Files
	symbols *symbol.Symbolizer
	owner   int // of the dumps
	users   int // dumps that are being read, and the batch
}

// share returns what the next dump shares with others of the same owner. The caller drops it.
func (b *batch) share(dump *format.File) *shared {
	b.mu.Lock()
	defer b.mu.Unlock()
	if s := b.shared; s != nil && s.owner != dump.Owner {
		b.shared = nil
		if s.users--; s.users == 0 {
			defer s.close()
		}
	}
	if b.shared == nil {
		open := func(_ *target.Module, root, path string) (*os.File, error) { return dump.OpenNamed(root, path) }
		symbols := newSymbolizer(func(*target.Module) string { return b.opts.Sysroot }, open, b.flags, b.flags.values.any())
		b.shared = &shared{symbols: symbols, owner: dump.Owner, users: 1}
	}
	b.shared.users++
	return b.shared
}

// drop ends the use of s by a dump. If s has grown large, the next dump begins anew.
func (b *batch) drop(s *shared) {
	full := s.files.Full()
	b.mu.Lock()
	if full && b.shared == s {
		b.shared = nil
		s.users--
	}
	s.users--
	last := s.users == 0
	b.mu.Unlock()
	if last {
		s.close() // outside the lock: it may take some time to keep what was inflated
	}
}

// end ends the batch, in which no dump is being read.
func (b *batch) end() {
	if b.shared != nil {
		b.shared.close()
	}
}

func (s *shared) close() {
	s.symbols.Close() // of files that were read only
	s.files.Close()
}

// buffers are the memory of lines that were written, for the next ones.
type buffers struct{ pool sync.Pool }

// maxBuffer bounds one of them, bytes.
const maxBuffer = 1 << 20

func (l *buffers) get() []byte {
	if b, ok := l.pool.Get().(*[]byte); ok {
		return (*b)[:0]
	}
	return nil
}

func (l *buffers) put(b []byte) {
	if cap(b) <= maxBuffer {
		l.pool.Put(&b)
	}
}

// result is what one dump has given.
type result struct {
	line       []byte
	early, bad bool
}

func (b *batch) one(path string) result {
	doc, warnings, err := b.document(path)
	r := result{early: errors.Is(err, errEarly)}
	r.bad = err != nil && !r.early
	if r.bad {
		r.line = append(appendJSON(nil, batchError{path, err.Error()}), '\n')
	} else {
		r.line = appendLine(b.lines.get(), doc, warnings)
	}
	return r
}

// appendLine appends a document with its warnings as a line of JSON.
func appendLine(b []byte, doc *document, warnings []string) []byte {
	about := *doc
	about.Threads = []thread{}
	// No text has this, for JSON escapes its quotes.
	before, after, _ := bytes.Cut(appendJSON(nil, batchLine{&about, warnings}), []byte(`"threads":[]`))
	b = append(append(b, before...), `"threads":[`...)
	for i := range doc.Threads {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendThread(b, &doc.Threads[i])
	}
	return append(append(append(b, ']'), after...), '\n')
}

func appendThread(b []byte, t *thread) []byte {
	about := *t
	about.Frames = []frameEntry{}
	before, after, _ := bytes.Cut(appendJSON(nil, &about), []byte(`"frames":[]`))
	b = append(append(b, before...), `"frames":[`...)
	for i := range t.Frames {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendEntry(b, &t.Frames[i])
	}
	return append(append(b, ']'), after...)
}

// document returns the document of one dump. The error is errEarly if some stack ended early.
func (b *batch) document(path string) (doc *document, warnings []string, err error) {
	dump, err := openDump(path, b.number)
	if err != nil {
		return nil, nil, err
	}
	defer dump.Close()
	shared := b.share(dump)
	defer b.drop(shared)
	opts := b.opts
	opts.Beside, opts.Files, opts.TrustPaths = filepath.Dir(path), &shared.files, b.flags.debug.trust
	t, err := minidump.New(dump, opts)
	if err != nil {
		doc = &document{}
		aboutUnwalked(doc, path, dump, err, b.flags)
		return doc, dump.Warnings, errEarly
	}
	s := minidumpSource(path, t, opts.Sysroot, b.flags)
	s.alone, s.shared = true, shared.symbols
	defer s.Close()
	if doc, warnings, err = collect(s, b.flags); err != nil {
		return nil, nil, err
	}
	b.keep(s)
	for i := range doc.Threads {
		if !doc.Threads[i].whole {
			err = errEarly
		}
	}
	return doc, warnings, err
}

// keep keeps the symbol files that were used.
func (b *batch) keep(s *source) {
	if b.flags.symbols == "" {
		return
	}
	for _, m := range s.Modules().All() {
		if !m.ImageUsed() {
			continue
		}
		if symbols, _ := symbolstore.Open(b.flags.symbols, m); symbols != nil {
			b.mu.Lock()
			if b.kept == nil {
				b.kept = map[string]*symbolstore.Symbols{}
			}
			b.kept[symbols.Path] = symbols
			b.mu.Unlock()
		}
	}
}
