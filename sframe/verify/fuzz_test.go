package verify

import (
	"bytes"
	"debug/elf"
	"os"
	"testing"
)

// FuzzFile compares what it can of any file. What is covered and what disagrees
// lies in the executable code, and is counted once.
func FuzzFile(f *testing.F) {
	for _, name := range []string{
		"testdata/amd64-v3.so", "testdata/arm64-v2.so", "testdata/s390x-v3.so",
		"../object/testdata/amd64-v1.o", "../object/testdata/arm64-v3.o", "../../testdata/bin/mix-v3-noheaders",
		"../../testdata/bin/restorer-v3", "testdata/simple.so",
	} {
		data, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		file, err := elf.NewFile(bytes.NewReader(data))
		if err != nil {
			return
		}
		r, err := File(file)
		if err != nil {
			return
		}
		for _, c := range []Coverage{r.Bytes, r.Functions} {
			if c.Both+c.SFrameOnly+c.CFIOnly+c.Neither != c.Total {
				t.Fatalf("parts that are not the whole: %+v", c)
			}
		}
		for _, d := range r.Disagreements {
			if d.Lo >= d.Hi || d.Cells == 0 || d.Times < 1 {
				t.Fatalf("%+v", d)
			}
		}
		if n := len(r.Disagreements) + len(r.Problems); n > len(data) {
			t.Fatalf("%d disagreements and problems in %d bytes", n, len(data))
		}
	})
}
