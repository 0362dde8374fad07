package debuginfod

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
)

const id = "0123456789abcdef0123456789abcdef01234567"

// setenv sets the variables, and no others that count.
func setenv(t *testing.T, set map[string]string) {
	for _, name := range []string{"DEBUGINFOD_URLS", "DEBUGINFOD_CACHE_PATH", "DEBUGINFOD_TIMEOUT", "DEBUGINFOD_MAXTIME", "DEBUGINFOD_MAXSIZE",
		"DEBUGINFOD_RETRY_LIMIT", "DEBUGINFOD_HEADERS_FILE", "DEBUGINFOD_PROGRESS", "XDG_CACHE_HOME", "HOME"} {
		t.Setenv(name, set[name])
		if _, ok := set[name]; !ok {
			os.Unsetenv(name)
		}
	}
}

func TestEnvironment(t *testing.T) {
	home := t.TempDir()
	setenv(t, map[string]string{"HOME": home})
	usual := FromEnvironment()
	if len(usual.URLs) != 0 || usual.Timeout != 90*time.Second || usual.MaxTime != 0 || usual.TotalTime != time.Hour || usual.MaxSize != 0 || usual.Retries != 2 || usual.Headers != "" || usual.Tell {
		t.Errorf("without variables: %+v", usual)
	}
	setenv(t, map[string]string{
		"DEBUGINFOD_URLS":    " https://a.example/  http://b.example:8002 ima:enforcing https://a.example/buildid/ https://c.example/x/buildid file:///srv ",
		"DEBUGINFOD_TIMEOUT": "7", "DEBUGINFOD_MAXTIME": "8", "DEBUGINFOD_MAXSIZE": "9", "DEBUGINFOD_RETRY_LIMIT": "0",
		"DEBUGINFOD_HEADERS_FILE": "/headers", "DEBUGINFOD_PROGRESS": "1", "HOME": home,
	})
	c := FromEnvironment()
	if want := []string{"https://a.example", "http://b.example:8002", "https://c.example/x", "file:///srv"}; !slices.Equal(c.URLs, want) {
		t.Errorf("servers %q, want %q", c.URLs, want)
	}
	if c.Timeout != 7*time.Second || c.MaxTime != 8*time.Second || c.TotalTime != 0 || c.MaxSize != 9 || c.Retries != 0 || c.Headers != "/headers" || !c.Tell {
		t.Errorf("%+v", c)
	}
	setenv(t, map[string]string{"DEBUGINFOD_TIMEOUT": "-1", "DEBUGINFOD_MAXTIME": "x", "DEBUGINFOD_MAXSIZE": "-9"})
	if c := FromEnvironment(); c.Timeout != 0 || c.MaxTime != 0 || c.MaxSize != 0 || c.Dir != "" || c.Path(id) != "" || c.Find(id) != "" || c.Missed(id) || c.Prepare() == nil {
		t.Errorf("no home, odd numbers: %+v", c)
	}
}

// find asks debuginfod-find, elfutils' client, for a debug file.
func find(t *testing.T, buildID string) (path string, found bool) {
	t.Helper()
	var stderr bytes.Buffer
	cmd := exec.Command(gdbtest.Tool(t, "debuginfod-find"), "debuginfo", buildID)
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil && !strings.Contains(stderr.String(), "failed") {
		t.Fatalf("debuginfod-find: %v %s", err, &stderr)
	}
	return strings.TrimSpace(string(out)), err == nil
}

// The cache is where elfutils has it, by each of the variables; what is in it, elfutils finds, and
// what is noted as missing elfutils does not ask for.
func TestSharedCache(t *testing.T) {
	const server = "http://127.0.0.1:1" // nobody listens there
	for name, set := range map[string]func(dir string) map[string]string{
		"DEBUGINFOD_CACHE_PATH": func(dir string) map[string]string {
			return map[string]string{"DEBUGINFOD_CACHE_PATH": dir + "/mine", "XDG_CACHE_HOME": dir + "/xdg", "HOME": dir}
		},
		"XDG_CACHE_HOME": func(dir string) map[string]string {
			return map[string]string{"XDG_CACHE_HOME": dir + "/xdg", "HOME": dir}
		},
		"HOME": func(dir string) map[string]string { return map[string]string{"HOME": dir} },
		"the old folder": func(dir string) map[string]string {
			os.Mkdir(dir+"/.debuginfod_client_cache", 0o700)
			return map[string]string{"HOME": dir, "XDG_CACHE_HOME": dir + "/xdg"}
		},
	} {
		t.Run(name, func(t *testing.T) {
			variables := set(t.TempDir())
			variables["DEBUGINFOD_URLS"] = server
			setenv(t, variables)
			c := FromEnvironment()
			if err := c.Prepare(); err != nil {
				t.Fatal(err)
			}
			if _, found := find(t, id); found || c.Find(id) != "" || c.Missed(id) {
				t.Error("an empty cache has a file, or knows that there is none")
			}
			if err := os.MkdirAll(filepath.Dir(c.Path(id)), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(c.Path(id), []byte("debug"), 0o400); err != nil {
				t.Fatal(err)
			}
			if path, found := find(t, id); !found || path != c.Path(id) || c.Find(id) != path {
				t.Errorf("elfutils finds %q, we %q, it is %q", path, c.Find(id), c.Path(id))
			}
		})
	}
}

// What servers do not have is not asked for again for some time, which the cache says.
func TestMiss(t *testing.T) {
	setenv(t, map[string]string{"HOME": t.TempDir()})
	c := FromEnvironment()
	if err := c.Prepare(); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := c.Miss(id); err != nil || !c.Missed(id) || c.Find(id) != "" {
			t.Errorf("%v, missed %v, found %q", err, c.Missed(id), c.Find(id))
		}
	}
	text, err := os.ReadFile(filepath.Join(c.Dir, "cache_miss_s"))
	if err != nil || string(text) != "600" {
		t.Errorf("cache_miss_s: %q, %v", text, err)
	}
	old := time.Now().Add(-11 * time.Minute)
	if err := os.Chtimes(c.Path(id), old, old); err != nil {
		t.Fatal(err)
	}
	if c.Missed(id) {
		t.Error("missed for longer than ten minutes")
	}
	if err := c.Miss(id); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(c.Dir, "cache_miss_s"), []byte("3600\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if os.Chtimes(c.Path(id), old, old); !c.Missed(id) {
		t.Error("an hour is not over, and it counts no more")
	}
	for _, bad := range []string{"", "a", "abc", "../../etc", "ABCD", id + "/x", strings.Repeat("ab", 100)} {
		if c.Path(bad) != "" || c.Find(bad) != "" || c.Missed(bad) {
			t.Errorf("%q is taken for a build ID", bad)
		}
	}
}

