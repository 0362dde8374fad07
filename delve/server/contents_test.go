//go:build linux && (amd64 || arm64)

package server_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/go-delve/delve/service/api"
	"github.com/go-delve/delve/service/rpc2"

	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
)

// Delve's own client has what containers of C++ contain, as the source of delvevalues fills them,
// within the bounds that it asks for.
func TestRPCContents(t *testing.T) {
	s := attach(t, gdbtest.StartRunning(t, buildValues(t, "-O0")), true)
	client := rpc2.NewClientFromConn(dial(t, s.addr))
	stack, err := client.Stacktrace(1, 50, 0, 0, nil)
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(stack, func(f api.Stackframe) bool { return f.Function.Name() == "C.ns::holder<int>::waits" })
	if i < 0 {
		t.Fatal("no frame of holder::waits")
	}
	scope := api.EvalScope{GoroutineID: 1, Frame: i}
	for _, most := range []int{2, 64} {
		list, err := client.ListLocalVariables(scope, api.LoadConfig{FollowPointers: true, MaxVariableRecurse: 1, MaxStringLen: 64, MaxArrayValues: most, MaxStructFields: -1})
		if err != nil {
			t.Fatal(err)
		}
		locals := map[string]api.Variable{}
		for _, v := range list {
			locals[v.Name] = v
		}
		numbers := locals["numbers"]
		var got []string
		for _, c := range numbers.Children {
			got = append(got, c.Name+" "+c.Value)
		}
		if want := []string{"[0] 4", "[1] 5", "[2] 6"}; !slices.Equal(got, want[:min(most, 3)]) || !strings.HasSuffix(numbers.Value, "= {4, 5, 6}") {
			t.Errorf("%d: numbers = %s with %q", most, numbers.Value, got)
		}
		named := locals["named"].Children // keys and values
		if len(named) != 4 || named[0].Value != `"first"` || named[2].Value != `"second"` || len(named[3].Children) != 2 || named[3].Children[1].Value != "22" {
			t.Errorf("%d: named = %+v", most, named)
		}
		owner := locals["owner"].Children
		if len(owner) != 1 || owner[0].Name != "get()" || len(owner[0].Children) != 1 {
			t.Errorf("%d: owner = %+v", most, owner)
		}
		if text := locals["text"]; text.Value != `"standard"` || len(text.Children) != 0 {
			t.Errorf("%d: text = %+v", most, text)
		}
	}
	v, err := client.EvalVariable(scope, "numbers", api.LoadConfig{MaxArrayValues: 1})
	if err != nil || len(v.Children) != 1 || v.Children[0].Value != "4" {
		t.Errorf("%+v, %v", v, err)
	}
	for expression, want := range map[string]string{"numbers[2]": "6", "numbers.size()": "3", "named.size()": "2"} {
		if v, err := client.EvalVariable(scope, expression, api.LoadConfig{}); err != nil || v.Value != want {
			t.Errorf("%s = %+v, %v", expression, v, err)
		}
	}
	if err := client.SetVariable(scope, "numbers", "5"); err == nil || !strings.Contains(err.Error(), "only numbers and pointers are") {
		t.Errorf("set: %v", err)
	}
}
