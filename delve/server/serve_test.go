//go:build linux && (amd64 || arm64)

package server

import (
	"io"
	"reflect"
	"strings"
	"testing"
)

// A panic in the engine is an error to the client that has asked, no more.
func TestPanic(t *testing.T) {
	client := &sink{}
	f := newFilter(&server{stacks: &stacks{}}, io.Discard, client)
	f.await(5, func([]byte) bool { panic("nonsense") })
	f.reply([]byte(`{"seq":9,"type":"response","request_seq":5,"command":"stackTrace","success":true}`))
	if got := client.String(); !strings.Contains(got, `"request_seq":5`) || !strings.Contains(got, `"success":false`) || !strings.Contains(got, "nonsense") {
		t.Error(got)
	}
	panics := func(int, *int) error { panic("nonsense") }
	if err := call(reflect.ValueOf(panics), reflect.ValueOf(1), reflect.ValueOf(new(int))); err == nil || !strings.Contains(err.Error(), "internal debugger error: nonsense") {
		t.Error(err)
	}
}
