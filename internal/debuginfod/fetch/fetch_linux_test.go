package fetch

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sfwalk/sfwalk/format/elf"
	"github.com/sfwalk/sfwalk/internal/debuginfod"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
	"github.com/sfwalk/sfwalk/internal/webclient"
)

type noProgress struct{}

func (noProgress) Begin(int64, string) {}
func (noProgress) Add(int)             {}

// debugFile returns a file with a build ID.
func debugFile(t *testing.T) (data []byte, id string) {
	t.Helper()
	path := gdbtest.Build(t, "threads.c", "-O2", "-g", "-Wl,--build-id=sha1")
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	im, err := elf.Open(bytes.NewReader(data), int64(len(data)))
	if err != nil || im.BuildID == "" {
		t.Fatal(im, err)
	}
	return data, im.BuildID
}

func client(t *testing.T, servers ...string) *Client {
	t.Helper()
	c, err := New(debuginfod.Config{URLs: servers, Dir: filepath.Join(t.TempDir(), "cache"), Retries: 1})
	if err != nil {
		t.Fatal(err)
	}
	c.pause = 0
	return c
}

func serve(t *testing.T, h http.HandlerFunc) string {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return s.URL
}

// leftBehind returns the files in the folder of a build ID.
func leftBehind(c *Client, id string) (names []string) {
	list, _ := os.ReadDir(filepath.Dir(c.Path(id)))
	for _, f := range list {
		names = append(names, f.Name())
	}
	return names
}

// A file comes from the first server that has it, whatever the others do.
func TestFetch(t *testing.T) {
	data, id := debugFile(t)
	modified := time.Date(2024, 5, 6, 7, 8, 9, 0, time.UTC)
	var asked atomic.Int32
	good := serve(t, func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		if r.URL.Path != "/x/buildid/"+id+"/debuginfo" || r.Header.Get("User-Agent") != "sfwalk" {
			t.Errorf("asked for %s by %q", r.URL.Path, r.Header.Get("User-Agent"))
		}
		w.Header().Set("Last-Modified", modified.Format(http.TimeFormat))
		w.Write(data)
	}) + "/x"
	none := serve(t, http.NotFound)
	fails := serve(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(500) })
	never := serve(t, func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	moved := serve(t, func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, good+r.URL.Path, http.StatusFound) })
	t.Setenv(webclient.Variable, strings.TrimSuffix(good, "/x"))
	folder := t.TempDir()
	if err := os.MkdirAll(filepath.Join(folder, "buildid", id), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, "buildid", id, "debuginfo"), data, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, servers := range map[string][]string{
		"one":                   {good},
		"one of many":           {none, fails, never, "http://127.0.0.1:1", "gopher://example", "http://[bad", good},
		"by a redirection":      {none, moved},
		"a folder":              {"file://" + folder},
		"a folder after others": {"file:///nowhere", none, "file://" + folder},
	} {
		c := client(t, servers...)
		if errs := c.All(t.Context(), []string{id, id}, noProgress{}); len(errs) > 0 {
			t.Errorf("%s: %v", name, errs)
		}
		got, err := os.ReadFile(c.Path(id))
		if err != nil || !bytes.Equal(got, data) || c.Find(id) != c.Path(id) {
			t.Errorf("%s: %d bytes, %v", name, len(got), err)
		}
		info, err := os.Stat(c.Path(id))
		if err != nil || info.Mode().Perm() != 0o400 || name == "one" && !info.ModTime().Equal(modified) {
			t.Errorf("%s: %v, %v", name, info, err)
		}
		if list := leftBehind(c, id); len(list) != 1 {
			t.Errorf("%s: left behind %q", name, list)
		}
		before := asked.Load()
		if errs := c.All(t.Context(), []string{id}, noProgress{}); len(errs) > 0 || asked.Load() != before {
			t.Errorf("%s: asked again, %v", name, errs)
		}
	}
}

