package hints

import (
	"io"
	"os"
	"path"
	"strings"

	"github.com/sfwalk/sfwalk/internal/regular"
)

// system is what has symbols for the libraries of a distribution.
type system struct {
	ids     []string          // of os-release: ID, or one of ID_LIKE
	server  string            // of debuginfod; "" if there is none
	usual   bool              // DEBUGINFOD_URLS is set by default in new sessions
	install map[string]string // what installs the symbols of a file, by the file's package; "" for any
}

// glibc and musl are the packages of the C libraries in the table.
const glibc, musl = "glibc", "musl"

// installLibc6 is what helps for Debian's C library.
const installLibc6 = "install libc6-dbg"

// systems are the distributions, the more special first where one is like another.
var systems = []system{
	{ids: []string{"ubuntu"}, server: "https://debuginfod.ubuntu.com", install: map[string]string{glibc: installLibc6, "": "install the packages that find-dbgsym-packages names (package debian-goodies)"}},
	{ids: []string{"debian"}, server: "https://debuginfod.debian.net", install: map[string]string{glibc: installLibc6, "": "install the packages that find-dbgsym-packages names (package debian-goodies)"}},
	{ids: []string{"centos"}, server: "https://debuginfod.centos.org/", install: map[string]string{glibc: "'dnf debuginfo-install glibc'", "": "'dnf debuginfo-install' with the file's package"}},
	{ids: []string{"fedora"}, server: "https://debuginfod.fedoraproject.org/", usual: true, install: map[string]string{glibc: "'dnf debuginfo-install glibc'", "": "'dnf debuginfo-install' with the file's package"}},
	{ids: []string{"rhel"}, install: map[string]string{glibc: "'dnf debuginfo-install glibc'", "": "'dnf debuginfo-install' with the file's package"}},
	{ids: []string{"opensuse", "suse", "sles"}, server: "https://debuginfod.opensuse.org/", usual: true, install: map[string]string{glibc: "'zypper install glibc-debuginfo'", "": "'zypper install' the file's package with -debuginfo behind its name"}},
	{ids: []string{"arch"}, server: "https://debuginfod.archlinux.org", usual: true},
	{ids: []string{"alpine"}, install: map[string]string{musl: "'apk add musl-dbg'", "": "'apk add' the file's package with -dbg behind its name"}},
}

// unknown is any other system: the server asks the distributions' own.
var unknown = system{server: "https://debuginfod.elfutils.org/"}

// systemOf returns the distribution whose os-release that is.
func systemOf(osRelease string) *system {
	var id string
	var like []string
	for _, line := range strings.Split(osRelease, "\n") {
		key, value, _ := strings.Cut(strings.TrimSpace(line), "=")
		value = strings.ToLower(strings.Trim(value, `"'`))
		switch key {
		case "ID":
			id = value
		case "ID_LIKE":
			like = strings.Fields(value)
		}
	}
	for _, name := range append([]string{id}, like...) {
		for i := range systems {
			for _, x := range systems[i].ids {
				if x == name || x == "opensuse" && strings.HasPrefix(name, "opensuse-") {
					return &systems[i]
				}
			}
		}
	}
	return &unknown
}

// maxRelease bounds what is read of os-release, bytes.
const maxRelease = 16 << 10

// Release returns the os-release of the system below root, "" for this one; "" if it has none.
func Release(root string, open func(root, path string) (*os.File, error)) string {
	if open == nil {
		open = func(root, path string) (*os.File, error) { return regular.At{Root: root, Path: path}.Open() }
	}
	for _, path := range []string{"/etc/os-release", "/usr/lib/os-release"} {
		f, err := open(root, path)
		if err != nil {
			continue
		}
		text, err := io.ReadAll(io.LimitReader(f, maxRelease))
		f.Close()
		if err == nil {
			return string(text)
		}
	}
	return ""
}

// ofSystem reports whether a file is one of the distribution's packages, by its path.
func ofSystem(file string) bool {
	for _, dir := range []string{"/usr/local/", "/usr/src/", "/usr/games/local/"} {
		if strings.HasPrefix(file, dir) {
			return false
		}
	}
	for _, dir := range []string{"/usr/", "/lib/", "/lib64/", "/lib32/", "/libx32/", "/bin/", "/sbin/"} {
		if strings.HasPrefix(file, dir) {
			return true
		}
	}
	return false
}

// packageOf returns the package of a C library's file, as the table of systems has it; "" for any
// other file.
func packageOf(file string) string {
	base := path.Base(file)
	for _, begin := range []string{"libc.so.6", "libc-2.", "ld-linux", "ld-2.", "libm.so.", "libm-2.", "libpthread", "libdl.so.", "libdl-2.", "librt.so.", "librt-2.", "libresolv.so.", "libanl.so.", "libutil.so.", "libthread_db", "libnss_", "libmvec.so."} {
		if strings.HasPrefix(base, begin) {
			return glibc
		}
	}
	if strings.HasPrefix(base, "ld-musl-") || strings.HasPrefix(base, "libc.musl-") {
		return musl
	}
	return ""
}
