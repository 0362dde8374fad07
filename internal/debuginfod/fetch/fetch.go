// Package fetch fetches debug files from debuginfod servers into the cache that elfutils' clients share.
//
// A server is not trusted with more than its answer: a file counts only if it is an ELF file of the build ID that was asked for,
// and sizes and times are bounded. Nobody waits for a server while a process is held: who needs files fetches them
// before, and then finds them in the cache.
package fetch

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/sfwalk/sfwalk/elfimage"
	"github.com/sfwalk/sfwalk/internal/debuginfod"
)

const (
	maxSize    = 4 << 30   // bytes of a file, unless the user says otherwise
	leastBytes = 100 << 10 // that a server must send in each span of the timeout
	maxAtOnce  = 4         // files
	maxHops    = 20        // redirections
)

// Progress is told of what is fetched, by many goroutines at once.
type Progress interface {
	Begin(size int64, from string) // of a file, -1 if it is not known
	Add(n int)                     // bytes
}

// Client fetches files.
type Client struct {
	debuginfod.Config

	client  *http.Client
	headers http.Header
	pause   time.Duration // before another attempt
	maxSize int64
}

// New returns a client of the servers in the environment.
func New(c debuginfod.Config) (*Client, error) {
	x := &Client{Config: c, pause: time.Second, maxSize: maxSize}
	if c.MaxSize > 0 {
		x.maxSize = c.MaxSize
	}
	var err error
	if x.headers, err = readHeaders(c.Headers); err != nil {
		return nil, fmt.Errorf("DEBUGINFOD_HEADERS_FILE: %w", err)
	}
	x.client = &http.Client{
		Transport: &http.Transport{
			Proxy:              http.ProxyFromEnvironment,
			DisableCompression: true, // what is fetched is what is kept
			ForceAttemptHTTP2:  true,
		},
		CheckRedirect: func(r *http.Request, via []*http.Request) error {
			switch {
			case len(via) > maxHops:
				return fmt.Errorf("more than %d redirections", maxHops)
			case r.URL.Scheme != "https" && r.URL.Scheme != "http":
				return fmt.Errorf("it leads to %s:, which is neither https nor http", r.URL.Scheme)
			}
			return nil
		},
	}
	return x, x.Prepare()
}

// maxHeaders bounds the file of headers, bytes.
const maxHeaders = 64 << 10

// readHeaders reads a file with a header on each line.
func readHeaders(path string) (http.Header, error) {
	list := make(http.Header)
	if path == "" {
		return list, nil
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxHeaders))
	if err != nil {
		return nil, err
	}
	for i, line := range strings.Split(string(text), "\n") {
		if strings.TrimSpace(line) == "" {
			continue
		}
		name, value, ok := strings.Cut(line, ":")
		if name = strings.TrimSpace(name); !ok || name == "" || strings.ContainsAny(name, " \t") {
			return nil, fmt.Errorf("%s: line %d is no header: want NAME: VALUE", path, i+1)
		}
		list.Add(name, strings.TrimSpace(value))
	}
	return list, nil
}

// All fetches the debug files of build IDs that the cache does not have, several at once. The errors say what has failed; that no
// server has a file is no error.
func (c *Client) All(ctx context.Context, buildIDs []string, progress Progress) []error {
	var mu sync.Mutex
	var errs []error
	var all sync.WaitGroup
	turn := make(chan struct{}, maxAtOnce)
	for _, id := range buildIDs {
		all.Go(func() {
			turn <- struct{}{}
			defer func() { <-turn }()
			if err := c.one(ctx, id, progress); err != nil && ctx.Err() == nil {
				mu.Lock()
				defer mu.Unlock()
				errs = append(errs, fmt.Errorf("debug file of build ID %s: %w", id, err))
			}
		})
	}
	all.Wait()
	return errs
}

// errNone says that a server has no such file.
var errNone = errors.New("the server has no such file")

// errUseless says that a server's answer would be the same another time.
var errUseless = errors.New("it is left out")

// one fetches the file of a build ID. A server whose answer is of no use is asked no more.
func (c *Client) one(ctx context.Context, id string, progress Progress) error {
	if c.Path(id) == "" {
		return errors.New("no build ID")
	}
	if c.Find(id) != "" || c.Missed(id) {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(c.Path(id)), 0o700); err != nil {
		return err
	}
	servers := slices.Clone(c.URLs)
	none := len(servers)
	var errs []error
	for attempt := 0; len(servers) > 0; {
		a := c.first(ctx, servers, id)
		if a.body == nil {
			all := true
			for _, err := range a.errs {
				all = all && errors.Is(err, errNone)
			}
			if all && len(servers) == none {
				return c.Miss(id)
			}
			if all {
				return errors.Join(errs...) // of the servers that had it
			}
			if attempt++; attempt > c.Retries || ctx.Err() != nil {
				return errors.Join(append(errs, a.errs...)...)
			}
			select {
			case <-ctx.Done():
			case <-time.After(c.pause):
			}
			continue
		}
		err := c.store(a, id, progress)
		if err == nil || ctx.Err() != nil {
			return err
		}
		if attempt < c.Retries && !errors.Is(err, errUseless) { // the connection has broken
			attempt++
			continue
		}
		errs = append(errs, fmt.Errorf("%s: %w", redacted(a.server), err))
		servers = slices.DeleteFunc(servers, func(s string) bool { return s == a.server })
	}
	return errors.Join(errs...)
}

