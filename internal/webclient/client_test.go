package webclient

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// server answers with what path says, and notes what it was asked for.
func server(t *testing.T, answer func(w http.ResponseWriter, r *http.Request)) (address string, asked *[]*http.Request) {
	t.Helper()
	asked = new([]*http.Request)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		*asked = append(*asked, r)
		answer(w, r)
	}))
	t.Cleanup(s.Close)
	return s.URL, asked
}

func ask(t *testing.T, c *http.Client, address string) (int, error) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "secret")
	r.Header.Set("X-Key", "secret")
	r.Header.Set("User-Agent", "secret")
	r.Header.Set("Range", "bytes=7-")
	answer, err := Do(c, r)
	if err != nil {
		return 0, err
	}
	defer answer.Body.Close()
	io.Copy(io.Discard, answer.Body)
	return answer.StatusCode, nil
}

// A server's redirection leads to itself, to another named server, and to hosts that the user
// allows; to no other host, port or scheme. No other host sees what is the user's.
func TestRedirections(t *testing.T) {
	other, otherAsked := server(t, func(http.ResponseWriter, *http.Request) {})
	to := ""
	named, namedAsked := server(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/" {
			http.Redirect(w, r, to, http.StatusFound)
		}
	})
	for _, tt := range []struct {
		servers []string
		allowed string
		to      string
		want    string // in the error
	}{
		{nil, "", "/there", ""},
		{nil, "", other + "/x", other + ", which nobody has named: to allow that, set SFWALK_REDIRECT_HOSTS=" + other},
		{nil, "", strings.Replace(named, "127.0.0.1", "localhost", 1) + "/there", "http://localhost:"},
		{nil, "", "http://169.254.169.254/latest/meta-data", "which nobody has named: to allow that, set SFWALK_REDIRECT_HOSTS=http://169.254.169.254"},
		{nil, "", strings.Replace(other, "http", "https", 1), "nobody has named"},
		{nil, strings.TrimPrefix(other, "http://"), other, "nobody has named"}, // that is https
		{[]string{"file:///x", other + "/prefix"}, "", other + "/x", ""},
		{nil, "host " + other, other + "/x", ""},
		{nil, "", "file:///etc/passwd", "it leads to file:, "},
		{nil, "", "/", "redirections"},
	} {
		t.Setenv(Variable, tt.allowed)
		c, err := New(append(tt.servers, named), Options{})
		if err != nil {
			t.Fatal(err)
		}
		to, *otherAsked, *namedAsked = tt.to, nil, nil
		_, err = ask(t, c, named+"/?key=secret")
		if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
			t.Errorf("%+v: %v", tt, err)
		}
		if asked := len(*otherAsked); asked > 0 != (tt.want == "" && strings.HasPrefix(tt.to, other)) {
			t.Errorf("%+v: the other one was asked %d times", tt, asked)
		}
		for _, r := range *otherAsked {
			if r.Header.Get("Range") != "bytes=7-" || r.Header.Get("User-Agent") != "sfwalk" {
				t.Errorf("%+v: headers %v", tt, r.Header)
			}
			if text := r.URL.String() + strings.Join(headers(r), " "); strings.Contains(text, "secret") {
				t.Errorf("%+v: the other one was told %s", tt, text)
			}
		}
		if last := (*namedAsked)[len(*namedAsked)-1]; last.Header.Get("X-Key") != "secret" {
			t.Errorf("%+v: headers %v", tt, last.Header)
		}
	}
}

func headers(r *http.Request) (list []string) {
	for name, values := range r.Header {
		list = append(list, name+": "+strings.Join(values, ","))
	}
	return list
}

