// Package symbolserver fetches Breakpad's symbol files from servers that have them as
// NAME/IDENTIFIER/NAME.sym (Tecken, Breakpad's own tools, Sentry), into a folder below the user's
// cache that is a store like any other.
//
// A server is not trusted: a file counts when its MODULE record has the identifier that was asked
// for, and sizes and times are bounded. What was fetched in part is fetched on, and what a server
// does not have is not asked for again for an hour.
package symbolserver

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sfwalk/sfwalk/format/breakpad"
	"github.com/sfwalk/sfwalk/internal/usercache"
	"github.com/sfwalk/sfwalk/internal/webclient"
)

const (
	maxSize     = 4 << 30          // bytes of a file, as it is sent and unpacked
	maxRun      = 8 << 30          // bytes of all files of one run, as they are sent and unpacked
	maxAtOnce   = 6                // requests
	maxFailures = 3                // in a row, until a server is left alone
	attempts    = 3                // at one file, if the connection breaks
	headerTime  = 30 * time.Second // until an answer begins
	remember    = time.Hour        // that a server has no such file
	// maxTime is for all files of one run. What was fetched in part is fetched on by the next one.
	maxTime = time.Hour
	// A compressed file may become maxRatio bytes for each byte that was sent. All compressed files
	// of a run together may become freeSize bytes more. The symbol files of large programs become
	// ten times as large.
	freeSize = 16 << 20
	maxRatio = 32
)

// pace is what a server must keep to for each file. Several are fetched at once, perhaps over one
// slow line.
var pace = webclient.Pace{Least: 16 << 10, Span: 30 * time.Second}

// Server is one server. Many goroutines may use it at once.
type Server struct {
	base   *url.URL
	dir    string
	client *http.Client

	maxSize int64
	left    atomic.Int64  // of maxRun
	free    atomic.Int64  // of freeSize
	pause   time.Duration // before another attempt
	pace    webclient.Pace
	end     time.Time    // of all that is fetched; set by the first request
	begin   sync.Once    // makes room, and sets end
	failed  atomic.Int32 // requests in a row
	// answers says that the server has answered something else than that it forbids a file;
	// forbidden counts those.
	answers   atomic.Bool
	forbidden atomic.Int32

	mu    sync.Mutex
	asked map[string]*sync.Once // by the path in the store
	errs  []error
}

// New returns the server at an address: https, or http if it is named. Files are kept below cache.
// It may redirect to others, which the user has named as well.
func New(address, cache string, others ...string) (*Server, error) {
	base, err := url.Parse(address)
	if err != nil {
		return nil, errors.New("not an address of a server")
	}
	if base.Scheme != "https" && base.Scheme != "http" || base.Host == "" {
		return nil, errors.New("want https://HOST/…")
	}
	name := *base
	name.User = nil
	sum := sha256.Sum256([]byte(strings.TrimSuffix(name.String(), "/")))
	s := &Server{
		base: base, dir: filepath.Join(cache, fmt.Sprintf("%x", sum[:12])), maxSize: maxSize, pause: time.Second, pace: pace,
		asked: map[string]*sync.Once{},
	}
	s.left.Store(maxRun)
	s.free.Store(freeSize)
	options := webclient.Options{HeaderTime: headerTime, AtOnce: maxAtOnce}
	if s.client, err = webclient.New(append(slices.Clip(others), address), options); err != nil {
		return nil, err
	}
	return s, nil
}

// Dir returns the folder that has what was fetched.
func (s *Server) Dir() string { return s.dir }

// Progress is told of what is fetched, by many goroutines at once.
type Progress interface {
	Begin(size int64) // of a file, -1 if it is not known
	Add(n int)        // bytes
}

// Fetch fetches the symbol files of modules that are not there yet, several at once. What cannot be
// had is left out: [Server.Errors] says why, if that is not that the server has none.
func (s *Server) Fetch(ctx context.Context, modules []breakpad.Module, progress Progress) {
	var wait sync.WaitGroup
	room := make(chan struct{}, maxAtOnce)
	for _, m := range modules {
		path, err := m.StorePath()
		if err != nil || s.failed.Load() >= maxFailures {
			continue
		}
		s.mu.Lock()
		once := s.asked[path]
		if once == nil {
			once = new(sync.Once)
			s.asked[path] = once
		}
		s.mu.Unlock()
		wait.Go(func() {
			once.Do(func() {
				room <- struct{}{}
				defer func() { <-room }()
				if err := s.fetch(ctx, m, path, progress); err != nil && ctx.Err() == nil {
					s.note(fmt.Errorf("symbols of %s from %s: %w", m.Name, s.base.Redacted(), err))
				}
			})
		})
	}
	wait.Wait()
}

