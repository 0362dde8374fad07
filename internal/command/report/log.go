package report

import (
	"bytes"
	"fmt"
	"io"
	"log/slog"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/sfwalk/sfwalk/internal/command/version"
	"github.com/sfwalk/sfwalk/symbol"
	"github.com/sfwalk/sfwalk/target"
)

// logbook is the log of --log: which files the command reads, how it walks each stack, and how long
// that takes. Lines are kept in memory, and written when no thread is held: whoever reads the log
// may be slow.
//
// A nil logbook logs nothing. Walkers use one at the same time.
type logbook struct {
	began time.Time

	mu     sync.Mutex
	lines  bytes.Buffer
	logger *slog.Logger // to lines
	out    io.Writer
	failed error // the first one
	close  func() error
}

// openLog opens the log: a file, which is added to, or standard error for "-".
func openLog(cmd *cobra.Command, path string) (*logbook, error) {
	if path == "" {
		return nil, nil
	}
	l := &logbook{began: time.Now(), out: cmd.ErrOrStderr(), close: func() error { return nil }}
	if path != "-" {
		file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o666)
		if err != nil {
			return nil, fmt.Errorf("--log: %w", err)
		}
		l.out, l.close = file, file.Close
	}
	l.logger = slog.New(slog.NewTextHandler(&l.lines, &slog.HandlerOptions{ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		if a.Key == slog.LevelKey {
			return slog.Attr{} // there is one level
		}
		return a
	}}))
	l.add("sfwalk", "version", version.Text(), "go", runtime.Version(), "platform", runtime.GOOS+"/"+runtime.GOARCH, "pid", os.Getpid())
	return l, nil
}

// add adds a line: what is said, then names and values in turn.
func (l *logbook) add(what string, args ...any) {
	if l == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.logger.Info(what, args...)
}

// flush writes the lines. It is called only when no thread is held.
func (l *logbook) flush() {
	if l == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.failed == nil {
		_, l.failed = l.out.Write(l.lines.Bytes())
	}
	l.lines.Reset()
}

// end writes what is left, and closes the log. It returns the first error.
func (l *logbook) end() error {
	if l == nil {
		return nil
	}
	l.add("end", "took", time.Since(l.began).Round(time.Microsecond))
	l.flush()
	if err := l.close(); l.failed == nil {
		l.failed = err
	}
	return l.failed
}

// target logs what the stacks are of.
func (l *logbook) target(s Source) {
	if l == nil {
		return
	}
	var d Document
	s.About(&d)
	args := []any{"arch", s.Arch().Name, "pid", d.PID, "exe", d.Exe}
	if threads, err := s.Threads(); err == nil {
		args = append(args, "threads", len(threads))
	}
	if d.PauseUS != nil {
		args = append(args, "pause", time.Duration(*d.PauseUS)*time.Microsecond)
	}
	l.add("target", append(args, "mappings", len(s.Modules().All()))...)
}

// walk begins to log a walk. count is called with the sniffer of each physical frame, end when the
// walk has ended.
func (l *logbook) walk() (count func(sniffer string), end func(th *Thread)) {
	began, n := time.Now(), 0
	counts := map[string]int{}
	count = func(sniffer string) {
		if sniffer == "" {
			sniffer = "none"
		}
		counts[sniffer]++
		n++
	}
	return count, func(th *Thread) {
		var by []string
		for name, count := range counts {
			by = append(by, fmt.Sprintf("%s:%d", name, count))
		}
		slices.Sort(by)
		args := []any{"tid", th.TID, "name", th.Name, "frames", n, "sniffers", strings.Join(by, ","), "stop", th.Stop, "took", time.Since(began).Round(time.Microsecond)}
		if th.HeldUS != nil {
			args = append(args, "held", time.Duration(*th.HeldUS)*time.Microsecond)
		}
		if th.MovedOn {
			args = append(args, "moved_on", true)
		}
		if th.Error != "" {
			args = append(args, "error", th.Error)
		}
		l.add("walked", args...)
	}
}

// told are the sections that a line about a module names: sections of tables for unwinding, and of
// names.
var told = []string{".sframe", ".eh_frame", ".debug_frame", ".ARM.exidx", ".gopclntab", ".symtab", ".debug_info", ".zdebug_info", ".gnu_debugdata"}

// module logs which files were read for the frames in m.
func (l *logbook) module(m *target.Module, symbols *symbol.Symbolizer) {
	if l == nil {
		return
	}
	args := []any{"path", m.Path, "base", fmt.Sprintf("%#x", m.Base()), "build_id", m.BuildID()}
	im, _, err := m.Image()
	if err != nil {
		l.add("module", append(args, "error", err)...)
		return
	}
	if im.Path != "" && im.Path != m.Path {
		args = append(args, "opened", im.Path)
	}
	if file := im.ELF(); file != nil {
		var has []string
		for _, name := range told {
			if file.Section(name) != nil {
				has = append(has, name)
			}
		}
		args = append(args, "sections", strings.Join(has, ","))
	}
	if debug := symbols.DebugFile(m); debug != nil {
		args = append(args, "debug_file", debug.Path)
	}
	if lacks := symbols.Lacks(m); len(lacks) > 0 {
		args = append(args, "lacks", strings.Join(lacks, ","))
	}
	l.add("module", args...)
}
