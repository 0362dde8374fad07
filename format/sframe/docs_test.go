package sframe

import (
	"bytes"
	"encoding/hex"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// TestDocument checks the parts of the section amd64-v3 that docs/sframe.md shows: bytes, lines of
// objdump's dump, the row of the example.
func TestDocument(t *testing.T) {
	page, err := os.ReadFile("../../docs/sframe.md")
	if err != nil {
		t.Fatal(err)
	}
	dump, err := os.ReadFile("testdata/amd64-v3.dump")
	if err != nil {
		t.Fatal(err)
	}
	s, _ := openFixture(t, "amd64-v3")

	dumped := 0
	for _, m := range regexp.MustCompile(`(?m)^([0-9a-f]{8})  ((?:[0-9a-f]{2} *)+)$`).FindAllSubmatch(page, -1) {
		at, err := strconv.ParseUint(string(m[1]), 16, 32)
		if err != nil {
			t.Fatal(err)
		}
		want, err := hex.DecodeString(strings.ReplaceAll(string(m[2]), " ", ""))
		if err != nil {
			t.Fatal(err)
		}
		if got := s.Data[at:][:len(want)]; !bytes.Equal(got, want) {
			t.Errorf("at %#x: % x, the page shows % x", at, got, want)
		}
		dumped += len(want)
	}
	rows := regexp.MustCompile(`(?m)^    [0-9a-f]{16}  .*$`).FindAll(page, -1)
	for _, row := range rows {
		if !bytes.Contains(dump, append(row, '\n')) {
			t.Errorf("objdump has no line %q", row)
		}
	}
	if dumped < 80 || len(rows) < 5 {
		t.Errorf("%d bytes and %d rows found", dumped, len(rows))
	}

	row, err := s.Find(0x797)
	if err != nil || !bytes.Contains(page, []byte("`"+row.String()+"`")) {
		t.Errorf("the row for 0x797 is %v, %v", row, err)
	}
}

// TestDocumentedRegisters checks the page's table of DWARF numbers.
func TestDocumentedRegisters(t *testing.T) {
	page, err := os.ReadFile("../../docs/sframe.md")
	if err != nil {
		t.Fatal(err)
	}
	numbers := map[string]func(ABI) uint16{"SP": ABI.SP, "FP": ABI.FP, "RA": ABI.RA}
	for name, number := range numbers {
		m := regexp.MustCompile(`(?m)^\| ` + name + ` \| (\d+) \| (\d+) \| (\d+) \|$`).FindSubmatch(page)
		if m == nil {
			t.Errorf("no line for %s", name)
			continue
		}
		for i, abi := range []ABI{AMD64, AArch64LE, S390X} {
			if got := strconv.Itoa(int(number(abi))); got != string(m[i+1]) {
				t.Errorf("%s of %v is %s, the page says %s", name, abi, got, m[i+1])
			}
		}
	}
}
