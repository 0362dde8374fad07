package debuginfod

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Config is what the environment says, debuginfod-find(1).
type Config struct {
	URLs    []string      // of servers, without the "/buildid" that all paths there begin with
	Dir     string        // of the cache; "" if there can be none
	Timeout time.Duration // in which a server must send 100 KiB; 0 for any time
	MaxTime time.Duration // for a whole file; 0 for any time
	// TotalTime is for all files that are fetched at once, 0 for any time. It is 0 if the user has
	// said what MaxTime is.
	TotalTime time.Duration
	MaxSize   int64  // of a file, bytes; 0 for the usual bound
	Retries   int    // after an attempt has failed
	Headers   string // the file with header lines to send; "" for none
	Tell      bool   // progress is told, on a terminal or not
}

// Defaults of elfutils.
const (
	usualTimeout = 90 * time.Second
	usualRetries = 2
)

// usualTotalTime is a bound of our own: elfutils waits without end for a server that sends slowly,
// but not too slowly.
const usualTotalTime = time.Hour

// FromEnvironment reads the environment.
func FromEnvironment() Config {
	c := Config{
		Dir: cacheDir(), Timeout: usualTimeout, TotalTime: usualTotalTime, Retries: usualRetries,
		Headers: os.Getenv("DEBUGINFOD_HEADERS_FILE"),
	}
	_, c.Tell = os.LookupEnv("DEBUGINFOD_PROGRESS")
	for _, url := range strings.Fields(os.Getenv("DEBUGINFOD_URLS")) {
		if strings.HasPrefix(url, "ima:") { // newer elfutils' policy for the servers that follow
			continue
		}
		url = strings.TrimSuffix(strings.TrimSuffix(strings.TrimRight(url, "/"), "/buildid"), "/")
		if !slices.Contains(c.URLs, url) {
			c.URLs = append(c.URLs, url)
		}
	}
	if n, ok := number("DEBUGINFOD_TIMEOUT"); ok {
		c.Timeout = seconds(n)
	}
	if n, ok := number("DEBUGINFOD_MAXTIME"); ok {
		c.MaxTime, c.TotalTime = seconds(n), 0
	}
	if n, ok := number("DEBUGINFOD_MAXSIZE"); ok {
		c.MaxSize = max(n, 0)
	}
	if n, ok := number("DEBUGINFOD_RETRY_LIMIT"); ok {
		c.Retries = int(min(max(n, 0), 100))
	}
	return c
}

// seconds returns a time of n seconds; 0, for any time, if n is not positive.
func seconds(n int64) time.Duration { return time.Duration(min(max(n, 0), 1<<30)) * time.Second }

func number(variable string) (n int64, ok bool) {
	n, err := strconv.ParseInt(strings.TrimSpace(os.Getenv(variable)), 10, 64)
	return n, err == nil
}

// cacheDir returns the folder that elfutils would use.
func cacheDir() string {
	if dir := os.Getenv("DEBUGINFOD_CACHE_PATH"); dir != "" {
		return dir
	}
	home := os.Getenv("HOME")
	if home != "" {
		old := filepath.Join(home, ".debuginfod_client_cache")
		if info, err := os.Stat(old); err == nil && info.IsDir() {
			return old
		}
	}
	if dir := os.Getenv("XDG_CACHE_HOME"); dir != "" {
		return filepath.Join(dir, "debuginfod_client")
	}
	if home == "" {
		return ""
	}
	return filepath.Join(home, ".cache", "debuginfod_client")
}