// A server whose connection breaks is asked once more; one that sends what is of no use is not.
func TestRetry(t *testing.T) {
	data, id := debugFile(t)
	var asked atomic.Int32
	breaks := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		if asked.Add(1) == 1 {
			w.Header().Set("Content-Length", fmt.Sprint(len(data)))
			w.Write(data[:len(data)/2])
			return
		}
		w.Write(data)
	})
	c := client(t, breaks)
	if errs := c.All(t.Context(), []string{id}, noProgress{}); len(errs) > 0 || asked.Load() != 2 || c.Find(id) == "" {
		t.Errorf("asked %d times, %v", asked.Load(), errs)
	}
	asked.Store(0)
	page := serve(t, func(w http.ResponseWriter, _ *http.Request) { asked.Add(1); fmt.Fprint(w, "<html>") })
	c = client(t, page)
	if errs := c.All(t.Context(), []string{id}, noProgress{}); len(errs) != 1 || asked.Load() != 1 {
		t.Errorf("asked %d times, %v", asked.Load(), errs)
	}
}

// What no server has is noted; but not if a server could not tell.
func TestNone(t *testing.T) {
	_, id := debugFile(t)
	var asked atomic.Int32
	none := serve(t, func(w http.ResponseWriter, r *http.Request) { asked.Add(1); http.NotFound(w, r) })
	c := client(t, none, "file:///nowhere")
	for range 2 {
		if errs := c.All(t.Context(), []string{id}, noProgress{}); len(errs) > 0 || !c.Missed(id) || asked.Load() != 1 {
			t.Errorf("missed %v, asked %d times, %v", c.Missed(id), asked.Load(), errs)
		}
	}
	var failed atomic.Int32
	fails := serve(t, func(w http.ResponseWriter, _ *http.Request) { failed.Add(1); w.WriteHeader(503) })
	c = client(t, none, fails)
	errs := c.All(t.Context(), []string{id}, noProgress{})
	if c.Missed(id) || len(errs) != 1 || !strings.Contains(errs[0].Error(), "503") || !strings.Contains(errs[0].Error(), id) {
		t.Errorf("missed %v, %v", c.Missed(id), errs)
	}
	if failed.Load() != 2 { // one attempt more: Retries
		t.Errorf("%d attempts", failed.Load())
	}
}

// Answers that are of no use: nothing of them is kept, the reason is told, and another server's
// file is used.
func TestBadServers(t *testing.T) {
	data, id := debugFile(t)
	other := bytes.Clone(data)
	at := bytes.Index(other, unhex(t, id))
	other[at] ^= 1
	bomb := func() []byte {
		var b bytes.Buffer
		z := gzip.NewWriter(&b)
		io.Copy(z, io.LimitReader(zeros{}, 64<<20))
		z.Close()
		return b.Bytes()
	}()
	for name, tt := range map[string]struct {
		answer http.HandlerFunc
		want   string
	}{
		"another build": {func(w http.ResponseWriter, _ *http.Request) { w.Write(other) }, "build ID"},
		"a page":        {func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "<html>") }, "no debug file"},
		"empty":         {func(http.ResponseWriter, *http.Request) {}, "no debug file"},
		"cut short": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", fmt.Sprint(len(data)))
			w.Write(data[:len(data)/2])
		}, "EOF"},
		"its beginning": {func(w http.ResponseWriter, _ *http.Request) { w.Write(data[:len(data)/2]) }, ""},
		"too large": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "2000000")
			w.Write(data)
		}, "more than"},
		"endless": {func(w http.ResponseWriter, _ *http.Request) {
			w.Write(data)
			for {
				if _, err := w.Write(make([]byte, 64<<10)); err != nil {
					return
				}
			}
		}, "more than"},
		"slow": {func(w http.ResponseWriter, r *http.Request) {
			w.Write(data[:100])
			w.(http.Flusher).Flush()
			<-r.Context().Done()
		}, "too slow"},
		"silent": {func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }, "too slow"},
		"a bomb": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Encoding", "gzip")
			w.Write(bomb)
		}, "no debug file"},
		"a redirection to a file": {func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "file:///etc/passwd", http.StatusFound)
		}, "file:"},
		"a redirection to itself":   {func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, r.URL.Path, http.StatusFound) }, "redirections"},
		"a redirection to no place": {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusFound) }, "302"},
	} {
		t.Run(name, func(t *testing.T) {
			bad := serve(t, tt.answer)
			limited := func(servers ...string) *Client {
				c := client(t, servers...)
				c.maxSize = 1 << 20
				c.Retries = 0
				if strings.Contains(tt.want, "slow") {
					c.Timeout = 20 * time.Millisecond
				}
				return c
			}
			c := limited(bad)
			errs := c.All(t.Context(), []string{id}, noProgress{})
			if len(errs) != 1 || !strings.Contains(errs[0].Error(), tt.want) {
				t.Errorf("%v, want %q", errs, tt.want)
			}
			if list := leftBehind(c, id); len(list) != 0 {
				t.Errorf("left behind %q", list)
			}
			switch {
			case strings.Contains(tt.want, "slow"):
				return // a good one on a busy machine may be as slow
			case name == "endless", name == "a redirection to itself":
				return // the good one would wait for its end
			}
			waits := make(chan struct{}) // the good server answers when the bad one has
			first := serve(t, func(w http.ResponseWriter, r *http.Request) {
				defer close(waits)
				tt.answer(w, r)
			})
			good := serve(t, func(w http.ResponseWriter, r *http.Request) {
				select {
				case <-waits:
				case <-r.Context().Done():
				}
				w.Write(data)
			})
			c = limited(first, good)
			errs = c.All(t.Context(), []string{id}, noProgress{})
			if got, err := os.ReadFile(c.Path(id)); len(errs) > 0 || err != nil || !bytes.Equal(got, data) {
				t.Errorf("with a good server: %v, %v", errs, err)
			}
		})
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

func unhex(t *testing.T, s string) []byte {
	t.Helper()
	var b []byte
	if _, err := fmt.Sscanf(s, "%x", &b); err != nil {
		t.Fatal(err)
	}
	return b
}

// Ctrl-C ends the download at once, and leaves nothing.
func TestInterrupted(t *testing.T) {
	data, id := debugFile(t)
	ctx, cancel := context.WithCancel(t.Context())
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.Write(data[:len(data)/2])
		w.(http.Flusher).Flush()
		cancel()
		<-r.Context().Done()
	})
	c := client(t, s)
	if errs := c.All(ctx, []string{id}, noProgress{}); len(errs) > 0 || len(leftBehind(c, id)) > 0 || c.Missed(id) {
		t.Errorf("%v, left behind %q", errs, leftBehind(c, id))
	}
	if errs := c.All(ctx, []string{id}, noProgress{}); len(errs) > 0 {
		t.Error(errs)
	}
}