// The variable's names are hosts, and hosts below a domain, of https unless they say otherwise.
func TestVariable(t *testing.T) {
	for _, tt := range []struct {
		names, to string
		want      bool
	}{
		{"a.example", "https://A.example/x", true},
		{"a.example", "https://a.example:443", true},
		{"a.example", "https://a.example:444", false},
		{"a.example", "http://a.example", false},
		{"a.example", "https://b.a.example", false},
		{"b http://a.example:8080", "http://a.example:8080/", true},
		{"a.example:444", "https://a.example:444", true},
		{"*.a.example", "https://x.y.a.example", true},
		{"*.a.example", "https://a.example", false},
		{"*.a.example", "https://xa.example", false},
		{"[::1]:8080 http://[::1]", "https://[::1]:8080", true},
		{"http://[::1]", "http://[::1]:80", true},
	} {
		t.Setenv(Variable, tt.names)
		h, err := allowed(nil)
		if err != nil {
			t.Fatal(err)
		}
		r := httptest.NewRequest(http.MethodGet, tt.to, nil)
		if got := h.allow(originOf(r.URL)); got != tt.want {
			t.Errorf("%q, %s: %v", tt.names, tt.to, got)
		}
	}
	for _, bad := range []string{"a/b", "ftp://a", "https://", "u:p@a", "*", "*.", "a.*", "*.*.x", "a:b:c", "a?x"} {
		t.Setenv(Variable, "good "+bad)
		if _, err := New(nil, Options{}); err == nil || !strings.Contains(err.Error(), Variable) {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

// An error proposes a name that allows just the host that it refuses.
func TestProposal(t *testing.T) {
	for _, address := range []string{"https://a.example/x?y", "http://a.example", "https://a.example:8443", "http://[::1]:8080/x", "https://[::1]/"} {
		o := originOf(httptest.NewRequest(http.MethodGet, address, nil).URL)
		t.Setenv(Variable, o.String())
		h, err := allowed(nil)
		if err != nil || len(h) != 1 || h[0] != o {
			t.Errorf("%s: %v, %v; want %v", address, h, err, o)
		}
	}
}

// A host with TLS does not lead to one without, whoever is named.
func TestNoTLS(t *testing.T) {
	plain, asked := server(t, func(http.ResponseWriter, *http.Request) {})
	s := httptest.NewTLSServer(http.RedirectHandler(plain, http.StatusFound))
	defer s.Close()
	c, err := New([]string{s.URL, plain}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	c.Transport = s.Client().Transport
	if _, err := ask(t, c, s.URL); err == nil || !strings.Contains(err.Error(), "which is not https") || len(*asked) > 0 {
		t.Errorf("%v, asked %d times", err, len(*asked))
	}
}

// A name that led elsewhere does not lead to this machine later.
func TestRebinding(t *testing.T) {
	d := &dialer{public: map[string]bool{}}
	for _, tt := range []struct {
		host, at string
		bad      bool
	}{
		{"mine", "127.0.0.1:80", false}, {"mine", "[::1]:80", false}, {"mine", "192.0.2.1:80", false},
		{"theirs", "192.0.2.1:80", false}, {"theirs", "10.0.0.1:80", false}, {"theirs", "127.9.0.1:80", true}, {"theirs", "[::1]:80", true},
		{"theirs", "169.254.169.254:80", true}, {"theirs", "[fe80::1%eth0]:80", true}, {"theirs", "0.0.0.0:80", true}, {"theirs", "[::ffff:127.0.0.1]:80", true},
		{"theirs", "[2001:db8::1]:80", false},
	} {
		if err := d.check(tt.host, tt.at); err != nil != tt.bad {
			t.Errorf("%s at %s: %v", tt.host, tt.at, err)
		}
	}
}

// Headers of any size are not taken.
func TestLargeHeaders(t *testing.T) {
	named, _ := server(t, func(w http.ResponseWriter, r *http.Request) {
		for range 100 {
			w.Header().Add("X", strings.Repeat("x", 1000))
		}
	})
	c, err := New([]string{named}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := ask(t, c, named); err == nil {
		t.Error("100 kB of headers are taken")
	}
}

// A server that sends a byte now and then does not keep the pace; nor does one that never begins.
func TestWatch(t *testing.T) {
	for name, p := range map[string]Pace{
		"too slow, hint": {Least: 1 << 40, Span: 50 * time.Millisecond, SlowHint: ", hint"},
		"not there":      {Whole: 50 * time.Millisecond},
	} {
		w := NewWatch(t.Context())
		w.Start(p)
		for w.Context.Err() == nil {
			w.Add(1)
		}
		if cause := context.Cause(w.Context); !strings.Contains(cause.Error(), name) {
			t.Errorf("%v, want %s", cause, name)
		}
		w.End()
	}
	w := NewWatch(t.Context())
	for range 3 {
		w.Add(60)
		w.Add(40)
		w.endSpan(Pace{Least: 100, Span: time.Second})
	}
	if w.Context.Err() != nil {
		t.Errorf("enough bytes in each span: %v", context.Cause(w.Context))
	}
	w.Add(99)
	w.endSpan(Pace{Least: 100, Span: time.Second})
	if cause := context.Cause(w.Context); cause == nil || cause.Error() != "99 bytes in 1s: too slow" {
		t.Error(cause)
	}
	w = NewWatch(t.Context())
	w.Start(Pace{})
	w.End()
	if cause := context.Cause(w.Context); cause != w.Context.Err() {
		t.Error(cause)
	}
}
