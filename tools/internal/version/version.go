// Package version knows the forms in which readers want a version.
package version

import (
	"fmt"
	"regexp"
	"strings"
)

// Version is one version in all its forms.
type Version struct {
	Program string // as 'sfwalk version' prints it: v0.1.0, v0.1.0-4-g1b2c3d4, 1b2c3d4
	File    string // in the names of files: 0.1.0, 0.1.0-4-g1b2c3d4, 1b2c3d4
	Debian  string // of packages, rpms among them, so that each is newer than the one before
}

var (
	tagged   = regexp.MustCompile(`^v?(\d+\.\d+\.\d+)(-[0-9A-Za-z.-]+?)??(-\d+-g[0-9a-f]+)?(-dirty)?$`)
	untagged = regexp.MustCompile(`^[0-9a-f]{4,40}(-dirty)?$`)
)

// Parse takes a semantic version, or what 'git describe --tags --always --dirty' prints.
func Parse(text string) (Version, error) {
	v := Version{Program: text, File: strings.TrimPrefix(text, "v")}
	if m := tagged.FindStringSubmatch(text); m != nil {
		// Behind a tilde is what comes before the version; behind a plus, what comes after.
		v.Debian = m[1]
		if m[2] != "" {
			v.Debian += "~" + strings.ReplaceAll(m[2][1:], "-", ".")
		}
		if after := strings.Trim(m[3]+m[4], "-"); after != "" {
			v.Debian += "+" + strings.ReplaceAll(after, "-", ".")
		}
		if text[0] != 'v' {
			v.Program = "v" + text
		}
		return v, nil
	}
	if untagged.MatchString(text) { // no tag is before it
		v.Debian = "0~" + strings.ReplaceAll(text, "-", ".")
		return v, nil
	}
	return v, fmt.Errorf("%q is no version: want such as v0.1.0, v0.2.0-rc.1, or what git describe prints", text)
}
