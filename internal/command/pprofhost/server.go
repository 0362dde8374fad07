// Package pprofhost shows profiles in browsers, by pprof's own pages: graph, flame graph, top,
// source and disassembly. It is a package of its own so that only sfwalk-full links net/http and
// pprof.
package pprofhost

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	profiling "github.com/sfwalk/sfwalk/internal/command/profile"

	"github.com/google/pprof/driver"
	"github.com/google/pprof/profile"

	"github.com/sfwalk/sfwalk/internal/printable"
	"github.com/sfwalk/sfwalk/picture"
)

// Server is the [profiling.PageServer] that has pprof's pages.
type Server struct{}

var _ profiling.PageServer = Server{}

// Listen implements [profiling.PageServer].
func (Server) Listen(address, base string) (profiling.PageListener, error) {
	l := &listener{token: newToken()}
	if base != "" {
		var err error
		if l.base, err = readProfile(base); err != nil {
			return nil, fmt.Errorf("--base: %w", err)
		}
		show(l.base)
	}
	var err error
	if l.Listener, err = net.Listen("tcp", address); err != nil {
		return nil, fmt.Errorf("--http: %w", err)
	}
	return l, nil
}

// listener is where browsers come to.
type listener struct {
	net.Listener
	base  *profile.Profile // nil for none
	token token
}

// Address implements [profiling.PageListener].
func (l *listener) Address() string { return l.token.address(l.Addr()) }

// Serve implements [profiling.PageListener].
func (l *listener) Serve(ctx context.Context, p profiling.Pages) error {
	from, err := newSources(p)
	if err != nil {
		return fmt.Errorf("--http: %w", err)
	}
	defer from.close()
	web := &http.Server{
		Handler:           l.token.check(&server{pages: p, sources: from, base: l.base}),
		ReadHeaderTimeout: 10 * time.Second,
		MaxHeaderBytes:    64 << 10,
		ErrorLog:          log.New(io.Discard, "", 0), // who connects chooses what it says
	}
	stop := context.AfterFunc(ctx, func() { web.Close() })
	defer stop()
	err = web.Serve(&ours{Listener: l.Listener, warn: p.Warn})
	if !errors.Is(err, http.ErrServerClosed) && !errors.Is(err, net.ErrClosed) {
		return fmt.Errorf("--http: %w", err)
	}
	return nil
}

// server answers with pprof's pages of what there is at that moment.
type server struct {
	pages   profiling.Pages
	sources *sources
	base    *profile.Profile // nil for none

	mu       sync.Mutex
	stacks   *picture.Stacks // of which handlers are
	handlers map[string]http.Handler
}

// ServeHTTP implements [http.Handler].
func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	handlers, err := s.current()
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	handler := handlers[r.URL.Path]
	if handler == nil {
		http.NotFound(w, r)
		return
	}
	handler.ServeHTTP(w, r)
}

// current returns the handlers of pprof's pages, by path, for the profile as it is now.
func (s *server) current() (map[string]http.Handler, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	stacks := s.pages.Stacks()
	if stacks == s.stacks {
		return s.handlers, nil
	}
	if len(stacks.Samples) == 0 {
		return waiting, nil
	}
	var text bytes.Buffer
	if err := stacks.WritePprof(&text); err != nil {
		return nil, err
	}
	p, err := profile.Parse(&text)
	if err != nil {
		return nil, err
	}
	show(p)
	var handlers map[string]http.Handler
	args := append(s.sources.args(), "-http=localhost:0", "-no_browser", "-symbolize=none")
	if s.base != nil {
		args = append(args, "-diff_base="+baseName)
	}
	err = driver.PProf(&driver.Options{
		Flagset: &flags{flag.NewFlagSet("pprof", flag.ContinueOnError), append(args, "profile")},
		Fetch:   fetcher{p, s.base},
		Obj:     &code{pages: &s.pages, sources: s.sources, stacks: stacks},
		UI:      ui{s.pages.Warn},
		HTTPServer: func(a *driver.HTTPServerArgs) error {
			handlers = a.Handlers
			source := handlers["/source"]
			handlers["/source"] = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				for _, p := range []*profile.Profile{p, s.base} {
					if p == nil {
						continue
					}
					if err := s.sources.prepare(p, r.URL.Query().Get("f")); err != nil {
						http.Error(w, printable.Escape(err.Error()), http.StatusBadRequest)
						return
					}
				}
				source.ServeHTTP(w, r)
			})
			for _, path := range []string{"/saveconfig", "/deleteconfig"} { // they write pprof's settings
				handlers[path] = http.HandlerFunc(noSettings)
			}
			return nil
		},
	})
	if err != nil {
		return nil, err
	}
	s.stacks, s.handlers = stacks, handlers
	return handlers, nil
}

// show has all names of a profile be such that they can be shown: dot, which draws the graph,
// complains to the terminal.
func show(p *profile.Profile) {
	rename(p)
	for _, f := range p.Function {
		f.Name, f.SystemName = printable.Escape(f.Name), printable.Escape(f.SystemName)
	}
	for _, m := range p.Mapping {
		m.File, m.BuildID = printable.Escape(m.File), printable.Escape(m.BuildID)
	}
	for _, x := range p.Sample {
		for _, values := range x.Label {
			for i := range values {
				values[i] = printable.Escape(values[i])
			}
		}
	}
}

func noSettings(w http.ResponseWriter, _ *http.Request) {
	http.Error(w, "sfwalk does not write pprof's settings: keep the address of the page instead", http.StatusForbidden)
}

// waiting is the page while there is no sample.
var waiting = map[string]http.Handler{"/": http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Refresh", "1")
	io.WriteString(w, "There are no samples yet: the process has not used a processor.\n")
})}

// baseName stands for the profile to compare with.
const baseName = "base"

// fetcher gives pprof the profiles, which are at hand.
type fetcher struct{ profile, base *profile.Profile }

// Fetch implements [driver.Fetcher].
func (f fetcher) Fetch(name string, _, _ time.Duration) (*profile.Profile, string, error) {
	if name == baseName {
		return f.base.Copy(), "", nil
	}
	return f.profile, "", nil
}

// flags are pprof's flags with their values.
type flags struct {
	*flag.FlagSet
	args []string
}

// StringList implements [driver.FlagSet].
func (f *flags) StringList(name, value, usage string) *[]*string {
	list := &[]*string{}
	f.Func(name, usage, func(text string) error {
		*list = append(*list, &text)
		return nil
	})
	return list
}

// ExtraUsage implements [driver.FlagSet].
func (f *flags) ExtraUsage() string { return "" }

// AddExtraUsage implements [driver.FlagSet].
func (f *flags) AddExtraUsage(string) {}

// Parse implements [driver.FlagSet].
func (f *flags) Parse(func()) []string {
	if f.FlagSet.Parse(f.args) != nil {
		return nil
	}
	return f.Args()
}

// ui takes what pprof has to say.
type ui struct {
	warn func(format string, args ...any)
}

// ReadLine implements [driver.UI].
func (ui) ReadLine(string) (string, error) { return "", io.EOF }

// Print implements [driver.UI].
func (ui) Print(...any) {}

// PrintErr implements [driver.UI].
func (u ui) PrintErr(args ...any) { u.warn("pprof: %s", strings.TrimSpace(fmt.Sprintln(args...))) }

// IsTerminal implements [driver.UI].
func (ui) IsTerminal() bool { return false }

// WantBrowser implements [driver.UI].
func (ui) WantBrowser() bool { return false }

// SetAutoComplete implements [driver.UI].
func (ui) SetAutoComplete(func(string) string) {}
