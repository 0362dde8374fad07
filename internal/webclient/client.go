package webclient

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"time"
)

const (
	maxHops     = 10       // redirections
	maxHeaders  = 64 << 10 // bytes of an answer's headers
	connectTime = 10 * time.Second
)

// Options are a client's options.
type Options struct {
	HeaderTime time.Duration // until the headers of an answer are there; 0 for any time
	AtOnce     int           // connections to a host; 0 for any number
}

// New returns a client that asks the hosts of some addresses, and no other ones. A redirection
// leads from one host, port and scheme to another one only if that is among these addresses, or if
// the user allows it by [Variable]; and never from https to http. What a request has of the user's
// (passwords, keys, headers) goes to no other host. The error is a mistake in Variable.
func New(servers []string, o Options) (*http.Client, error) {
	hosts, err := allowed(servers)
	if err != nil {
		return nil, err
	}
	return &http.Client{
		Transport: &http.Transport{
			Proxy:                  http.ProxyFromEnvironment,
			DialContext:            (&dialer{public: map[string]bool{}}).dial,
			TLSHandshakeTimeout:    connectTime,
			ResponseHeaderTimeout:  o.HeaderTime,
			MaxResponseHeaderBytes: maxHeaders,
			MaxConnsPerHost:        o.AtOnce,
			DisableCompression:     true, // the caller keeps what is sent
			ForceAttemptHTTP2:      true,
		},
		CheckRedirect: hosts.check,
	}, nil
}

// ErrElsewhere says that a server redirects to a host that may not be asked.
var ErrElsewhere = errors.New("it leads to")

// kept are the headers that another host may see.
var kept = []string{"Accept-Encoding", "If-Range", "Range", "X-Debuginfod-Maxsize"}

// check is [http.Client]'s CheckRedirect.
func (h hosts) check(r *http.Request, via []*http.Request) error {
	to, from := originOf(r.URL), originOf(via[0].URL)
	switch {
	case len(via) > maxHops:
		return fmt.Errorf("more than %d redirections", maxHops)
	case to.scheme != "https" && to.scheme != "http":
		return fmt.Errorf("it leads to %s:, which is neither https nor http", to.scheme)
	case to.scheme != "https" && (from.scheme == "https" || via[len(via)-1].URL.Scheme == "https"):
		return fmt.Errorf("it leads to %s, which is not https", to)
	case to != from && !h.allow(to):
		return fmt.Errorf("%w %s, which nobody has named: to allow that, set %s=%s", ErrElsewhere, to, Variable, to)
	}
	if to != from { // Referer, too, has the query of the address before
		for name := range r.Header {
			if !slices.Contains(kept, name) {
				r.Header.Del(name)
			}
		}
		r.Header.Set("User-Agent", agent)
	}
	return nil
}

// agent is the User-Agent of requests, unless the user has another one sent.
const agent = "sfwalk"

// Do sends a request, which is from sfwalk unless it says otherwise. The error does not have the
// address, which may have a password.
func Do(c *http.Client, r *http.Request) (*http.Response, error) {
	if r.Header.Get("User-Agent") == "" {
		r.Header.Set("User-Agent", agent)
	}
	answer, err := c.Do(r)
	var u *url.Error
	if errors.As(err, &u) {
		err = u.Err
	}
	return answer, err
}
