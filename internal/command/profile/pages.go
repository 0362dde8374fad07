package profile

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/signal"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/sfwalk/sfwalk/internal/command/cmdline"
	"github.com/sfwalk/sfwalk/internal/command/exit"
	"github.com/sfwalk/sfwalk/internal/command/report"
	"github.com/sfwalk/sfwalk/internal/kernelnames"
	"github.com/sfwalk/sfwalk/internal/procdir"
	"github.com/sfwalk/sfwalk/internal/regular"
	"github.com/sfwalk/sfwalk/picture"
	"github.com/sfwalk/sfwalk/record"
	"github.com/sfwalk/sfwalk/symbol"
	"github.com/sfwalk/sfwalk/target"
)

// PageServer shows profiles in browsers. There is one, in internal/command/pprofhost; this package
// must not import it, nor net/http with it.
type PageServer interface {
	// Listen waits for browsers at an address, host:port. base is a file with a pprof profile to
	// compare with; "" for none.
	Listen(address, base string) (PageListener, error)
}

// PageListener is where browsers come to.
type PageListener interface {
	// Address returns what a browser must open: it has a secret by which this user is known.
	Address() string
	// Serve shows them pages until ctx is done, or the listener is closed.
	Serve(ctx context.Context, p Pages) error
	Close() error
}

// Pages are what is shown. Its functions may be called at once.
type Pages struct {
	// Stacks returns what there is now: what it has returned before if nothing has come since.
	Stacks func() *picture.Stacks
	// Module returns the module of a file's name that holds an address; nil if there is none.
	Module func(path string, addr uint64) *target.Module
	// Locate returns what is at an address of a module, the inlined calls first.
	Locate func(m *target.Module, addr uint64) []symbol.Location
	// Source opens a source file as a module's debug information names it; the module may be nil.
	Source func(m *target.Module, file string) (*os.File, error)
	Warn   func(format string, args ...any) // what the user should know
}

// pageFlags say whether a profile is shown in a browser.
type pageFlags struct {
	listen string
	base   string
}

// add adds the flags; while, which may be empty, says when pages are shown.
func (p *pageFlags) add(cmd *cobra.Command, while string) {
	f := cmd.Flags()
	f.StringVar(&p.listen, "http", "", "show it in a browser, at this address of this machine"+while+" (localhost:0 for any port)")
	f.StringVar(&p.base, "base", "", "with --http: show the differences to this pprof profile")
}

// check finds mistakes in the flags.
func (p *pageFlags) check() error {
	if p.listen == "" {
		if p.base != "" {
			return exit.Misuse(errors.New("--base is for --http: go tool pprof -diff_base compares files"))
		}
		return nil
	}
	host, port, err := net.SplitHostPort(p.listen)
	if err == nil {
		_, err = net.LookupPort("tcp", port)
	}
	if err != nil {
		return exit.Misuse(fmt.Errorf("--http %s: want host:port, such as localhost:0", p.listen))
	}
	if ip := net.ParseIP(host); host != "" && host != "localhost" && (ip == nil || !ip.IsLoopback()) {
		if port == "0" {
			port = "8080" // ssh wants to know it
		}
		return exit.Misuse(fmt.Errorf("--http %s: want an address of this machine alone, such as localhost:%s: the pages are not encrypted (from another machine, ssh -L %s:localhost:%s reaches them)", p.listen, port, port, port))
	}
	if host == "" {
		p.listen = net.JoinHostPort("localhost", port)
	}
	return nil
}

// pagePause is the shortest time between two profiles of a recording that goes on.
const pagePause = time.Second

// shown is a recording as it is shown: the newest profile, with names.
type shown struct {
	mu       sync.Mutex
	recorder *record.Recorder // nil if nothing more comes
	namer    *record.Namer
	symbols  *symbol.Symbolizer
	open     func(m *target.Module, root, path string) (*os.File, error) // opens a file that a recorded process names
	of       subject
	profile  *record.Profile
	stacks   *picture.Stacks
	taken    time.Time
}

// subject is what is recorded, for people.
type subject struct{ title, program string }

