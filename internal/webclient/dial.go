package webclient

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"sync"
	"syscall"
)

// dialer connects to hosts. Whoever has a host's name can lead it elsewhere from one connection to
// the next: a host that was elsewhere is not looked for on this machine.
type dialer struct {
	mu     sync.Mutex
	public map[string]bool // the hosts that were elsewhere
}

func (d *dialer) dial(ctx context.Context, network, address string) (net.Conn, error) {
	host, _, _ := net.SplitHostPort(address)
	check := func(_, at string, _ syscall.RawConn) error { return d.check(host, at) }
	to := net.Dialer{Timeout: connectTime, Control: check}
	return to.DialContext(ctx, network, address)
}

// check is called before a host is asked at an address, IP:PORT.
func (d *dialer) check(host, at string) error {
	to, err := netip.ParseAddrPort(at)
	if err != nil {
		return nil // of no IP network
	}
	ip := to.Addr().Unmap()
	d.mu.Lock()
	defer d.mu.Unlock()
	switch inside := ip.IsLoopback() || ip.IsLinkLocalUnicast() || ip.IsUnspecified(); {
	case !inside:
		d.public[host] = true
	case d.public[host]:
		return fmt.Errorf("its name leads to this machine now (%v), and led elsewhere before", ip)
	}
	return nil
}
