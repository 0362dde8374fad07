package crash

import (
	"bufio"
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

	format "github.com/sfwalk/sfwalk/format/minidump"
	"github.com/sfwalk/sfwalk/internal/command/exit"
	"github.com/sfwalk/sfwalk/internal/command/inturn"
	"github.com/sfwalk/sfwalk/internal/command/report"
	"github.com/sfwalk/sfwalk/internal/command/show"
	"github.com/sfwalk/sfwalk/internal/count"
	"github.com/sfwalk/sfwalk/internal/symbolstore"
	"github.com/sfwalk/sfwalk/symbol"
	"github.com/sfwalk/sfwalk/target"
	"github.com/sfwalk/sfwalk/target/minidump"
)

// batchError is a line of a batch that says why there is no document.
type batchError struct {
	Minidump string `json:"minidump"`
	Error    string `json:"error"`
}

// dumpsIn returns the dumps that the argument of minidump names: the dumps below a folder, or, for
// "-", the dumps whose paths are the lines of in. ok is false if it is one dump.
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
func runBatch(cmd *cobra.Command, dumps []string, opts minidump.Options, number int, flags *report.Flags) error {
	flags.JSON = true
	b := &batch{opts: opts, number: number, flags: flags}
	defer b.end()
	n := runtime.GOMAXPROCS(0)
	if flags.Plugins != nil {
		n = 1
	}
	workers := make([]func(int) result, min(n, max(len(dumps), 1)))
	for i := range workers {
		workers[i] = func(i int) result { return b.one(dumps[i]) }
	}
	// What lives from one dump to the next is little: at the usual pace a third of the time would
	// be spent on finding that out. This counts as living, and is never touched.
	ballast := make([]byte, 64<<20)
	defer runtime.KeepAlive(ballast)
	early, bad := false, 0
	err := inturn.InOrder(len(dumps), workers, func(r result) error {
		if err := cmd.Context().Err(); err != nil {
			return exit.ErrInterrupted
		}
		_, err := cmd.OutOrStdout().Write(r.line)
		if b.lines.put(r.line); r.long != "" {
			r, err = b.print(cmd.OutOrStdout(), r.long)
		}
		if r.bad {
			bad++
		}
		early = early || r.early
		return err
	})
	switch {
	case err != nil:
		return err
	case bad > 0:
		return fmt.Errorf("%d of %s cannot be read", bad, count.Of(len(dumps), "dump"))
	case early:
		return exit.ErrEarly
	}
	return nil
}

// batch is what the dumps of a run share.
type batch struct {
	opts   minidump.Options
	number int
	flags  *report.Flags

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
		root := func(*target.Module) string { return b.opts.Sysroot }
		symbols := report.NewSymbolizer(root, report.OpenNamed(dump.OpenNamed), b.flags, b.flags.Values.Any())
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
	long       string // the dump, if its line is too long to be kept: it is to be read again, when its turn has come
	early, bad bool
}

// keptLine keeps a line that is not longer than mostLine. Several wait for their turn, and a small
// dump may have a long one.
type keptLine []byte

const mostLine = 4 << 20

var errLongLine = errors.New("the line is too long to be kept")

func (l *keptLine) Write(b []byte) (int, error) {
	if len(*l)+len(b) > mostLine {
		return 0, errLongLine
	}
	*l = append(*l, b...)
	return len(b), nil
}

func (b *batch) one(path string) result {
	line := keptLine(b.lines.get())
	r, err := b.print(&line, path)
	if err != nil {
		return result{long: path}
	}
	r.line = line
	return r
}

// print writes the line of a dump. The error says why writing failed.
func (b *batch) print(out io.Writer, path string) (r result, err error) {
	to := &lineWriter{out: out}
	switch err = b.document(to, path); {
	case to.err != nil:
		return r, to.err
	case errors.Is(err, exit.ErrEarly):
		r.early = true
	case err != nil:
		r.bad = true
		_, err = out.Write(append(show.AppendJSON(nil, batchError{path, err.Error()}), '\n'))
		return r, err
	}
	return r, nil
}

// lineWriter notes the first error of writing.
type lineWriter struct {
	out io.Writer
	err error
}

func (n *lineWriter) Write(b []byte) (int, error) {
	if n.err != nil {
		return 0, n.err
	}
	var wrote int
	wrote, n.err = n.out.Write(b)
	return wrote, n.err
}

// document writes the document of one dump. The error is exit.ErrEarly if some stack ended early.
func (b *batch) document(out io.Writer, path string) error {
	dump, err := openDump(path, b.number)
	if err != nil {
		return err
	}
	defer dump.Close()
	shared := b.share(dump)
	defer b.drop(shared)
	opts := b.opts
	opts.Beside, opts.Files, opts.TrustPaths = filepath.Dir(path), &shared.files, b.flags.Debug.Trust
	printed := &show.Stacks{Flags: b.flags}
	t, err := minidump.New(dump, opts)
	if err != nil {
		return printUnwalked(out, path, dump, err, printed)
	}
	s := newDumpSource(path, t, opts.Sysroot, b.flags)
	s.shared = shared.symbols
	defer s.Close()
	whole, _, err := printed.Print(out, s, report.SymbolizerOf(s, b.flags))
	if err != nil {
		return err
	}
	b.keep(s)
	if !whole {
		return exit.ErrEarly
	}
	return nil
}

// keep keeps the symbol files that were used.
func (b *batch) keep(s report.Source) {
	if b.flags.SymbolDirs == "" {
		return
	}
	for _, m := range s.Modules().All() {
		if !m.ImageUsed() {
			continue
		}
		if symbols, _ := symbolstore.Open(b.flags.SymbolDirs, m); symbols != nil {
			b.mu.Lock()
			if b.kept == nil {
				b.kept = map[string]*symbolstore.Symbols{}
			}
			b.kept[symbols.Path] = symbols
			b.mu.Unlock()
		}
	}
}
