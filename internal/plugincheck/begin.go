package plugincheck

import (
	"context"
	"crypto/tls"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/protobuf/proto"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/internal/plugincheck/cores"
	"github.com/sfwalk/sfwalk/plugin/protocol"
	"github.com/sfwalk/sfwalk/sniffer"
	"github.com/sfwalk/sfwalk/sniffer/external"
)

// program checks that the file can be run, and has the pinned checksum.
func (c *checker) program() finding {
	st, err := os.Stat(c.path)
	switch {
	case err != nil:
		return fail("give the path of the program", "%v", err)
	case !st.Mode().IsRegular():
		return fail("give the path of the program", "not a regular file (%v)", st.Mode().Type())
	case st.Mode()&0o111 == 0 && runtime.GOOS != "windows":
		return fail("chmod +x "+c.path, "not executable")
	}
	if c.path, err = filepath.Abs(c.path); err != nil {
		return fail("give an absolute path", "%v", err)
	}
	if c.file, err = external.Open(c.path); err != nil {
		return fail("give the path of the program", "%v", err)
	}
	pinned := c.file.Pin(c.o.SHA256)
	sum, err := c.file.SHA256()
	switch {
	case err != nil:
		return warn("let the user read it: without that its checksum cannot be pinned", "%v", err)
	case pinned != nil:
		return fail("if you trust this program, pin its checksum", "its SHA-256 is %s, pinned is %s", sum, shown(c.o.SHA256, 80))
	}
	return pass("%.1f MB, SHA-256 %s", float64(st.Size())/1e6, sum)
}

// cookie starts the plug-in as a user does by hand: it must say what it is, and end.
func (c *checker) cookie() finding {
	keeper, err := newKeeper()
	if err != nil {
		return fail("", "%v", err)
	}
	p, err := run(c.file, keeper)
	if err != nil {
		return fail("the file must be a program for this machine, or a script with a line #!", "%v", err)
	}
	defer p.end()
	const fix = "without the cookie in SFWALK_PLUGIN, say on standard error what the program is, and exit (plugin.Serve does)"
	select {
	case <-p.line:
		if strings.Contains(p.firstLine(), "|grpc") {
			return fail(fix, "started without the cookie it serves: %q", shown(p.firstLine(), 80))
		}
	case <-p.ended:
	case <-time.After(startLimit):
	case <-c.ctx.Done():
	}
	if !p.over(endLimit) {
		return fail(fix, "started without the cookie it does not end")
	}
	text, size := p.stderr.text()
	if _, more := p.stdout.text(); size+more == 0 {
		return warn(fix, "started without the cookie it ends without a word")
	}
	first, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	return pass("started by hand it says %q, and ends (%s)", shown(first, 80), p.how())
}

// quick is the time to start above which a plug-in is slow.
const quick = 200 * time.Millisecond

// start checks that the plug-in starts, and quickly.
func (c *checker) start() finding {
	var least time.Duration
	for i := range 3 {
		p, err := start(c.ctx, c.file, fmt.Sprint(protocol.Version))
		if err != nil {
			return fail(fixStart, "%v", err)
		}
		if i == 0 || p.took < least {
			least = p.took
		}
		if c.child != nil {
			c.child.end()
		}
		if c.child = p; least < quick {
			break
		}
	}
	if least > quick {
		return warn("each attach waits for it: load what you need in Begin, or when a frame is asked about", "the handshake comes after %v", least.Round(time.Millisecond))
	}
	return pass("the handshake comes after %v", least.Round(time.Millisecond))
}

// handshake checks the handshake's line, field by field.
func (c *checker) handshake() finding {
	p := c.child
	const form = "write one line to standard output: 1|1|unix|PATH|grpc|CERTIFICATE"
	line := shown(p.firstLine(), 100)
	f := p.fields
	if len(f) < 5 {
		return fail(form, "the first line on standard output is %q", line)
	}
	switch {
	case f[0] != "1":
		return fail(form, "version %q of go-plugin's own protocol, want 1: %q", shown(f[0], 20), line)
	case f[1] != strconv.Itoa(protocol.Version):
		return fail("speak version "+strconv.Itoa(protocol.Version)+" of sniffer.proto, and say so in the second field",
			"it speaks version %q, the host %d", shown(f[1], 20), protocol.Version)
	case f[4] != "grpc":
		return fail(form, "it speaks %q, want grpc", shown(f[4], 20))
	case f[2] != "unix" && runtime.GOOS != "windows":
		return fail("serve at a socket in the folder that PLUGIN_UNIX_SOCKET_DIR names", "it serves at %s %s", shown(f[2], 20), shown(f[3], 100))
	case f[2] == "unix" && filepath.Dir(f[3]) != p.keeper.Folder:
		return fail("serve at a socket in the folder that PLUGIN_UNIX_SOCKET_DIR names: others cannot look into it", "it serves at %s", shown(f[3], 100))
	}
	c.report.Protocol = protocol.Version
	return pass("version %s, %s, %s", f[1], f[2], f[4])
}

