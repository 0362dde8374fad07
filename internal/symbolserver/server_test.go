package symbolserver

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sfwalk/sfwalk/format/breakpad"
)

const id = "00112233445566778899AABBCCDDEEFF0"

var content = []byte("MODULE Linux x86_64 " + id + " lib\n" + strings.Repeat("PUBLIC 10 0 a symbol\n", 20_000))

// quiet counts what is fetched.
type quiet struct{ bytes atomic.Int64 }

func (*quiet) Begin(int64) {}
func (q *quiet) Add(n int) { q.bytes.Add(int64(n)) }

func server(t *testing.T, address, cache string) *Server {
	t.Helper()
	s, err := New(address, cache)
	if err != nil {
		t.Fatal(err)
	}
	s.pause = 0
	return s
}

// fetch fetches the module lib, and returns what is in the store then.
func fetch(t *testing.T, s *Server) (text []byte, errs string) {
	t.Helper()
	s.Fetch(t.Context(), []breakpad.Module{{Name: "lib", ID: id}}, &quiet{})
	text, _ = os.ReadFile(filepath.Join(s.Dir(), "lib", id, "lib.sym"))
	for _, err := range s.Errors() {
		errs += err.Error() + "\n"
	}
	return text, errs
}

func zipped(b []byte) []byte {
	var out bytes.Buffer
	z := gzip.NewWriter(&out)
	z.Write(b)
	z.Close()
	return out.Bytes()
}

// TestFetch: a file comes whole, whatever way a server sends it, and is asked for once.
func TestFetch(t *testing.T) {
	for name, answer := range map[string]http.HandlerFunc{
		"plain": func(w http.ResponseWriter, r *http.Request) { w.Write(content) },
		"compressed": func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Encoding", "gzip")
			w.Write(zipped(content))
		},
		"compressed in the store": func(w http.ResponseWriter, r *http.Request) { w.Write(zipped(content)) },
		"elsewhere": func(w http.ResponseWriter, r *http.Request) {
			if !strings.HasPrefix(r.URL.Path, "/bucket") {
				http.Redirect(w, r, "/bucket"+r.URL.Path, http.StatusFound)
				return
			}
			w.Write(content)
		},
	} {
		asked := 0
		web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if asked++; !strings.HasSuffix(r.URL.Path, "/try/lib/"+id+"/lib.sym") {
				t.Errorf("%s: %s", name, r.URL.Path)
			}
			answer(w, r)
		}))
		cache := t.TempDir()
		for _, address := range []string{web.URL + "/try", web.URL + "/try/"} {
			if text, errs := fetch(t, server(t, address, cache)); !bytes.Equal(text, content) || errs != "" {
				t.Errorf("%s: %d bytes, %s", name, len(text), errs)
			}
		}
		if asked > 2 {
			t.Errorf("%s: asked %d times", name, asked)
		}
		web.Close()
	}
}

// TestNone: what a server does not have is not asked for again at once, also by another run.
func TestNone(t *testing.T) {
	for _, status := range []int{404, 403, 410} {
		asked := 0
		web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if strings.HasPrefix(r.URL.Path, "/there/") {
				fmt.Fprintf(w, "MODULE Linux x86_64 %s there\n", id)
				return
			}
			asked++
			w.WriteHeader(status)
		}))
		cache := t.TempDir()
		for range 2 {
			s := server(t, web.URL, cache)
			s.Fetch(t.Context(), []breakpad.Module{{Name: "there", ID: id}}, &quiet{})
			if text, errs := fetch(t, s); text != nil || errs != "" {
				t.Errorf("%d: %s", status, errs)
			}
		}
		if asked != 1 {
			t.Errorf("%d: asked %d times", status, asked)
		}
		none := filepath.Join(server(t, web.URL, cache).Dir(), "lib", id, ".none")
		then := time.Now().Add(-2 * remember)
		if err := os.Chtimes(none, then, then); err != nil {
			t.Error(err)
		}
		if fetch(t, server(t, web.URL, cache)); asked != 2 {
			t.Errorf("%d: asked %d times, later", status, asked)
		}
		web.Close()
	}
}

// TestForbidden: a server that forbids each file may want a key: the user is told, and it is asked
// again.
func TestForbidden(t *testing.T) {
	asked := 0
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { asked++; w.WriteHeader(403) }))
	defer web.Close()
	cache := t.TempDir()
	for range 2 {
		if text, errs := fetch(t, server(t, web.URL, cache)); text != nil || !strings.Contains(errs, "403 Forbidden of each of 1 files") {
			t.Errorf("%q, %q", text, errs)
		}
	}
	if asked != 2 {
		t.Errorf("asked %d times", asked)
	}
}

