package main

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// TestStart has Go's run time tell what the initialisation of each package costs, which every
// command pays before it begins. Tables that one command needs are made when it asks for them.
func TestStart(t *testing.T) {
	const maxAllocations, maxBytes = 128, 32 << 10 // of one package
	const allAllocations, allBytes = 1500, 256 << 10
	program, err := os.Executable() // the test: the program's packages, and a few more
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(program, "-test.run=^$")
	cmd.Env = append(os.Environ(), "GODEBUG=inittrace=1")
	var trace bytes.Buffer
	cmd.Stderr = &trace
	if err := cmd.Run(); err != nil {
		t.Fatalf("%v\n%s", err, &trace)
	}
	packages, allocations, size := 0, 0, 0
	for lines := bufio.NewScanner(&trace); lines.Scan(); {
		if !strings.HasPrefix(lines.Text(), "init ") {
			continue
		}
		var name string
		var at, clock float64
		var b, n int
		if _, err := fmt.Sscanf(lines.Text(), "init %s @%f ms, %f ms clock, %d bytes, %d allocs", &name, &at, &clock, &b, &n); err != nil {
			t.Errorf("%q: %v", lines.Text(), err)
			continue
		}
		packages++
		allocations += n
		size += b
		if n > maxAllocations || b > maxBytes {
			t.Errorf("%s allocates %d times, %d bytes, before main begins; want at most %d and %d", name, n, b, maxAllocations, maxBytes)
		}
		if strings.HasPrefix(name, "github.com/google/pprof") {
			t.Errorf("%s is linked", name)
		}
	}
	t.Logf("%d packages allocate %d times, %d bytes", packages, allocations, size)
	if packages < 20 {
		t.Errorf("only %d packages were told of", packages)
	}
	if allocations > allAllocations || size > allBytes {
		t.Errorf("all packages allocate %d times, %d bytes, before main begins; want at most %d and %d", allocations, size, allAllocations, allBytes)
	}
}
