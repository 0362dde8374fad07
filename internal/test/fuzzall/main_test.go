package main

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// goCommand stands in for the go command. It lists three packages. One does not compile. The tests
// that it builds of the others print recorded output of such fuzz tests.
const (
	goCommand = `#!/bin/sh
case "$*" in
list*) for p in a b c; do echo "example/$p $DIR/$p/x_test.go"; echo; done;;
"env GOCACHE") echo "$DIR/cache";;
"test -c -o "*" -gcflags="*"=-d=libfuzzer example/c") echo "# example/c"; echo "./x_test.go:3: undefined: x"; exit 1;;
"test -c -o "*" -gcflags=github.com/sfwalk/sfwalk/...=-d=libfuzzer -gcflags="*) [ ! -e "$4" ] && cp "$DIR/tests" "$4";;
*) exit 2;;
esac
`
	tests = `#!/bin/sh
case " $* " in *" -test.parallel $GOMAXPROCS "*) ;; *) exit 2;; esac
case "$PWD $*" in
"$DIR/a "*FuzzBad*) cat "$DIR/bad"; exit 1;;
"$DIR/b "*FuzzSeed*) cat "$DIR/seed"; exit 1;;
"$DIR/b "*"-test.fuzz ^FuzzGood$ -test.fuzztime 8s "*"-test.parallel "[12]" "*"-test.fuzzcachedir $DIR/cache/fuzz/example/b") cat "$DIR/good"; exit;;
esac
exit 2
`
)

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

// A test that fails is in the table, and the tests after it run.
func TestRunAll(t *testing.T) {
	dir := t.TempDir()
	for _, p := range []string{"a", "b", "c"} {
		if err := os.Mkdir(filepath.Join(dir, p), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for name, text := range map[string]string{
		"go": goCommand, "tests": tests,
		"a/x_test.go": "package a\n\nfunc FuzzBad(f *testing.F) {\n}\n\nconst text = `\nfunc FuzzText(f *testing.F) {}\n`\n\nfunc TestA(t *testing.T) {}\n",
		"b/x_test.go": "package b\n\nfunc FuzzSeed(f *testing.F) {}\nfunc FuzzGood(f *testing.F) {}\n",
		"c/x_test.go": "package c\n\nfunc FuzzNever(f *testing.F) { x }\n",
		"good":        good, "bad": bad, "seed": seeded,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("DIR", dir)
	var out bytes.Buffer
	r := runner{out: &out, goCommand: filepath.Join(dir, "go"), time: "8s", programs: t.TempDir(), atOnce: 2}
	tests, err := r.find([]string{"./..."}, "")
	if err != nil || r.runAll(tests) {
		t.Fatalf("%v, or none has failed\n%s", err, &out)
	}
	_, table, _ := strings.Cut(out.String(), "\n\n")
	want := `package    fuzz test  inputs  inputs/CPU s  new interesting  result
example/a  FuzzBad    2044    2044          3                FAILED: testdata/fuzz/FuzzBad/8a2
example/b  FuzzSeed   0       0             0                FAILED: seed#0
example/b  FuzzGood   130000  130000        17               ok
example/c  FuzzNever  0       0             0                FAILED: it does not compile
`
	if table != want {
		t.Errorf("%s, want\n%s", out.String(), want)
	}
	for _, cause := range []string{"mapping 0x5555550000-0x5555550000", "undefined: x"} {
		if !strings.Contains(out.String(), cause) {
			t.Errorf("the cause is not shown, %s:\n%s", cause, &out)
		}
	}
	if r := (result{inputs: 130000, cpu: 65 * time.Second}); r.rate() != 2000 {
		t.Errorf("130000 inputs in 65 s: %v a second", r.rate())
	}

	r.programs = t.TempDir()
	if tests, err = r.find([]string{"./..."}, "^FuzzG"); err != nil || len(tests) != 1 || !r.runAll(tests[:1]) {
		t.Errorf("FuzzGood alone: %v, %v", tests, err)
	}
	out.Reset()
	if printList(&out, tests); out.String() != `[{"package":"example/b","test":"FuzzGood"}]`+"\n" {
		t.Errorf("listed: %s", &out)
	}
	if _, err = r.find([]string{"./..."}, "Nothing"); err == nil {
		t.Error("no fuzz test, and no error")
	}
}

func TestParse(t *testing.T) {
	const blind = "warning: the test binary was not built with coverage instrumentation, so fuzzing will run without coverage guidance and may be inefficient\n"
	if r := parse(blind+good, nil); r.said != "FAILED: nothing counts what the fuzzer has reached" || r.inputs != 130000 {
		t.Errorf("%+v", r)
	}
	over := strings.Replace(good, "PASS\n", "--- FAIL: FuzzGood (65.78s)\n    context deadline exceeded\nFAIL\n", 1)
	if r := parse(over, errors.New("exit status 1")); r.failed() || r.inputs != 130000 {
		t.Errorf("%+v", r)
	}
	if r := parse(strings.Replace(over, "\nFAIL", "\n=== NAME  \nFAIL", 1), errors.New("exit status 1")); r.failed() {
		t.Errorf("%+v", r)
	}
	skipped := "=== RUN   FuzzTool\n    gdbtest.go:67: SKIPPED, NOT TESTED: there is no xz\n--- SKIP: FuzzTool (0.00s)\n=== NAME  \nPASS\n"
	if r := parse(skipped, nil); r.said != "NOT TESTED: there is no xz" || r.failed() {
		t.Errorf("%+v", r)
	}
	if r := parse("signal: killed\n", errors.New("exit status 1")); r.said != "FAILED: exit status 1" {
		t.Errorf("%+v", r)
	}
}
