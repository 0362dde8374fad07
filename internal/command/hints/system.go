package hints

import (
	"cmp"
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
	{ids: []string{"fedora"}, server: "https://debuginfod.fedoraproject.org/", install: map[string]string{glibc: "'dnf debuginfo-install glibc'", "": "'dnf debuginfo-install' with the file's package"}},
	{ids: []string{"rhel"}, install: map[string]string{glibc: "'dnf debuginfo-install glibc'", "": "'dnf debuginfo-install' with the file's package"}},
	{ids: []string{"opensuse", "suse", "sles"}, server: "https://debuginfod.opensuse.org/", install: map[string]string{glibc: "'zypper install glibc-debuginfo'", "": "'zypper install' the file's package with -debuginfo behind its name"}},
	{ids: []string{"arch"}, server: "https://debuginfod.archlinux.org"},
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

// Release returns the os-release of the system below root, "" for this one; "" if it has none.
func Release(root string, open func(root, path string) (*os.File, error)) string {
	return cmp.Or(read(root, "/etc/os-release", open), read(root, "/usr/lib/os-release", open))
}

// maxText bounds what is read of a system's files, bytes.
const maxText = 16 << 10

// read returns the text of a file below root; "" if it cannot be read.
func read(root, path string, open func(root, path string) (*os.File, error)) string {
	if open == nil {
		open = func(root, path string) (*os.File, error) { return regular.At{Root: root, Path: path}.Open() }
	}
	f, err := open(root, path)
	if err != nil {
		return ""
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxText))
	if err != nil {
		return ""
	}
	return string(text)
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
// other file. Debian has the second C library of a processor in packages of their own: libc6-i386
// has /lib32, and libc6-dbg none of its symbols.
func packageOf(file string) string {
	base := path.Base(file)
	switch path.Base(path.Dir(file)) {
	case "lib32", "libx32":
		return ""
	}
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
