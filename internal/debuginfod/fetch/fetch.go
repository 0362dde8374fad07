// Package fetch fetches debug files from debuginfod servers into the cache that elfutils' clients
// share.
//
// A server is not trusted with more than its answer: a file counts only if it is an ELF file of the
// build ID that was asked for, and sizes and times are bounded. Nobody waits for a server while a
// process is held: who needs files fetches them before, and then finds them in the cache.
package fetch

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sfwalk/sfwalk/format/elf"
	"github.com/sfwalk/sfwalk/internal/debuginfod"
	"github.com/sfwalk/sfwalk/internal/regular"
	"github.com/sfwalk/sfwalk/internal/webclient"
)

const (
	maxSize    = 4 << 30   // bytes of a file, unless the user says otherwise
	leastBytes = 100 << 10 // that a server must send in each span of the timeout
	maxAtOnce  = 4         // files
	maxRun     = 16 << 30  // bytes of all files of one call of All
	maxFailed  = 6         // answers in a row that are of no use, until a server is left alone
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
	maxRun  int64
	left    atomic.Int64 // of maxRun

	mu     sync.Mutex
	failed map[string]int // answers in a row, by the server
}

// New returns a client of the servers in the environment.
func New(c debuginfod.Config) (*Client, error) {
	x := &Client{Config: c, pause: time.Second, maxSize: maxSize, maxRun: maxRun, failed: map[string]int{}}
	if c.MaxSize > 0 {
		x.maxSize = c.MaxSize
	}
	var err error
	if x.headers, err = readHeaders(c.Headers); err != nil {
		return nil, fmt.Errorf("DEBUGINFOD_HEADERS_FILE: %w", err)
	}
	if x.client, err = webclient.New(c.URLs, webclient.Options{}); err != nil {
		return nil, err
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
	f, err := regular.Open(path)
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

// All fetches the debug files of build IDs that the cache does not have, several at once. The
// errors say what has failed; that no server has a file is no error.
func (c *Client) All(ctx context.Context, buildIDs []string, progress Progress) []error {
	outer := ctx
	if c.TotalTime > 0 {
		var cancel func()
		late := fmt.Errorf("not all debug files are there after %v: run it again for the rest, or set DEBUGINFOD_MAXTIME", c.TotalTime)
		ctx, cancel = context.WithTimeoutCause(ctx, c.TotalTime, late)
		defer cancel()
	}
	c.left.Store(c.maxRun)
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
	if ctx.Err() != nil && outer.Err() == nil {
		errs = append(errs, context.Cause(ctx))
	}
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
	root, err := os.OpenRoot(c.Dir) // no link leads out of it
	if err != nil {
		return err
	}
	defer root.Close()
	if err := root.MkdirAll(id, 0o700); err != nil {
		return err
	}
	servers := c.inUse(c.URLs)
	none := len(c.URLs)
	var errs, last []error // of servers that are given up, and of the last attempt
	for attempt := 0; len(servers) > 0; servers = c.inUse(servers) {
		a := c.first(ctx, servers, id)
		last = a.errs
		if a.body == nil {
			all, final := true, true
			for _, err := range a.errs {
				is := errors.Is(err, errNone)
				all = all && is
				final = final && (is || errors.As(err, new(*webclient.SlowError)) || errors.Is(err, webclient.ErrElsewhere))
			}
			if all && len(servers) == none {
				return c.Miss(id)
			}
			if all {
				return errors.Join(errs...) // of the servers that had it
			}
			if attempt++; attempt > c.Retries || final || ctx.Err() != nil {
				break
			}
			select {
			case <-ctx.Done():
			case <-time.After(c.pause):
			}
			continue
		}
		err := c.store(root, a, id, progress)
		if ctx.Err() == nil {
			c.judge(a.server, err)
		}
		if err == nil || ctx.Err() != nil {
			return err
		}
		same := errors.Is(err, errUseless) || errors.As(err, new(*webclient.SlowError)) // another time
		err = fmt.Errorf("%s: %w", redacted(a.server), err)
		if attempt < c.Retries && !same { // the connection has broken
			attempt++
			last = []error{err}
			continue
		}
		errs = append(errs, err)
		servers = slices.DeleteFunc(servers, func(s string) bool { return s == a.server })
	}
	return errors.Join(append(errs, last...)...)
}

// inUse returns the servers of a list that are not left alone. The errors of other files say why
// some are.
func (c *Client) inUse(servers []string) (list []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, server := range servers {
		if c.failed[server] < maxFailed {
			list = append(list, server)
		}
	}
	return list
}

// judge notes what the answer of a server was worth.
func (c *Client) judge(server string, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.failed[server]++; err == nil || errors.Is(err, errNone) {
		c.failed[server] = 0
	}
}

// answer is what the first server has sent that has a file; or why none has.
type answer struct {
	server string
	body   io.ReadCloser // nil if no server has the file
	size   int64         // -1 if it is not known
	time   time.Time     // the file's; zero if it is not known
	watch  *webclient.Watch
	errs   []error
}

// first asks all servers at once, and returns the first answer that is a file. The others are given
// up.
func (c *Client) first(ctx context.Context, servers []string, id string) answer {
	results := make(chan answer, len(servers))
	var watches []*webclient.Watch
	for _, server := range servers {
		w := webclient.NewWatch(ctx)
		w.Start(webclient.Pace{
			Least: leastBytes, Span: c.Timeout, SlowHint: " (see DEBUGINFOD_TIMEOUT)",
			Whole: c.MaxTime, WholeHint: " (DEBUGINFOD_MAXTIME)",
		})
		watches = append(watches, w)
		go func() {
			a, err := c.ask(w, server, id)
			if err != nil {
				if cause := context.Cause(w.Context); cause != nil && !errors.Is(err, errNone) {
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
			if ctx.Err() == nil {
				c.judge(a.server, errors.Join(a.errs...))
			}
			a.watch.End()
			none.errs = append(none.errs, a.errs...)
			continue
		}
		for _, w := range watches {
			if w != a.watch {
				w.End()
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
func (c *Client) ask(w *webclient.Watch, server, id string) (answer, error) {
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
	r, err := http.NewRequestWithContext(w.Context, http.MethodGet, where.String(), nil)
	if err != nil {
		return answer{}, err
	}
	r.Header = c.headers.Clone()
	if host := r.Header.Get("Host"); host != "" {
		r.Host = host
	}
	r.Header.Set("Accept-Encoding", "identity")
	if c.MaxSize > 0 {
		r.Header.Set("X-DEBUGINFOD-MAXSIZE", fmt.Sprint(c.MaxSize))
	}
	got, err := webclient.Do(c.client, r)
	if err != nil {
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
func (c *Client) store(root *os.Root, a answer, id string, progress Progress) (err error) {
	defer a.watch.End()
	defer a.body.Close()
	if a.size > c.maxSize {
		return fmt.Errorf("the file has %d bytes, more than %d: %w", a.size, c.maxSize, errUseless)
	}
	file := filepath.Join(id, filepath.Base(c.Path(id)))
	name := fmt.Sprintf("%s.%016x", file, rand.Uint64())
	out, err := root.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	defer func() {
		out.Close()
		if err != nil {
			root.Remove(name)
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
		if c.left.Add(-int64(got)) < 0 {
			const why = "the servers have sent more than %d MiB: run it again for the rest: %w"
			return fmt.Errorf(why, c.maxRun>>20, errUseless)
		}
		if _, err := out.Write(buf[:got]); err != nil {
			return err
		}
		a.watch.Add(got)
		progress.Add(got)
		if errors.Is(err, io.EOF) {
			break
		}
		if cause := context.Cause(a.watch.Context); err != nil && cause != nil {
			return cause
		}
		if err != nil {
			return err
		}
	}
	if err := check(out, n, id); err != nil {
		return fmt.Errorf("%w: %w", err, errUseless)
	}
	if !a.time.IsZero() {
		root.Chtimes(name, time.Now(), a.time)
	}
	if err := errors.Join(out.Chmod(0o400), out.Close()); err != nil {
		return err
	}
	return root.Rename(name, file)
}

// check checks that a file of size bytes has a build ID.
func check(f *os.File, size int64, id string) error {
	im, err := elf.Open(f, size)
	if err != nil {
		return fmt.Errorf("what the server sends is no debug file: %w", err)
	}
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