// newSubject returns what is recorded: the processes pids, or all if there is none. The one process
// may be command's.
func newSubject(pids []int, command []string) subject {
	switch len(pids) {
	case 0:
		return subject{title: "all processes"}
	case 1:
		exe, _ := os.Readlink(procdir.File(pids[0], "exe")) // it may have ended
		exe = strings.TrimSuffix(exe, " (deleted)")
		return subject{cmp.Or(strings.Join(command, " "), exe), exe}
	}
	return subject{title: "several processes"}
}

// newShown makes a recording ready to be shown.
func newShown(recorder *record.Recorder, of subject, flags *report.Flags) *shown {
	s := &shown{recorder: recorder, of: of}
	s.symbols = report.NewSymbolizer(func(m *target.Module) string {
		if pid := s.profile.Process(m); pid != 0 {
			return procdir.File(pid, "root")
		}
		return ""
	}, s.openNamed, flags, false)
	s.open = s.openNamed
	if flags.Debug.Trust {
		s.open = func(_ *target.Module, root, path string) (*os.File, error) { return regular.Word{}.Open(root, path) }
	}
	s.namer = record.NewNamer(s.symbols)
	if !flags.NoCache {
		s.namer.Kernel = kernelnames.NewCache().Names
	}
	return s
}

// openNamed opens a file that a recorded process names.
func (s *shown) openNamed(m *target.Module, root, path string) (*os.File, error) {
	return s.profile.OpenNamed(m, root, path)
}

// last returns the stacks of a recording that has ended. The user is told that names are looked
// for, which takes long on a busy machine; Ctrl-C ends that, and places that have no name by then
// have addresses.
func (s *shown) last(cmd *cobra.Command) *picture.Stacks {
	enough, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(enough, stop) // the next signal ends sfwalk at once
	s.mu.Lock()
	defer s.mu.Unlock()
	s.namer.Enough = func() bool { return enough.Err() != nil }
	quiet := showNaming(cmd, s.recorder.Profile())
	defer quiet()
	s.take()
	return s.stacks
}

// lately returns the stacks of not long ago.
func (s *shown) lately() *picture.Stacks {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.recorder != nil && (s.stacks == nil || time.Since(s.taken) > pagePause) {
		s.take()
	}
	return s.stacks
}

func (s *shown) take() {
	profile := s.recorder.Profile()
	same := s.stacks != nil && profile.Stats == s.profile.Stats
	s.profile, s.taken = profile, time.Now()
	if !same {
		s.stacks = s.namer.Picture(profile)
		s.stacks.Title, s.stacks.Program = s.of.title, cmp.Or(s.of.program, s.stacks.Program)
	}
}

// warnings returns what the user should know of the names.
func (s *shown) warnings() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	left, list := report.LeftOut{Short: true}, slices.Clone(s.namer.Warnings())
	said := map[string]bool{}
	s.namer.Tables(func(path string, err error) {
		if text := err.Error(); !left.Add(path, err) && !said[text] { // processes may have a file in common
			said[text] = true
			list = append(list, text)
		}
	})
	return report.FittingWarnings(append(list, left.Warnings(false)...), report.MaxWarned)
}

// report.LeftOut returns what names the newest picture lacks.
func (s *shown) leftOut() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.namer.LeftOut)
}

// pages are for browsers.
func (s *shown) pages(cmd *cobra.Command) Pages {
	return Pages{
		Stacks: s.lately,
		Module: func(path string, addr uint64) *target.Module {
			s.mu.Lock()
			defer s.mu.Unlock()
			return s.namer.Module(path, addr)
		},
		Locate: func(m *target.Module, addr uint64) []symbol.Location {
			s.mu.Lock()
			defer s.mu.Unlock()
			return s.namer.Locate(m, addr)
		},
		Source: func(m *target.Module, file string) (*os.File, error) {
			s.mu.Lock()
			defer s.mu.Unlock()
			return s.open(m, "", file)
		},
		Warn: func(format string, args ...any) { cmdline.Warn(cmd, fmt.Sprintf(format, args...)) },
	}
}
