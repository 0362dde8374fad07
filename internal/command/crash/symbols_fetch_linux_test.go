package crash

import (
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/commandtest"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
)

// TestSymbolServer: symbol files come from a server, for a minidump and for a process, and are
// there without it then.
func TestSymbolServer(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	whole := gdbtest.Build(t, "chain.c", "-O2", "-fomit-frame-pointer", "-gdwarf-4")
	store := commandtest.SymbolStore(t, whole, commandtest.FunctionsOfNM)
	stripped := filepath.Join(t.TempDir(), "chain")
	if out, err := exec.Command(gdbtest.Tool(t, "strip"), "-o", stripped, whole).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	var mu sync.Mutex
	asked := map[string]int{}
	files := http.FileServer(http.Dir(store))
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		asked[strings.Split(r.URL.Path, "/")[1]]++
		mu.Unlock()
		files.ServeHTTP(w, r)
	}))
	defer web.Close()
	p := gdbtest.Start(t, stripped)
	dump := filepath.Join(t.TempDir(), "saved.dmp")
	live, stderr, err := commandtest.Run("attach", strconv.Itoa(p.PID), "--save", dump, "--format", "minidump", "--symbols", t.TempDir(), "--symbols", web.URL)
	if err != nil || !strings.Contains(live, " in leaf (…) at ") {
		t.Errorf("%v\n%s%s", err, live, stderr)
	}
	if asked["chain"] != 1 || asked["libc.so.6"] != 1 {
		t.Errorf("%v", asked)
	}
	other := httptest.NewServer(http.NotFoundHandler())
	other.Close() // it has gone
	out, stderr, err := commandtest.Run("minidump", dump, "--symbols", web.URL, "--symbols", other.URL, "--sysroot", t.TempDir())
	if !strings.Contains(out, " in leaf (…) at ") || !strings.Contains(stderr, "symbols of libc.so.6 from "+other.URL+": ") {
		t.Errorf("%v\n%s%s", err, out, stderr)
	}
	if asked["chain"] != 1 || asked["libc.so.6"] != 1 || asked["linux-gate.so"] > 1 || len(asked) > 4 {
		t.Errorf("once more: %v", asked)
	}
	for _, bad := range []string{"ftp://x/", "https://", "/nowhere", "host.example.org"} {
		if _, _, err := commandtest.Run("minidump", dump, "--symbols", bad); err == nil || !strings.Contains(err.Error(), "--symbols "+bad+": want ") {
			t.Errorf("%s: %v", bad, err)
		}
	}
	colon := filepath.Join(t.TempDir(), "a:b")
	os.Mkdir(colon, 0o755)
	if _, _, err := commandtest.Run("minidump", dump, "--symbols", colon); err == nil {
		t.Error("a folder with a colon")
	}
}
