package fetch

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sfwalk/sfwalk/internal/debuginfod"
	"github.com/sfwalk/sfwalk/internal/webclient"
)

// A server's redirection to a host that nobody has named is refused, and the error says how to
// allow it. Then that host is asked, but is not told of the headers that the user has for servers.
func TestElsewhere(t *testing.T) {
	data, id := debugFile(t)
	var asked atomic.Int32
	inside := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if asked.Add(1); r.Header.Get("X-Key") != "" || r.Header.Get("Authorization") != "" || r.Header.Get("Referer") != "" {
			t.Errorf("the other host is told %v", r.Header)
		}
		w.Write(data)
	})
	named := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("X-Key") != "secret" {
			t.Errorf("headers %v", r.Header)
		}
		http.Redirect(w, r, inside+r.URL.Path, http.StatusFound)
	})
	headers := filepath.Join(t.TempDir(), "headers")
	if err := os.WriteFile(headers, []byte("X-Key: secret\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	fetch := func() (*Client, []error) {
		c, err := New(debuginfod.Config{URLs: []string{strings.Replace(named, "http://", "http://user:secret@", 1)}, Dir: filepath.Join(t.TempDir(), "cache"), Headers: headers})
		if err != nil {
			t.Fatal(err)
		}
		return c, c.All(t.Context(), []string{id}, noProgress{})
	}
	if c, errs := fetch(); len(errs) != 1 || !strings.Contains(errs[0].Error(), webclient.Variable+"="+inside) || asked.Load() > 0 || c.Missed(id) || c.Find(id) != "" {
		t.Errorf("%v, asked %d times", errs, asked.Load())
	}
	t.Setenv(webclient.Variable, inside)
	if c, errs := fetch(); len(errs) > 0 || asked.Load() != 1 || c.Find(id) == "" {
		t.Errorf("%v, asked %d times", errs, asked.Load())
	}
}

// ids returns n build IDs.
func ids(n int) (list []string) {
	for i := range n {
		list = append(list, fmt.Sprintf("%040x", i+1))
	}
	return list
}

// A server that keeps the pace for ever does not keep the user waiting for ever; nor does one with
// many files.
func TestTotalTime(t *testing.T) {
	c := client(t, serve(t, func(w http.ResponseWriter, r *http.Request) {
		for r.Context().Err() == nil {
			w.Write([]byte{0})
			w.(http.Flusher).Flush()
		}
	}))
	c.TotalTime = 50 * time.Millisecond
	errs := c.All(t.Context(), ids(20), noProgress{})
	if len(errs) != 1 || !strings.Contains(errs[0].Error(), "run it again") || !strings.Contains(errs[0].Error(), "DEBUGINFOD_MAXTIME") {
		t.Error(errs)
	}
	for _, id := range ids(20) {
		if list := leftBehind(c, id); len(list) > 0 {
			t.Errorf("left behind %q", list)
		}
	}
}

// A server whose answers are of no use is left alone, however many files there are to ask for; a
// server that has none of them is not.
func TestLeftAlone(t *testing.T) {
	for _, tt := range []struct {
		answer http.HandlerFunc
		most   int32
	}{
		{func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, "<html>") }, maxFailed + maxAtOnce},
		{func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(500) }, maxFailed + maxAtOnce},
		{http.NotFound, 50},
	} {
		var asked atomic.Int32
		c := client(t, serve(t, func(w http.ResponseWriter, r *http.Request) { asked.Add(1); tt.answer(w, r) }))
		c.All(t.Context(), ids(50), noProgress{})
		if n := asked.Load(); n > tt.most || n < maxFailed {
			t.Errorf("asked %d times, want at most %d", n, tt.most)
		}
	}
}

// A server that was too slow, or leads elsewhere, is not asked for the same file once more.
func TestNotAgain(t *testing.T) {
	for name, answer := range map[string]http.HandlerFunc{
		"silent": func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() },
		"slow": func(w http.ResponseWriter, r *http.Request) {
			w.Write([]byte{0})
			w.(http.Flusher).Flush()
			<-r.Context().Done()
		},
		"elsewhere": func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "http://192.0.2.1/", http.StatusFound)
		},
	} {
		var asked atomic.Int32
		c := client(t, serve(t, func(w http.ResponseWriter, r *http.Request) { asked.Add(1); answer(w, r) }), serve(t, http.NotFound))
		c.Retries, c.Timeout = 5, 500*time.Millisecond
		if errs := c.All(t.Context(), ids(1), noProgress{}); len(errs) != 1 || asked.Load() != 1 {
			t.Errorf("%s: asked %d times, %v", name, asked.Load(), errs)
		}
	}
}

// All files of a run together have a bound.
func TestFull(t *testing.T) {
	var sent atomic.Int64
	c := client(t, serve(t, func(w http.ResponseWriter, r *http.Request) {
		n, _ := io.Copy(w, io.LimitReader(zeros{}, 1<<20))
		sent.Add(n)
	}))
	c.maxRun = 4 << 20
	errs := c.All(t.Context(), ids(50), noProgress{})
	if len(errs) == 0 || !strings.Contains(fmt.Sprint(errs), "more than 4 MiB") || sent.Load() > (maxFailed+maxAtOnce)<<20 {
		t.Errorf("%v, %d bytes", errs, sent.Load())
	}
}

// Links in the cache lead nowhere else.
func TestLinks(t *testing.T) {
	data, id := debugFile(t)
	outside := t.TempDir()
	c := client(t, serve(t, func(w http.ResponseWriter, r *http.Request) { w.Write(data) }))
	if err := os.Symlink(outside, filepath.Join(c.Dir, id)); err != nil {
		t.Fatal(err)
	}
	if errs := c.All(t.Context(), []string{id}, noProgress{}); len(errs) != 1 {
		t.Error(errs)
	}
	if list, err := os.ReadDir(outside); err != nil || len(list) > 0 {
		t.Errorf("a link is followed: %v, %v", list, err)
	}
}
