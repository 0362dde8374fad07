package webclient

import (
	"fmt"
	"net"
	"net/url"
	"os"
	"strings"
)

// Variable is the variable of the environment that names further hosts to which servers may
// redirect, with blanks between: HOST, HOST:PORT, *.DOMAIN for all hosts below a domain, and
// http:// before any of them that has no TLS.
const Variable = "SFWALK_REDIRECT_HOSTS"

// origin is where a request goes to. The host is in lower case.
type origin struct{ scheme, host, port string }

func originOf(u *url.URL) origin {
	o := origin{u.Scheme, strings.ToLower(u.Hostname()), u.Port()}
	if o.port == "" {
		o.port = usualPorts[o.scheme]
	}
	return o
}

var usualPorts = map[string]string{"https": "443", "http": "80"}

// String returns o as Variable has it.
func (o origin) String() string {
	host := o.host
	if o.port != usualPorts[o.scheme] {
		host = net.JoinHostPort(host, o.port)
	} else if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	if o.scheme == "https" {
		return host
	}
	return o.scheme + "://" + host
}

// hosts are the hosts that may be asked. A host that begins with a dot stands for all below a
// domain.
type hosts []origin

// allowed returns the hosts of some addresses, and the hosts that the user allows. It leaves out
// addresses that are no server's.
func allowed(servers []string) (list hosts, err error) {
	for _, address := range servers {
		if u, err := url.Parse(address); err == nil && usualPorts[u.Scheme] != "" {
			list = append(list, originOf(u))
		}
	}
	for _, name := range strings.Fields(os.Getenv(Variable)) {
		address := name
		if !strings.Contains(name, "://") {
			address = "https://" + name
		}
		u, err := url.Parse(address)
		if err != nil || usualPorts[u.Scheme] == "" || u.Hostname() == "" || u.User != nil || strings.Trim(u.Path, "/") != "" ||
			u.RawQuery != "" {
			return nil, fmt.Errorf("%s: %q: want HOST, HOST:PORT, *.DOMAIN or http://HOST", Variable, name)
		}
		o := originOf(u)
		domain, below := strings.CutPrefix(o.host, "*.")
		if strings.Contains(domain, "*") || below && domain == "" {
			return nil, fmt.Errorf("%s: %q: want HOST, or *.DOMAIN for all hosts below a domain", Variable, name)
		}
		if below {
			o.host = "." + domain
		}
		list = append(list, o)
	}
	return list, nil
}

func (h hosts) allow(to origin) bool {
	for _, o := range h {
		same := o.host == to.host || o.host[0] == '.' && strings.HasSuffix(to.host, o.host)
		if same && o.scheme == to.scheme && o.port == to.port {
			return true
		}
	}
	return false
}
