package coredumps

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A Core is what is known of one core file without opening it as one.
type Core struct {
	Path     string
	Time     time.Time // of the process's end
	PID      int       // as the machine numbers it, also of a process in a container
	UID      int
	GID      int // -1 where nobody tells
	Signal   int // that ended the process; 0 where nobody tells
	Comm     string
	Exe      string // "" where nobody tells
	Hostname string // "" where nobody tells
	BootID   string // 32 hexadecimal digits
	Size     int64  // bytes of the file, which is mostly compressed
	Readable bool   // by this user
}

// mostFiles bounds how many files a folder may have. systemd-coredump keeps a tenth of a disk at
// most.
const mostFiles = 1 << 16

// suffixes are the endings of compressed cores (systemd's default_compression_extension).
var suffixes = []string{".zst", ".xz", ".lz4"}

// ParseName returns what the name of a core file says:
// core.COMM.UID.BOOT-ID.PID.TIME, with a suffix if the file is compressed. ok is false for all
// other names, for example of files that systemd-coredump has not finished.
func ParseName(name string) (c Core, ok bool) {
	for _, s := range suffixes {
		name = strings.TrimSuffix(name, s)
	}
	f := strings.Split(name, ".")
	if len(f) != 6 || f[0] != "core" {
		return c, false
	}
	comm, ok := unescape(f[1])
	uid, err := strconv.ParseUint(f[2], 10, 31)
	pid, wrong := strconv.ParseUint(f[4], 10, 31)
	when, late := timeOf(f[5])
	if err = errors.Join(err, wrong, late); err != nil || !ok || comm == "" || pid == 0 || len(f[3]) != 32 || strings.Trim(f[3], "0123456789abcdef") != "" {
		return c, false
	}
	return Core{Comm: comm, UID: int(uid), GID: -1, BootID: f[3], PID: int(pid), Time: when}, true
}

// timeOf reads the time of a process's end, in seconds or in microseconds.
func timeOf(text string) (time.Time, error) {
	n, err := strconv.ParseUint(text, 10, 62)
	if err != nil {
		return time.Time{}, err
	}
	const mostSeconds = 1 << 38 // the year 10680; as microseconds, the fourth of January 1970
	if n < mostSeconds {
		return time.Unix(int64(n), 0), nil
	}
	return time.UnixMicro(int64(n)), nil
}

// unescape undoes systemd's xescape: \xFF.
func unescape(s string) (string, bool) {
	var b strings.Builder
	for {
		before, rest, found := strings.Cut(s, `\`)
		b.WriteString(before)
		if !found {
			return b.String(), true
		}
		if len(rest) < 3 || rest[0] != 'x' {
			return "", false
		}
		n, err := strconv.ParseUint(rest[1:3], 16, 8)
		if err != nil {
			return "", false
		}
		b.WriteByte(byte(n))
		s = rest[3:]
	}
}

// List returns the cores of a folder, oldest first. Files with other names are left out. An error
// wraps [fs.ErrNotExist] if there is no such folder.
func List(folder string) (list []Core, err error) {
	dir, err := os.Open(folder)
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	names, err := dir.Readdirnames(mostFiles + 1)
	if err != nil && len(names) == 0 && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("list %s: %w", folder, err)
	}
	if len(names) > mostFiles {
		return nil, fmt.Errorf("list %s: it has more than %d files", folder, mostFiles)
	}
	for _, name := range names {
		c, ok := ParseName(name)
		if !ok {
			continue
		}
		c.Path = filepath.Join(folder, name)
		info, err := os.Lstat(c.Path)
		if err != nil || !info.Mode().IsRegular() {
			continue // removed meanwhile, or no file of systemd's
		}
		c.Size = info.Size()
		c.read()
		list = append(list, c)
	}
	slices.SortFunc(list, func(a, b Core) int {
		return cmp.Or(a.Time.Compare(b.Time), cmp.Compare(a.PID, b.PID), strings.Compare(a.Path, b.Path))
	})
	return list, nil
}

// read adds what a core's attributes say.
func (c *Core) read() {
	f, err := openCore(c.Path)
	if err != nil {
		c.Readable = !errors.Is(err, fs.ErrPermission)
		return
	}
	defer f.Close()
	c.Readable = true
	number := func(name string, to *int) {
		if n, err := strconv.ParseUint(attribute(f, name), 10, 31); err == nil {
			*to = int(n)
		}
	}
	text := func(name string, to *string) {
		if s := attribute(f, name); s != "" {
			*to = s
		}
	}
	number("pid", &c.PID)
	number("uid", &c.UID)
	number("gid", &c.GID)
	number("signal", &c.Signal)
	text("comm", &c.Comm)
	text("exe", &c.Exe)
	text("hostname", &c.Hostname)
}

// Program is the name by which coredumpctl list calls the program.
func (c *Core) Program() string { return cmp.Or(c.Exe, c.Comm) }