// Headers of the user's file are sent, and what the file's size and time may be.
func TestHeaders(t *testing.T) {
	data, id := debugFile(t)
	path := filepath.Join(t.TempDir(), "headers")
	if err := os.WriteFile(path, []byte("Authorization: Bearer x:y\n\n  \nX-Mine:1\nUser-Agent: other\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		h := r.Header
		if h.Get("Authorization") != "Bearer x:y" || h.Get("X-Mine") != "1" || h.Get("User-Agent") != "other" || h.Get("X-Debuginfod-Maxsize") != "1000" {
			t.Errorf("headers %v", h)
		}
		if len(data) > 1000 {
			w.WriteHeader(406) // as debuginfod(8)
		}
	})
	c, err := New(debuginfod.Config{URLs: []string{s}, Dir: t.TempDir(), Headers: path, MaxSize: 1000, MaxTime: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	if errs := c.All(t.Context(), []string{id}, noProgress{}); len(errs) != 1 || !strings.Contains(errs[0].Error(), "DEBUGINFOD_MAXSIZE") || c.Missed(id) {
		t.Errorf("%v", errs)
	}
	if err := os.WriteFile(path, []byte("no header\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, bad := range []string{path, path + "x"} {
		if _, err := New(debuginfod.Config{Dir: t.TempDir(), Headers: bad}); err == nil || !strings.Contains(err.Error(), "DEBUGINFOD_HEADERS_FILE") {
			t.Errorf("%s: %v", bad, err)
		}
	}
	silent := serve(t, func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	c = client(t, silent)
	c.MaxTime, c.Retries = time.Millisecond, 0
	if errs := c.All(t.Context(), []string{id}, noProgress{}); len(errs) != 1 || !strings.Contains(errs[0].Error(), "DEBUGINFOD_MAXTIME") {
		t.Errorf("%v", errs)
	}
	if _, err := New(debuginfod.Config{}); err == nil {
		t.Error("no folder for the files, and no error")
	}
	c = client(t, "http://user:secret@127.0.0.1:1")
	if errs := c.All(t.Context(), []string{id}, noProgress{}); len(errs) != 1 || strings.Contains(errors.Join(errs...).Error(), "secret") {
		t.Errorf("%v", errs)
	}
}