// note keeps an error, the first few.
func (s *Server) note(err error) {
	const most = 16
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.errs) < most {
		s.errs = append(s.errs, err)
	}
}

// Errors returns what has failed so far.
func (s *Server) Errors() []error {
	s.mu.Lock()
	defer s.mu.Unlock()
	errs := append([]error(nil), s.errs...)
	if n := s.forbidden.Load(); n > 0 && !s.answers.Load() {
		errs = append(errs, fmt.Errorf("symbols from %s: %w of each of %d files: it has none of them, or wants a key", s.base.Redacted(), statusError(http.StatusForbidden), n))
	}
	return errs
}

// address returns the address of a path below base. Each byte of the path that means something in
// an address, or that servers read in several ways, is escaped: stores of objects take a plain +
// for a blank, and names come from dumps that are not trusted.
func address(base *url.URL, path string) *url.URL {
	const plain = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~/" // RFC 3986, section 2.3, and the path's own slashes
	escaped := strings.TrimSuffix(base.EscapedPath(), "/") + "/"
	for i := range len(path) {
		if c := path[i]; strings.IndexByte(plain, c) >= 0 {
			escaped += string(c)
		} else {
			escaped += fmt.Sprintf("%%%02X", c)
		}
	}
	where := *base
	where.Path, where.RawPath = strings.TrimSuffix(base.Path, "/")+"/"+path, escaped
	return &where
}

// fetch fetches one file, if it is not there and the server is not known to lack it.
func (s *Server) fetch(ctx context.Context, m breakpad.Module, path string, progress Progress) error {
	file := filepath.Join(s.dir, filepath.FromSlash(path))
	none := filepath.Join(filepath.Dir(file), noneName)
	if _, err := os.Stat(file); err == nil {
		used(file)
		return nil
	}
	if info, err := os.Stat(none); err == nil && time.Since(info.ModTime()).Abs() < remember {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return err
	}
	s.begin.Do(func() {
		makeRoom(filepath.Dir(s.dir), usercache.Room(maxKept))
		usercache.MakeRoom(0)
		s.end = time.Now().Add(maxTime)
	})
	outer := ctx
	ctx, cancel := context.WithDeadlineCause(ctx, s.end, errTime)
	defer cancel()
	p, err := claimPart(file)
	if err != nil {
		return err
	}
	defer p.leave()
	where := address(s.base, path)
	for n := 1; ; n++ {
		if s.failed.Load() >= maxFailures {
			return nil // the errors of others say why
		}
		err := s.get(ctx, where, p, progress)
		var status statusError
		switch {
		case err == nil:
			s.failed.Store(0)
			s.answers.Store(true)
			return s.finish(p, m)
		case errors.As(err, &status) && status.none():
			s.failed.Store(0)
			if status != http.StatusForbidden {
				s.answers.Store(true)
			} else if s.forbidden.Add(1); !s.answers.Load() {
				return nil // it may want a key, and is asked again
			}
			return os.WriteFile(none, nil, 0o600)
		case outer.Err() != nil:
			return outer.Err()
		case ctx.Err() != nil:
			s.failed.Store(maxFailures) // the others would fail, too
			return errTime
		case errors.Is(err, errFull):
			s.failed.Store(maxFailures)
			return err
		case n >= attempts, errors.Is(err, errLarge), errors.As(err, new(*webclient.SlowError)), errors.Is(err, webclient.ErrElsewhere),
			errors.As(err, &status) && status < 500:
			s.failed.Add(1)
			return err
		}
		select {
		case <-ctx.Done():
		case <-time.After(s.pause):
		}
	}
}

// statusError is the status of an answer.
type statusError int

func (e statusError) Error() string {
	return fmt.Sprintf("the server says %d %s", int(e), http.StatusText(int(e)))
}

// none reports whether the server has no such file. Stores of objects say 403 of what they lack,
// and others of what is not for everybody.
func (e statusError) none() bool {
	return e == http.StatusNotFound || e == http.StatusForbidden || e == http.StatusGone
}

var (
	errLarge = errors.New("the file is too large")
	errFull  = fmt.Errorf("it has sent more than %d MiB: run it again for the rest", maxRun>>20)
	errTime  = fmt.Errorf("it took more than %v: the next run goes on with what was fetched in part", maxTime)
)
