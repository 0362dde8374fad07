//go:build linux && (amd64 || arm64)

package server_test

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// signals returns which signals threads block, and which the process handles, as the kernel tells.
func signals(t testing.TB, pid int) string {
	t.Helper()
	threads, err := os.ReadDir(fmt.Sprintf("/proc/%d/task", pid))
	if err != nil {
		t.Fatal(err)
	}
	var list []string // the process may have made threads meanwhile
	for _, th := range threads {
		b, _ := os.ReadFile(fmt.Sprintf("/proc/%d/task/%s/status", pid, th.Name()))
		list = append(list, fmt.Sprintln(regexp.MustCompile(`Sig(Blk|Cgt|Ign):\t\w+`).FindAllString(string(b), -1)))
	}
	slices.Sort(list)
	return strings.Join(slices.Compact(list), "")
}
