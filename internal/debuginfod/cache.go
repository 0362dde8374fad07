package debuginfod

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/sfwalk/sfwalk/internal/regular"
)

// The files in the cache that say how it is kept, and what they say if they are not there, in
// seconds.
const (
	cleanInterval, usualCleanInterval = "cache_clean_interval_s", 24 * 60 * 60
	missed, usualMissed               = "cache_miss_s", 10 * 60
	unused, usualUnused               = "max_unused_age_s", 7 * 24 * 60 * 60
)

// debugFile is the name of a debug file in the folder of its build ID.
const debugFile = "debuginfo"

// isBuildID reports whether id is a build ID in the form of paths.
func isBuildID(id string) bool {
	return len(id) > 2 && len(id) <= 128 && len(id)%2 == 0 && strings.Trim(id, "0123456789abcdef") == ""
}

// Path returns where the debug file of a build ID is to be, hexadecimal; "" if there is no cache,
// or it is no build ID.
func (c *Config) Path(buildID string) string {
	if c.Dir == "" || !isBuildID(buildID) {
		return ""
	}
	return filepath.Join(c.Dir, buildID, debugFile)
}

// Find returns the path of the debug file with a build ID; "" if the cache has none.
func (c *Config) Find(buildID string) string {
	path := c.Path(buildID)
	if path == "" {
		return ""
	}
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() || info.Size() == 0 {
		return ""
	}
	os.Chtimes(path, time.Now(), info.ModTime()) // file systems may not note that it is read
	return path
}

// Missed reports whether the servers had no such file a short time ago.
func (c *Config) Missed(buildID string) bool {
	path := c.Path(buildID)
	if path == "" {
		return false
	}
	info, err := os.Lstat(path)
	if err != nil || !info.Mode().IsRegular() || info.Size() > 0 {
		return false
	}
	if time.Since(info.ModTime()) <= c.setting(missed, usualMissed) {
		return true
	}
	os.Remove(path)
	return false
}

// Miss notes that the servers have no such file.
func (c *Config) Miss(buildID string) error {
	root, err := os.OpenRoot(c.Dir)
	if err != nil {
		return err
	}
	defer root.Close()
	if err := root.MkdirAll(buildID, 0o700); err != nil {
		return err
	}
	f, err := root.OpenFile(filepath.Join(buildID, debugFile), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return f.Close()
}

// setting reads a setting of the cache, which it makes if it is not there.
func (c *Config) setting(name string, usual int64) time.Duration {
	path := filepath.Join(c.Dir, name)
	text := make([]byte, 32)
	f, err := regular.Open(path)
	if err == nil {
		n, _ := io.ReadFull(f, text)
		text = text[:n]
		f.Close()
	} else if errors.Is(err, fs.ErrNotExist) {
		if f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600); err == nil { // not where a link leads
			f.WriteString(strconv.FormatInt(usual, 10))
			f.Close()
		}
	}
	if n, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64); err == nil {
		usual = n
	}
	return seconds(usual)
}

// Prepare makes the cache, and removes the files that were not used for long, if that was not done
// for long.
func (c *Config) Prepare() error {
	if c.Dir == "" {
		return errors.New("there is no folder to keep debug files in: set DEBUGINFOD_CACHE_PATH or HOME")
	}
	if err := os.MkdirAll(c.Dir, 0o700); err != nil {
		return err
	}
	interval := c.setting(cleanInterval, usualCleanInterval)
	path := filepath.Join(c.Dir, cleanInterval)
	info, err := os.Stat(path)
	if err != nil || time.Since(info.ModTime()) < interval {
		return nil
	}
	now := time.Now()
	if os.Chtimes(path, now, now) == nil {
		c.clean(now.Add(-c.setting(unused, usualUnused)))
	}
	return nil
}

// clean removes the files that were last used before a time.
func (c *Config) clean(before time.Time) {
	root, err := os.OpenRoot(c.Dir) // no link leads out of it
	if err != nil {
		return
	}
	defer root.Close()
	ids, err := fs.ReadDir(root.FS(), ".")
	if err != nil {
		return
	}
	for _, id := range ids {
		if !id.IsDir() || !isBuildID(id.Name()) {
			continue
		}
		files, err := fs.ReadDir(root.FS(), id.Name())
		if err != nil {
			continue
		}
		for _, f := range files {
			if info, err := f.Info(); err == nil && fetched(f.Name()) && info.Mode().IsRegular() && lastUse(info).Before(before) {
				root.Remove(filepath.Join(id.Name(), f.Name()))
			}
		}
		root.Remove(id.Name()) // if it is empty
	}
}

// fetched reports whether a client of debuginfod has made a file.
func fetched(name string) bool {
	for _, kind := range []string{debugFile, "executable", "source", "section", "hdr"} {
		if strings.HasPrefix(name, kind) {
			return true
		}
	}
	return false
}
