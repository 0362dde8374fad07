package pprofhost

import (
	"crypto/rand"
	"crypto/subtle"
	"net"
	"net/http"
	"net/url"
	"strings"
)

// token lets a browser in: the address that is printed has it, and a cookie from then on.
type token string

// newToken returns one that nobody can guess.
func newToken() token { return token(rand.Text()) }

// parameter is the token's name in an address.
const parameter = "token"

// address returns the address to print.
func (t token) address(at net.Addr) string {
	return "http://" + at.String() + "/?" + url.Values{parameter: {string(t)}}.Encode()
}

// is compares in a time that does not tell how much is right.
func (t token) is(text string) bool { return subtle.ConstantTimeCompare([]byte(text), []byte(t)) == 1 }

// check lets in who has the token. A page of another site must not reach the pages, by a name of
// its own for this machine, by a link, or in a frame.
func (t token) check(pages http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Cache-Control", "no-store")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("X-Frame-Options", "DENY")
		if why, status := refused(r); why != "" {
			http.Error(w, why, status)
			return
		}
		cookie := "sfwalk-" + portOf(r) // browsers have one set of cookies for all ports
		query := r.URL.Query()
		if t.is(query.Get(parameter)) {
			http.SetCookie(w, &http.Cookie{
				Name: cookie, Value: string(t), Path: "/", HttpOnly: true, SameSite: http.SameSiteStrictMode,
			})
			query.Del(parameter)
			http.Redirect(w, r, (&url.URL{Path: r.URL.Path, RawQuery: query.Encode()}).String(), http.StatusSeeOther)
			return
		}
		if has, err := r.Cookie(cookie); err != nil || !t.is(has.Value) {
			http.Error(w, "open the address that sfwalk has printed, with its ?"+parameter+"=", http.StatusForbidden)
			return
		}
		pages.ServeHTTP(w, r)
	})
}

// refused says why a request is not answered, whatever it has; "" if it may be.
func refused(r *http.Request) (why string, status int) {
	host := (&url.URL{Host: r.Host}).Hostname()
	if ip := net.ParseIP(host); host != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return "this server is known as localhost alone", http.StatusForbidden
	}
	if r.Method != http.MethodGet {
		return "these pages are for reading", http.StatusMethodNotAllowed
	}
	site, origin := r.Header.Get("Sec-Fetch-Site"), r.Header.Get("Origin")
	if site == "cross-site" || site == "same-site" || origin != "" && origin != "http://"+r.Host {
		return "another page leads here: enter the address by hand", http.StatusForbidden
	}
	if !strings.HasPrefix(r.URL.Path, "/") || strings.HasPrefix(r.URL.Path, "//") {
		return "no such page", http.StatusNotFound
	}
	return "", 0
}

// portOf returns the port that the client has connected to.
func portOf(r *http.Request) string {
	at, _ := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	if at == nil {
		return ""
	}
	_, port, _ := net.SplitHostPort(at.String())
	return port
}