// TestNames: a server gets the bytes of each name, whether it takes + for a blank or not, and
// nothing of a name is taken for another part of the address.
func TestNames(t *testing.T) {
	names := []string{
		"libstdc++.so.6", "a b", "100%", "%41", "%2e%2e", "%2F..%2F..%2Fetc", "what?", "a?b=c", "a#b", "a&b;c", "..x", "...", "~x", "tab\tnewline\nreturn\r", "\x01\x7f",
		"ünï", "\xff\xfe", "[vdso]", `"quoted'`, "a:b@c", "http:x",
	}
	for _, decode := range []func(string) (string, error){url.PathUnescape, url.QueryUnescape} {
		var got []string
		web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			path, err := decode(r.URL.EscapedPath())
			if err != nil || r.URL.RawQuery != "key=k" {
				t.Errorf("%s: %v", r.RequestURI, err)
			}
			got = append(got, path)
			w.WriteHeader(404)
		}))
		cache := t.TempDir()
		for _, name := range names {
			got = nil
			s := server(t, web.URL+"/a%20b/?key=k", cache)
			s.Fetch(t.Context(), []breakpad.Module{{Name: name, ID: id}}, &quiet{})
			if want := "/a b/" + name + "/" + id + "/" + name + ".sym"; len(got) != 1 || got[0] != want {
				t.Errorf("%q, want %q: %v", got, want, s.Errors())
			}
		}
		web.Close()
	}
}

// TestResume: a connection that breaks costs what is missing, in the same run and in the next.
func TestResume(t *testing.T) {
	for _, compressed := range []bool{false, true} {
		body := content
		if compressed {
			body = zipped(content)
		}
		var sent int
		var ranges []string
		web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			from := 0
			w.Header().Set("ETag", `"tag"`)
			if compressed {
				w.Header().Set("Content-Encoding", "gzip")
			}
			ranges = append(ranges, r.Header.Get("Range"))
			if _, err := fmt.Sscanf(r.Header.Get("Range"), "bytes=%d-", &from); err == nil && r.Header.Get("If-Range") == `"tag"` {
				w.Header().Set("Content-Range", fmt.Sprintf("bytes %d-%d/%d", from, len(body)-1, len(body)))
				w.Header().Set("Content-Length", fmt.Sprint(len(body)-from))
				w.WriteHeader(http.StatusPartialContent)
			} else {
				w.Header().Set("Content-Length", fmt.Sprint(len(body)))
			}
			n := min(len(body)-from, len(body)/5+1)
			sent += n
			w.Write(body[from : from+n])
			if from+n < len(body) {
				w.(http.Flusher).Flush()
				panic(http.ErrAbortHandler)
			}
		}))
		cache := t.TempDir()
		text, errs := fetch(t, server(t, web.URL, cache))
		if text != nil || !strings.Contains(errs, "EOF") {
			t.Errorf("%d bytes, %s", len(text), errs)
		}
		if text, errs := fetch(t, server(t, web.URL, cache)); !bytes.Equal(text, content) || errs != "" || sent != len(body) || len(ranges) != 5 {
			t.Errorf("%d bytes, %s: %d bytes were sent, %q", len(text), errs, sent, ranges)
		}
		if list, _ := os.ReadDir(filepath.Join(server(t, web.URL, cache).Dir(), "lib", id)); len(list) != 1 {
			t.Errorf("what is left: %v", list)
		}
		web.Close()
	}
}

// TestResumeOther: a part of what has changed meanwhile is thrown away.
func TestResumeOther(t *testing.T) {
	tag := 0
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		tag++
		w.Header().Set("ETag", fmt.Sprintf(`"%d"`, tag))
		w.Header().Set("Content-Length", fmt.Sprint(len(content)))
		if r.Header.Get("Range") == "" {
			w.Write(bytes.ToLower(content)[:len(content)/2])
			w.(http.Flusher).Flush()
			panic(http.ErrAbortHandler)
		}
		w.Write(content)
	}))
	defer web.Close()
	if text, errs := fetch(t, server(t, web.URL, t.TempDir())); !bytes.Equal(text, content) || errs != "" {
		t.Errorf("%d bytes, %s", len(text), errs)
	}
}

