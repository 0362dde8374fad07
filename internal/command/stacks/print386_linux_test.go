package stacks_test

import (
	"strconv"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/commandtest"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
)

// TestPrintAligned386 reads containers of 32-bit x86 whose nodes have their values where alignment
// puts them. The program's source tells the values, gdb the alignments.
func TestPrintAligned386(t *testing.T) {
	p := gdbtest.Start(t, gdbtest.Build386(t, "aligned.cc", "-g"))
	wants := [][2]string{
		{"tree", "std::map with 2 elements = {[97 'a'] = 2.5, [98 'b'] = -1}"},
		{"list", "std::__cxx11::list = {[0] = -1, [1] = 1099511627776}"},
		{"table", "std::unordered_map with 1 element = {[7] = 8.5}"},
		{"wide", "std::unordered_map with 1 element = {[120 'x'] = 8.5}"},
		{"set", "std::unordered_set with 1 element = {[0] = 9.25}"},
		{"maybe", "std::optional<Mixed> = {[contained value] = {c = 122 'z', v = 3}}"},
		{"either", "std::variant<char, double, long long> [index 2] = {12}"},
		{"any", "std::any containing Mixed = {[contained value] = {c = 121 'y', v = 4}}"},
		{"_Alignof(long long)", "4"}, {"_Alignof(double)", "4"}, {"_Alignof(long double)", "4"}, {"_Alignof(Mixed)", "4"}, {"_Alignof(short)", "2"},
	}
	args := []string{"attach", strconv.Itoa(p.PID), "--frame", "main"}
	for _, w := range wants {
		args = append(args, "--print", w[0])
	}
	out, stderr, err := commandtest.Run(args...)
	if err != nil {
		t.Fatal(err, stderr)
	}
	for _, w := range wants {
		if !strings.Contains(out, " "+w[0]+" = "+w[1]+"\n") {
			t.Errorf("%s is not %s:\n%s", w[0], w[1], out)
		}
	}
}