// answer is what the first server has sent that has a file; or why none has.
type answer struct {
	server string
	body   io.ReadCloser // nil if no server has the file
	size   int64         // -1 if it is not known
	time   time.Time     // the file's; zero if it is not known
	watch  *watch
	errs   []error
}

// first asks all servers at once, and returns the first answer that is a file. The others are given up.
func (c *Client) first(ctx context.Context, servers []string, id string) answer {
	results := make(chan answer, len(servers))
	var watches []*watch
	for _, server := range servers {
		w := newWatch(ctx, c.Timeout, c.MaxTime)
		watches = append(watches, w)
		go func() {
			a, err := c.ask(w, server, id)
			if err != nil {
				if cause := context.Cause(w.ctx); cause != nil && !errors.Is(err, errNone) {
					err = cause
				}
				a = answer{errs: []error{fmt.Errorf("%s: %w", redacted(server), err)}}
			}
			a.server, a.watch = server, w
			results <- a
		}()
	}
	var none answer
	for i := range servers {
		a := <-results
		if a.body == nil {
			a.watch.end()
			none.errs = append(none.errs, a.errs...)
			continue
		}
		for _, w := range watches {
			if w != a.watch {
				w.end()
			}
		}
		go func() {
			for range len(servers) - i - 1 {
				if other := <-results; other.body != nil {
					other.body.Close()
				}
			}
		}()
		return a
	}
	return none
}

// ask asks one server.
func (c *Client) ask(w *watch, server, id string) (answer, error) {
	where, err := url.Parse(server)
	if err != nil {
		return answer{}, errors.New("not the address of a server")
	}
	where = where.JoinPath("buildid", id, "debuginfo")
	if where.Scheme == "file" {
		return fromFile(where.Path)
	}
	if where.Scheme != "https" && where.Scheme != "http" {
		return answer{}, errors.New("want https://, http:// or file://")
	}
	r, err := http.NewRequestWithContext(w.ctx, http.MethodGet, where.String(), nil)
	if err != nil {
		return answer{}, err
	}
	r.Header = c.headers.Clone()
	if host := r.Header.Get("Host"); host != "" {
		r.Host = host
	}
	if r.Header.Get("User-Agent") == "" {
		r.Header.Set("User-Agent", "sfwalk")
	}
	r.Header.Set("Accept-Encoding", "identity")
	if c.MaxSize > 0 {
		r.Header.Set("X-DEBUGINFOD-MAXSIZE", fmt.Sprint(c.MaxSize))
	}
	got, err := c.client.Do(r)
	if err != nil {
		var u *url.Error
		if errors.As(err, &u) {
			err = u.Err // without the address, which may have a password
		}
		return answer{}, err
	}
	switch got.StatusCode {
	case http.StatusOK:
		modified, _ := http.ParseTime(got.Header.Get("Last-Modified"))
		return answer{body: got.Body, size: got.ContentLength, time: modified}, nil
	case http.StatusNotFound:
		err = errNone
	case http.StatusNotAcceptable:
		err = fmt.Errorf("the file is larger than DEBUGINFOD_MAXSIZE (%d bytes)", c.MaxSize)
	default:
		err = fmt.Errorf("the server says %s", got.Status)
	}
	got.Body.Close()
	return answer{}, err
}

// store writes a file into the cache, if it is what was asked for.
func (c *Client) store(a answer, id string, progress Progress) (err error) {
	defer a.watch.end()
	defer a.body.Close()
	if a.size > c.maxSize {
		return fmt.Errorf("the file has %d bytes, more than %d: %w", a.size, c.maxSize, errUseless)
	}
	out, err := os.CreateTemp(filepath.Dir(c.Path(id)), "debuginfo.*")
	if err != nil {
		return err
	}
	defer func() {
		out.Close()
		if err != nil {
			os.Remove(out.Name())
		}
	}()
	progress.Begin(a.size, redacted(a.server))
	n := int64(0)
	buf := make([]byte, 64<<10)
	for {
		got, err := a.body.Read(buf)
		if n += int64(got); n > c.maxSize {
			return fmt.Errorf("the file has more than %d bytes: %w", c.maxSize, errUseless)
		}
		if _, err := out.Write(buf[:got]); err != nil {
			return err
		}
		a.watch.add(got)
		progress.Add(got)
		if errors.Is(err, io.EOF) {
			break
		}
		if cause := context.Cause(a.watch.ctx); err != nil && cause != nil {
			return cause
		}
		if err != nil {
			return err
		}
	}
	if err := check(out.Name(), id); err != nil {
		return fmt.Errorf("%w: %w", err, errUseless)
	}
	if !a.time.IsZero() {
		os.Chtimes(out.Name(), time.Now(), a.time)
	}
	if err := errors.Join(out.Chmod(0o400), out.Close()); err != nil {
		return err
	}
	return os.Rename(out.Name(), c.Path(id))
}

// check checks that a file is that of a build ID.
func check(path, id string) error {
	im, f, err := elfimage.OpenFile(path)
	if err != nil {
		return fmt.Errorf("what the server sends is no debug file: %w", err)
	}
	defer f.Close()
	if im.BuildID != id {
		return fmt.Errorf("the server sends the file of build ID %q", im.BuildID)
	}
	return im.SectionsError()
}

// redacted returns an address without its password, for messages.
func redacted(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return "DEBUGINFOD_URLS"
	}
	return u.Redacted()
}
