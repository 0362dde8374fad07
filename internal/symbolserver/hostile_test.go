package symbolserver

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sfwalk/sfwalk/format/breakpad"
	"github.com/sfwalk/sfwalk/internal/webclient"
)

// serve starts a server until the test ends.
func serve(t *testing.T, answer http.HandlerFunc) (address string) {
	t.Helper()
	web := httptest.NewServer(answer)
	t.Cleanup(func() {
		web.CloseClientConnections()
		web.Close()
	})
	return web.URL
}

// left returns the files that a server's folder has, with their sizes.
func left(t *testing.T, s *Server) (list []string) {
	t.Helper()
	filepath.Walk(s.Dir(), func(path string, info os.FileInfo, err error) error {
		if err == nil && info.Mode().IsRegular() {
			list = append(list, fmt.Sprintf("%s: %d bytes", info.Name(), info.Size()))
		}
		return nil
	})
	return list
}

// TestBomb: a few bytes do not become a file of any size, and the error says what to do. A file
// whose bytes were really sent is taken.
func TestBomb(t *testing.T) {
	var body bytes.Buffer
	z := gzip.NewWriter(&body)
	line := strings.Repeat("FUNC 1 1 0 \n", 1<<16)
	fmt.Fprintf(z, "MODULE Linux x86_64 %s lib\n", id)
	for range 100 {
		io.WriteString(z, line)
	}
	z.Close()
	s := server(t, serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Encoding", "gzip")
		w.Write(body.Bytes())
	}), t.TempDir())
	if text, errs := fetch(t, s); text != nil || !strings.Contains(errs, fmt.Sprintf("it has %d bytes as it is sent, and becomes more than ", body.Len())) || !strings.Contains(errs, "--symbols") {
		t.Errorf("%d bytes become %d: %s", body.Len(), len(text), errs)
	}
	if list := left(t, s); len(list) > 0 {
		t.Errorf("left: %q", list)
	}
	random := rand.New(rand.NewPCG(1, 2))
	var real bytes.Buffer
	fmt.Fprintf(&real, "MODULE Linux x86_64 %s lib\n", id)
	for real.Len() < freeSize+freeSize/4 {
		fmt.Fprintf(&real, "FUNC %x 10 0 std::vector<ns::Class%d>::function%d(std::string const&)\n", random.Uint32(), random.Uint32N(1000), random.Uint32N(1000))
	}
	packed := zipped(real.Bytes())
	s = server(t, serve(t, func(w http.ResponseWriter, r *http.Request) { w.Write(packed) }), t.TempDir())
	if text, errs := fetch(t, s); !bytes.Equal(text, real.Bytes()) || errs != "" {
		t.Errorf("%d of %d bytes: %s", len(text), real.Len(), errs)
	}
}

// TestBombs: many files that are small as they are sent do not become any size together.
func TestBombs(t *testing.T) {
	packed := zipped([]byte(fmt.Sprintf("MODULE Linux x86_64 %s lib\n", id) + strings.Repeat("FUNC 1 1 0 \n", freeSize/50)))
	var sent atomic.Int64
	s := server(t, serve(t, func(w http.ResponseWriter, r *http.Request) {
		sent.Add(int64(len(packed)))
		w.Write(packed)
	}), t.TempDir())
	for i := range 20 { // one after the other
		s.Fetch(t.Context(), []breakpad.Module{{Name: fmt.Sprint(i), ID: id}}, &quiet{})
	}
	size := int64(0)
	filepath.Walk(s.Dir(), func(_ string, info os.FileInfo, err error) error {
		if err == nil && info.Mode().IsRegular() {
			size += info.Size()
		}
		return nil
	})
	if size > freeSize+maxRatio*sent.Load() || size < freeSize/2 || len(s.Errors()) == 0 {
		t.Errorf("%d bytes become %d: %v", sent.Load(), size, s.Errors())
	}
}

// TestDribble: a server that sends one byte after the other gains no time by that, and is not asked
// once more for what it sends so.
func TestDribble(t *testing.T) {
	var asked atomic.Int32
	s := server(t, serve(t, func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		w.Header().Set("ETag", `"x"`)
		for r.Context().Err() == nil {
			w.Write([]byte("M"))
			w.(http.Flusher).Flush()
		}
	}), t.TempDir())
	s.pace = webclient.Pace{Least: 1 << 40, Span: 50 * time.Millisecond}
	if text, errs := fetch(t, s); text != nil || !strings.Contains(errs, "too slow") || asked.Load() != 1 {
		t.Errorf("asked %d times: %d bytes, %s", asked.Load(), len(text), errs)
	}
}

