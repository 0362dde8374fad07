// Package docs tests the documentation: what it tells its readers to run, and its numbers.
package docs

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/plugin/protocol"
)

// TestPluginProtocol holds the page's numbers against the program's.
func TestPluginProtocol(t *testing.T) {
	text := readFile(t, "plugin-protocol.md")
	has := func(line string) {
		t.Helper()
		if strings.Count(text, line) != 1 {
			t.Errorf("plugin-protocol.md has %q %d times, want it once", line, strings.Count(text, line))
		}
	}
	has(fmt.Sprintf("| `%s` | `%s`. ", protocol.CookieKey, protocol.CookieValue))
	for name, bound := range map[string]int{
		"MaxName": protocol.MaxName, "MaxText": protocol.MaxText, "MaxClaims": protocol.MaxClaims,
		"MaxStack": protocol.MaxStack, "MaxCode": protocol.MaxCode, "MaxNever": protocol.MaxNever,
		"MaxMore": protocol.MaxMore, "MaxRules": protocol.MaxRules, "MaxRanges": protocol.MaxRanges,
		"MaxRead": protocol.MaxRead, "MaxFound": protocol.MaxFound, "MaxModules": protocol.MaxModules,
		"MaxRequests": protocol.MaxRequests, "MaxPage": protocol.MaxPage, "MaxDecorated": protocol.MaxDecorated,
		"MaxDecoration": protocol.MaxDecoration, "MaxPages": protocol.MaxPages, "MaxVariables": protocol.MaxVariables,
		"MaxLocks": protocol.MaxLocks, "MaxRegisters": protocol.MaxRegisters, "MaxStackRequests": protocol.MaxStackRequests,
	} {
		has(fmt.Sprintf("| `%s` | %d |", name, bound))
	}
	// Each bound that the program has is on the page.
	for line := range strings.Lines(readFile(t, "../plugin/protocol/protocol.go")) {
		if name, _, ok := strings.Cut(strings.TrimSpace(line), " "); ok && strings.HasPrefix(name, "Max") {
			has("| `" + name + "` |")
		}
	}
}

func readFile(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}
