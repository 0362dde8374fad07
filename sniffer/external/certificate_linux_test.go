package external_test

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"os/exec"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
	"github.com/sfwalk/sfwalk/internal/test/plugintest"
	"github.com/sfwalk/sfwalk/plugin/protocol"
	"github.com/sfwalk/sfwalk/sniffer/external"
)

// Both certificates are on the fast curve, P-256. With go-plugin's own certificate, a start takes
// 15 ms more.
func TestQuickCurve(t *testing.T) {
	gdbtest.Tool(t, "openssl")
	_, text, err := external.MutualTLS()
	if err != nil {
		t.Fatal(err)
	}
	quick := func(whose string, certificate []byte, form string) {
		c := exec.Command("openssl", "x509", "-noout", "-text", "-inform", form)
		c.Stdin = bytes.NewReader(certificate)
		if out, err := c.CombinedOutput(); err != nil || !bytes.Contains(out, []byte("ASN1 OID: prime256v1")) {
			t.Errorf("the %s: %v\n%s", whose, err, out)
		}
	}
	quick("host's", text, "PEM")

	c := exec.Command(plugintest.Path(t, "jit"))
	c.Env = []string{protocol.CookieKey + "=" + protocol.CookieValue, "PLUGIN_PROTOCOL_VERSIONS=1", "PLUGIN_CLIENT_CERT=" + string(text), "PLUGIN_UNIX_SOCKET_DIR=" + t.TempDir()}
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	in, err := c.StdinPipe() // the plug-in ends when this does
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	defer c.Wait()
	defer in.Close()
	line, err := bufio.NewReader(out).ReadString('\n')
	fields := strings.Split(strings.TrimSpace(line), "|")
	if err != nil || len(fields) != 6 {
		t.Fatalf("its handshake is %q, %v", line, err)
	}
	own, err := base64.RawStdEncoding.DecodeString(fields[5])
	if err != nil {
		t.Fatalf("%q: %v", line, err)
	}
	quick("plug-in's", own, "DER")
}