// TestTime: a server that keeps the pace for ever, or answers each of many questions late, does not
// keep the user waiting for ever. What was fetched in part is fetched on by the next run.
func TestTime(t *testing.T) {
	var asked atomic.Int32
	address := serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("ETag", `"x"`)
		if asked.Add(1); r.Header.Get("Range") != "" {
			w.Header().Set("Content-Range", fmt.Sprintf("bytes %s%d/%d", strings.TrimPrefix(r.Header.Get("Range"), "bytes="), len(content)-1, len(content)))
			w.WriteHeader(http.StatusPartialContent)
			var from int
			fmt.Sscanf(r.Header.Get("Range"), "bytes=%d-", &from)
			w.Write(content[from:])
			return
		}
		for i := 0; r.Context().Err() == nil; i++ {
			if i < len(content)-1 {
				w.Write(content[i : i+1])
			}
			w.(http.Flusher).Flush()
		}
	})
	cache := t.TempDir()
	s := server(t, address, cache)
	s.begin.Do(func() { s.end = time.Now().Add(100 * time.Millisecond) })
	if text, errs := fetch(t, s); text != nil || !strings.Contains(errs, "the next run goes on") {
		t.Errorf("%d bytes, %s", len(text), errs)
	}
	before := asked.Load()
	var many []breakpad.Module
	for i := range 20 {
		many = append(many, breakpad.Module{Name: fmt.Sprint(i), ID: id})
	}
	if s.Fetch(t.Context(), many, &quiet{}); asked.Load() > before {
		t.Error("it is asked when the time is over")
	}
	if text, errs := fetch(t, server(t, address, cache)); !bytes.Equal(text, content) || errs != "" {
		t.Errorf("the next run: %d bytes, %s", len(text), errs)
	}
}

// TestFull: all files of a run together have a bound.
func TestFull(t *testing.T) {
	var asked atomic.Int32
	s := server(t, serve(t, func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		fmt.Fprintf(w, "MODULE Linux x86_64 %s x\n", id)
		w.Write(content)
	}), t.TempDir())
	s.left.Store(int64(5 * len(content)))
	for i := range 50 { // one after the other
		s.Fetch(t.Context(), []breakpad.Module{{Name: fmt.Sprint(i), ID: id}}, &quiet{})
	}
	if errs := fmt.Sprint(s.Errors()); asked.Load() > 4 || asked.Load() < 2 || !strings.Contains(errs, "run it again") {
		t.Errorf("asked %d times: %s", asked.Load(), errs)
	}
}

// TestElsewhere: another host is asked only if the user has named it, and is not told the user's
// key.
func TestElsewhere(t *testing.T) {
	var asked atomic.Int32
	other := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if asked.Add(1); strings.Contains(fmt.Sprint(r.Header, r.URL), "secret") {
			t.Errorf("the other host is told %v of %v", r.Header, r.URL)
		}
		w.Write(content)
	})
	named := serve(t, func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, other+r.URL.Path, http.StatusFound) })
	named = strings.Replace(named, "http://", "http://user:secret@", 1) + "/?key=secret"
	if text, errs := fetch(t, server(t, named, t.TempDir())); text != nil || asked.Load() > 0 || !strings.Contains(errs, webclient.Variable+"="+other) {
		t.Errorf("asked %d times: %d bytes, %s", asked.Load(), len(text), errs)
	}
	s, err := New(named, t.TempDir(), "/a/folder", other)
	if err != nil {
		t.Fatal(err)
	}
	if text, errs := fetch(t, s); !bytes.Equal(text, content) || errs != "" {
		t.Errorf("with the other one named: %d bytes, %s", len(text), errs)
	}
	t.Setenv(webclient.Variable, other)
	if text, errs := fetch(t, server(t, named, t.TempDir())); !bytes.Equal(text, content) || errs != "" {
		t.Errorf("with the other one allowed: %d bytes, %s", len(text), errs)
	}
	t.Setenv(webclient.Variable, "no/host")
	if _, err := New(named, t.TempDir()); err == nil {
		t.Error("a mistake in the variable is no error")
	}
}
