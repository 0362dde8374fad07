package cfi_test

import (
	"os"
	"testing"
)

// golden reads the stored output of readelf for a fixture (testdata/README.md).
func golden(t testing.TB, name, section string) oracle {
	t.Helper()
	read := func(dump string) string {
		text, err := os.ReadFile("testdata/" + name + "." + dump + ".txt")
		if err != nil {
			t.Fatal(err)
		}
		return sectionOf(t, string(text), section)
	}
	return parseOracle(t, read("interp"), read("frames"))
}

// Other architectures, from files that cross compilers made.
func TestFixtures(t *testing.T) {
	for _, test := range []struct {
		name, section string
		uses          string // an instruction that the fixture is there for
	}{
		{"arm64-pauth", ".eh_frame", "DW_CFA_AARCH64_negate_ra_state"},
		{"arm64-bkey", ".eh_frame", "DW_CFA_AARCH64_negate_ra_state"},
		{"arm64-debug", ".debug_frame", "DW_CFA_offset"},
		{"s390x", ".eh_frame", "DW_CFA_register"},
		{"s390x-debug", ".debug_frame", "DW_CFA_register"},
	} {
		t.Run(test.name, func(t *testing.T) {
			o := golden(t, test.name, test.section)
			used := false
			for _, p := range o.programs {
				used = used || p.used[test.uses] > 0
			}
			if !used {
				t.Errorf("the fixture has no %s", test.uses)
			}
			path := "testdata/" + test.name + ".so"
			compareWays(t, path, test.section, test.section == ".eh_frame", o)
		})
	}
}