// Once a day, what was not used for a week is removed; nothing else is.
func TestClean(t *testing.T) {
	setenv(t, map[string]string{"HOME": t.TempDir()})
	c := FromEnvironment()
	if err := c.Prepare(); err != nil {
		t.Fatal(err)
	}
	age := map[string]time.Duration{
		"aa11/debuginfo": 8 * 24 * time.Hour, "aa11/executable": 8 * 24 * time.Hour, "bb22/debuginfo": 6 * 24 * time.Hour,
		"cc33/debuginfo.x7": 9 * 24 * time.Hour, "cc33/mine": 9 * 24 * time.Hour, "notes/debuginfo": 9 * 24 * time.Hour, "mine": 9 * 24 * time.Hour,
	}
	for name, old := range age {
		path := filepath.Join(c.Dir, name)
		then := time.Now().Add(-old)
		if os.MkdirAll(filepath.Dir(path), 0o700) != nil || os.WriteFile(path, []byte("x"), 0o600) != nil || os.Chtimes(path, then, then) != nil {
			t.Fatal(path)
		}
	}
	left := func() (list []string) {
		for name := range age {
			if _, err := os.Stat(filepath.Join(c.Dir, name)); err == nil {
				list = append(list, name)
			}
		}
		slices.Sort(list)
		return list
	}
	if err := c.Prepare(); err != nil || len(left()) != len(age) {
		t.Errorf("cleaned within a day: %q, %v", left(), err)
	}
	yesterday := time.Now().Add(-25 * time.Hour)
	if err := os.Chtimes(filepath.Join(c.Dir, "cache_clean_interval_s"), yesterday, yesterday); err != nil {
		t.Fatal(err)
	}
	if err := c.Prepare(); err != nil {
		t.Fatal(err)
	}
	if want := []string{"bb22/debuginfo", "cc33/mine", "mine", "notes/debuginfo"}; !slices.Equal(left(), want) {
		t.Errorf("left: %q, want %q", left(), want)
	}
	if _, err := os.Stat(filepath.Join(c.Dir, "aa11")); err == nil {
		t.Error("an empty folder is left")
	}
}

// What another user has put into the cache's folder leads nowhere else, and nobody waits for it.
func TestPlanted(t *testing.T) {
	outside := t.TempDir()
	setenv(t, map[string]string{"HOME": t.TempDir()})
	c := FromEnvironment()
	if err := os.MkdirAll(c.Dir, 0o700); err != nil {
		t.Fatal(err)
	}
	for link, to := range map[string]string{cleanInterval: filepath.Join(outside, "clean"), id: outside, "ab12": outside} {
		if err := os.Symlink(to, filepath.Join(c.Dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	if err := syscall.Mkfifo(filepath.Join(c.Dir, missed), 0o600); err != nil {
		t.Fatal(err)
	}
	old := filepath.Join(outside, "source.c")
	then := time.Now().Add(-1000 * time.Hour)
	if os.WriteFile(old, []byte("x"), 0o600) != nil || os.Chtimes(old, then, then) != nil {
		t.Fatal(old)
	}
	c.Prepare()
	c.clean(time.Now())
	if d := c.setting(missed, 7); d != 7*time.Second {
		t.Errorf("a pipe says %v", d)
	}
	if err := c.Miss(id); err == nil {
		t.Error("a link to a folder is one of a build ID")
	}
	if list, err := os.ReadDir(outside); err != nil || len(list) != 1 || list[0].Name() != "source.c" {
		t.Errorf("outside: %v, %v", list, err)
	}
}
