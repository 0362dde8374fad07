//go:build linux && (amd64 || arm64)

package server_test

import (
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/go-delve/delve/service/api"
	"github.com/go-delve/delve/service/rpc2"

	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
)

// Delve's own client sets numbers and pointers of C's frames: the kernel shows them in the
// process's memory.
func TestRPCSet(t *testing.T) {
	p := gdbtest.StartRunning(t, buildValues(t, "-O0"))
	s := attach(t, p, true)
	client := rpc2.NewClientFromConn(dial(t, s.addr))
	stack, err := client.Stacktrace(1, 50, 0, 0, nil)
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(stack, func(f api.Stackframe) bool { return f.Function.Name() == "C.c_inner" })
	if i < 0 {
		t.Fatal("no frame of c_inner")
	}
	scope := api.EvalScope{GoroutineID: 1, Frame: i}
	memory, err := os.Open(fmt.Sprintf("/proc/%d/mem", p.PID))
	if err != nil {
		t.Fatal(err)
	}
	defer memory.Close()
	address := func(object string) int64 {
		v, err := client.EvalVariable(scope, "(long) &"+object, api.LoadConfig{})
		if err != nil {
			t.Fatal(err)
		}
		n, err := strconv.ParseInt(regexp.MustCompile(`\d+`).FindString(v.Value), 10, 64)
		if err != nil {
			t.Fatalf("&%s is %s", object, v.Value)
		}
		return n
	}
	read := func(object string, size int) (n uint64) {
		b := make([]byte, 16)
		if _, err := memory.ReadAt(b, address(object)); err != nil {
			t.Fatal(err)
		}
		return binary.LittleEndian.Uint64(b) & (1<<(8*size) - 1)
	}
	for _, tt := range []struct {
		object, value string
		size          int
		want          uint64
	}{
		{"depth", "5", 4, 5}, {"depth", "depth * 2 - 1", 4, 9}, {"negative", "-1", 1, 0xff}, {"half", "0.5", 8, math.Float64bits(0.5)}, {"half", "3", 8, math.Float64bits(3)},
		{"color", "BLUE", 4, 6}, {"letter", "'z'", 1, 'z'}, {"yes", "0", 1, 0}, {"matrix[1][2]", "66", 4, 66}, {"by_value.y", "41", 4, 41}, {"null", "8", 8, 8},
		{"large", "1", 8, 1}, {"third", "1", 4, uint64(math.Float32bits(1))},
	} {
		before := read(tt.object, 8)
		if err := client.SetVariable(scope, tt.object, tt.value); err != nil {
			t.Errorf("%s = %s: %v", tt.object, tt.value, err)
			continue
		}
		if got := read(tt.object, tt.size); got != tt.want {
			t.Errorf("%s = %s: the memory has %#x, want %#x", tt.object, tt.value, got, tt.want)
		}
		if beyond := read(tt.object, 8) &^ (1<<(8*tt.size) - 1); beyond != before&^(1<<(8*tt.size)-1) {
			t.Errorf("%s = %s: memory behind it has changed", tt.object, tt.value)
		}
		if v, err := client.EvalVariable(scope, tt.object, api.LoadConfig{}); err != nil {
			t.Errorf("%s: %+v, %v", tt.object, v, err)
		}
	}
	for _, tt := range []struct{ object, value, why string }{
		{"by_value", "5", "only numbers and pointers are"}, {"matrix", "5", "only numbers and pointers are"}, {"depth", "nothing_there", "No symbol"},
		{"nothing_here", "1", "No symbol"}, {"bad->x", "1", "Cannot access memory"}, {"$rip", "1", "in no memory"}, {"7", "1", "in no memory"},
	} {
		if err := client.SetVariable(scope, tt.object, tt.value); err == nil || !strings.Contains(err.Error(), tt.why) {
			t.Errorf("%s = %s: %v, want %s", tt.object, tt.value, err, tt.why)
		}
	}
}