// versions plays hosts that speak other versions, too, or only others.
func (c *checker) versions() finding {
	const fix = "answer with a version that PLUGIN_PROTOCOL_VERSIONS lists and that you speak"
	p, err := start(c.ctx, c.file, fmt.Sprintf("%d,%d", protocol.Version, protocol.Version+98))
	if err != nil {
		return fail(fix, "to a host of versions %d and %d: %v", protocol.Version, protocol.Version+98, err)
	}
	p.end()
	if len(p.fields) < 2 || p.fields[1] != strconv.Itoa(protocol.Version) {
		return fail(fix, "to a host of versions %d and %d it says %q", protocol.Version, protocol.Version+98, shown(p.firstLine(), 60))
	}
	if p, err = start(c.ctx, c.file, strconv.Itoa(protocol.Version+98)); err == nil {
		p.end()
		if len(p.fields) > 1 && p.fields[1] == strconv.Itoa(protocol.Version+98) {
			return fail(fix, "it claims to speak version %d, which there is not", protocol.Version+98)
		}
	}
	return pass("it chooses %d, and does not pretend to know others", protocol.Version)
}

// tls checks that both sides know each other by their certificates.
func (c *checker) tls() finding {
	const fix = "serve TLS that requires the certificate in PLUGIN_CLIENT_CERT, and tell your own, in base64 of DER without padding, as the handshake's sixth field"
	p := c.child
	if len(p.fields) < 6 || p.fields[5] == "" {
		return fail(fix, "the handshake has no certificate")
	}
	if err := p.dial(); err != nil {
		return fail(fix, "%v", err)
	}
	ctx, cancel := context.WithTimeout(c.ctx, startLimit)
	defer cancel()
	var err error
	if c.description, err = p.service.Describe(ctx, &protocol.DescribeRequest{Host: c.o.Host}); err != nil {
		return fail(fix, "Describe: %v", p.explain(err))
	}
	for how, t := range map[string]credentials.TransportCredentials{
		"without TLS": insecure.NewCredentials(), "without a certificate": credentials.NewTLS(&tls.Config{InsecureSkipVerify: true}),
	} {
		conn, err := p.dialWith(t)
		if err != nil {
			continue
		}
		_, err = protocol.NewSnifferClient(conn).Describe(ctx, &protocol.DescribeRequest{})
		conn.Close()
		if err == nil {
			return warn(fix, "it answers a caller who comes %s", how)
		}
	}
	return pass("it knows the host by its certificate, and nobody else")
}

// describe checks the plug-in's description of itself.
func (c *checker) describe() finding {
	d := c.description
	c.report.Name, c.report.Version = shown(d.Name, protocol.MaxName), shown(d.Version, 64)
	c.report.Architectures = d.Architectures
	if err := external.Describe(d); err != nil {
		return fail("see Description in sniffer.proto for what each field may be", "%v", err)
	}
	again, err := c.child.service.Describe(c.ctx, &protocol.DescribeRequest{Host: c.o.Host})
	if err != nil {
		return fail(fixDies, "Describe, a second time: %v", c.child.explain(err))
	}
	if !proto.Equal(d, again) {
		return fail("describe the plug-in always in the same way", "asked twice, it describes itself in two ways")
	}
	names := cores.Architectures()
	if len(d.Architectures) > 0 {
		names = d.Architectures
	}
	var unknown []string
	for _, name := range names {
		if a := arch.ByName(name); a != nil {
			c.architectures = append(c.architectures, a)
		} else {
			unknown = append(unknown, shown(name, 20))
		}
	}
	switch {
	case len(c.architectures) == 0:
		return fail("name architectures as GOARCH does: amd64, arm64, s390x", "there is none of the architectures %s", strings.Join(unknown, ", "))
	case d.Before != "" && !slices.Contains(sniffer.Names(), d.Before):
		return fail("name one of "+strings.Join(sniffer.Names(), ", ")+`, or "" for prologue`, "it wants to stand before %q, which there is not", shown(d.Before, 40))
	case !showable(d.Version) || len(d.Version) > 64:
		return fail("a version is one short line", "the version is %q", shown(d.Version, 80))
	case len(unknown) > 0:
		return warn("name architectures as GOARCH does: amd64, arm64, s390x", "not known: %s", strings.Join(unknown, ", "))
	case d.Version == "":
		return warn("tell a version, for bug reports", "no version")
	case d.Claims == nil:
		return warn("say in Claims where it can claim frames at all: elsewhere it need not be asked", "%s %s may claim any frame", d.Name, d.Version)
	}
	if c.unwindsNone() {
		return pass("%s %s, decorates %s, %s", d.Name, d.Version, d.Decorates.Language, strings.Join(names, ", "))
	}
	return pass("%s %s, before %s, %s", d.Name, d.Version, orElse(d.Before, "prologue"), strings.Join(names, ", "))
}

func orElse(s, other string) string {
	if s == "" {
		return other
	}
	return s
}
