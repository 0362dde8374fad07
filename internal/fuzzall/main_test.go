package main

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// goCommand stands for the go command: it lists two packages and plays back what go test has
// said of fuzz tests like theirs.
const goCommand = `#!/bin/sh
case "$1 $*" in
list*) echo "example/a $DIR/a_test.go"; echo; echo "example/b $DIR/b_test.go"; exit;;
*FuzzBad*) cat "$DIR/bad"; exit 1;;
*FuzzSeed*) cat "$DIR/seed"; exit 1;;
*"-fuzz ^FuzzGood$ -fuzztime 8s"*"-parallel "[12]" "*) cat "$DIR/good"; exit;;
esac
exit 2
`

const (
	good = `fuzz: elapsed: 0s, gathering baseline coverage: 0/72 completed
fuzz: elapsed: 3s, execs: 39014 (13004/sec), new interesting: 4 (total: 76)
fuzz: elapsed: 1m5s, execs: 130000 (12000/sec), new interesting: 17 (total: 89)
PASS
ok  	example/a	8.11s
`
	bad = `fuzz: elapsed: 2s, execs: 2044 (1000/sec), new interesting: 3 (total: 5)
--- FAIL: FuzzBad (2.04s)
    --- FAIL: FuzzBad (0.00s)
        gather_test.go:131: mapping 0x5555550000-0x5555550000 is not behind what comes before it
    
    Failing input written to testdata/fuzz/FuzzBad/8a2
    To re-run:
    go test -run=FuzzBad/8a2
FAIL
exit status 1
`
	seeded = `failure while testing seed corpus entry: FuzzSeed/seed#0
fuzz: elapsed: 0s, gathering baseline coverage: 0/1 completed
--- FAIL: FuzzSeed (0.02s)
    --- FAIL: FuzzSeed (0.00s)
FAIL
`
)

// One that fails is in the table, and those behind it are run.
func TestRunAll(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"a_test.go": "package a\n\nfunc FuzzBad(f *testing.F) {\n}\n\nfunc TestA(t *testing.T) {}\n",
		"b_test.go": "package b\n\nfunc FuzzSeed(f *testing.F) {}\nfunc FuzzGood(f *testing.F) {}\n",
		"good":      good, "bad": bad, "seed": seeded,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "go"), []byte(goCommand), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("DIR", dir)
	var out bytes.Buffer
	r := runner{out: &out, goCommand: filepath.Join(dir, "go"), time: "8s", atOnce: 2}
	tests, err := r.find([]string{"./..."}, "")
	if err != nil || r.runAll(tests) {
		t.Fatalf("%v, or none has failed\n%s", err, &out)
	}
	_, table, _ := strings.Cut(out.String(), "\n\n")
	want := `package    fuzz test  inputs  inputs/s  new interesting  result
example/a  FuzzBad    2044    1022      3                FAILED: testdata/fuzz/FuzzBad/8a2
example/b  FuzzSeed   0       0         0                FAILED: seed#0
example/b  FuzzGood   130000  2000      17               ok
`
	if table != want {
		t.Errorf("%s, want\n%s", out.String(), want)
	}
	if !strings.Contains(out.String(), "mapping 0x5555550000-0x5555550000") {
		t.Errorf("the cause is not shown:\n%s", &out)
	}

	if tests, err = r.find([]string{"./..."}, "^FuzzG"); err != nil || len(tests) != 1 || !r.runAll(tests[:1]) {
		t.Errorf("FuzzGood alone: %v, %v", tests, err)
	}
	if _, err = r.find([]string{"./..."}, "Nothing"); err == nil {
		t.Error("no fuzz test, and no error")
	}
}

func TestParse(t *testing.T) {
	for _, tt := range []struct{ out, want string }{
		{"# example/a\n./a_test.go:3: undefined: x\nFAIL\texample/a [build failed]\n", "FAILED: it does not compile"},
		{"signal: killed\n", "FAILED: exit status 1"},
	} {
		if r := parse(tt.out, errors.New("exit status 1")); r.said != tt.want {
			t.Errorf("%q: %+v, want %s", tt.out, r, tt.want)
		}
	}
}
