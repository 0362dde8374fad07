package version

import (
	"os/exec"
	"testing"
)

// ascending are versions as git describe prints them, each newer than the one before.
var ascending = []string{
	"1a2b3c4", // before the first tag
	"v0.1.0-rc.1",
	"v0.1.0-rc.1-3-g1a2b3c4",
	"v0.1.0-rc.2",
	"v0.1.0",
	"v0.1.0-4-gfedcba9",
	"v0.1.0-12-g0123456",
	"v0.1.1",
	"v0.10.0",
	"v1.0.0",
}

// TestOrder has dpkg compare the versions of packages: an upgrade must be one.
func TestOrder(t *testing.T) {
	if _, err := exec.LookPath("dpkg"); err != nil {
		t.Fatal("this test asks dpkg: ", err)
	}
	for i := range ascending[1:] {
		older, newer := parse(t, ascending[i]).Debian, parse(t, ascending[i+1]).Debian
		if out, err := exec.Command("dpkg", "--compare-versions", older, "lt", newer).CombinedOutput(); err != nil {
			t.Errorf("%s (of %s) is not older than %s (of %s): %v %s", older, ascending[i], newer, ascending[i+1], err, out)
		}
	}
	dirty, clean := parse(t, "v0.1.0-dirty").Debian, parse(t, "v0.1.0").Debian
	if err := exec.Command("dpkg", "--compare-versions", dirty, "gt", clean).Run(); err != nil {
		t.Errorf("%s is not newer than %s", dirty, clean)
	}
}

func parse(t *testing.T, text string) Version {
	t.Helper()
	v, err := Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func TestForms(t *testing.T) {
	for text, want := range map[string]Version{
		"v0.1.0":              {"v0.1.0", "0.1.0", "0.1.0"},
		"0.1.0":               {"v0.1.0", "0.1.0", "0.1.0"},
		"v0.2.0-rc.1":         {"v0.2.0-rc.1", "0.2.0-rc.1", "0.2.0~rc.1"},
		"v0.1.0-4-g1b2c3d4":   {"v0.1.0-4-g1b2c3d4", "0.1.0-4-g1b2c3d4", "0.1.0+4.g1b2c3d4"},
		"1b2c3d4-dirty":       {"1b2c3d4-dirty", "1b2c3d4-dirty", "0~1b2c3d4.dirty"},
		"v0.1.0-rc.1-3-gabcd": {"v0.1.0-rc.1-3-gabcd", "0.1.0-rc.1-3-gabcd", "0.1.0~rc.1+3.gabcd"},
	} {
		if got := parse(t, text); got != want {
			t.Errorf("%s: %+v, want %+v", text, got, want)
		}
	}
	for _, text := range []string{"", "devel", "v1", "v0.1.0 x", "../v0.1.0", "v0.1.0/x", "0.1"} {
		if v, err := Parse(text); err == nil {
			t.Errorf("%q is %+v, want an error", text, v)
		}
	}
}