// TestHostile: what is no symbol file of the module is left out, and nothing is larger or takes
// longer than it may.
func TestHostile(t *testing.T) {
	var secret atomic.Int32
	inside := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { secret.Add(1) }))
	defer inside.Close()
	for want, answer := range map[string]http.HandlerFunc{
		"symbols of lib 1": func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, "MODULE Linux x86_64 1 lib\n") },
		"does not begin":   func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, "<html>sign in</html>") },
		"MODULE record":    func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, strings.Repeat("x", 100_000)) },
		"as it says": func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Encoding", "gzip")
			w.Write(content)
		},
		"too large": func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Length", fmt.Sprint(int64(1)<<40))
			w.Write(content)
		},
		"is too large: it has ": func(w http.ResponseWriter, r *http.Request) { w.Write(zipped(append(content, make([]byte, 2<<20)...))) },
		"500 Internal":          func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(500) },
		"418 I'm a teapot":      func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(418) },
		"not asked for": func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Encoding", "br")
			w.Write(content)
		},
		"another part": func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Range", "bytes 5-9/10")
			w.WriteHeader(206)
		},
		"redirections": func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, r.URL.Path, http.StatusFound) },
		"leads to file": func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "file:///etc/passwd", http.StatusFound)
		},
		"which is not https": func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, inside.URL, http.StatusFound) },
		"too slow": func(w http.ResponseWriter, r *http.Request) {
			w.Write(content[:100])
			w.(http.Flusher).Flush()
			<-r.Context().Done()
		},
	} {
		make := httptest.NewServer
		if want == "which is not https" {
			make = httptest.NewTLSServer
		}
		web := make(answer)
		s := server(t, web.URL, t.TempDir())
		if want == "which is not https" {
			s.client.Transport = web.Client().Transport
		}
		s.maxSize, s.pace.Span = 1<<20, 200*time.Millisecond
		if text, errs := fetch(t, s); text != nil || !strings.Contains(errs, want) {
			t.Errorf("%d bytes, %s, want %q", len(text), errs, want)
		}
		var left []string
		filepath.Walk(s.Dir(), func(path string, info os.FileInfo, err error) error {
			if err == nil && info.Mode().IsRegular() && info.Size() > 1<<20 {
				left = append(left, path)
			}
			return nil
		})
		if len(left) > 0 {
			t.Errorf("%s: what is left: %q", want, left)
		}
		web.CloseClientConnections()
		web.Close()
	}
	if secret.Load() > 0 {
		t.Error("a server without TLS was asked")
	}
}

// TestMany: several files come at once; a server that fails is left alone; names lead nowhere else.
func TestMany(t *testing.T) {
	var mu sync.Mutex
	var at, most int
	var both sync.WaitGroup
	both.Add(2)
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		at++
		most = max(most, at)
		mu.Unlock()
		if name, _, _ := strings.Cut(r.URL.Path[1:], "/"); name == "0" || name == "1" {
			both.Done() // both are here before one is answered
			both.Wait()
		}
		mu.Lock()
		at--
		mu.Unlock()
		fmt.Fprintf(w, "MODULE Linux x86_64 %s x\n", id)
	}))
	defer web.Close()
	s := server(t, web.URL, t.TempDir())
	var list []breakpad.Module
	for i := range 20 {
		list = append(list, breakpad.Module{Name: fmt.Sprint(i), ID: id})
	}
	list = append(list, breakpad.Module{Name: "a b#c%2f?d", ID: id}, breakpad.Module{Name: "..", ID: id}, breakpad.Module{Name: "x", ID: "../../x"})
	s.Fetch(t.Context(), list, &quiet{})
	for _, m := range list[:21] {
		if _, err := os.Stat(filepath.Join(s.Dir(), m.Name, id, m.Name+".sym")); err != nil {
			t.Error(err)
		}
	}
	if most < 2 || most > maxAtOnce {
		t.Errorf("%d at once", most)
	}
	dead := server(t, "http://127.0.0.1:1/", t.TempDir())
	dead.Fetch(t.Context(), list, &quiet{})
	if n := len(dead.Errors()); n < 1 || n > maxFailures+maxAtOnce {
		t.Errorf("%d errors of a server that is not there", n)
	}
}

// TestNew: only https and http are addresses of servers, and no password is shown.
func TestNew(t *testing.T) {
	for _, bad := range []string{"ftp://host/", "file:///etc", "https:///x", "https://%zz", "symbols.example.org"} {
		if _, err := New(bad, t.TempDir()); err == nil {
			t.Error(bad)
		}
	}
	if _, errs := fetch(t, server(t, "http://user:hunter2@127.0.0.1:1/", t.TempDir())); !strings.Contains(errs, "user:xxxxx@127.0.0.1:1") || strings.Contains(errs, "hunter2") {
		t.Error(errs)
	}
}
