//go:build linux && (amd64 || arm64)

package front

import (
	"io"
	"net"
	"reflect"
	"strings"
	"testing"
)

// What goes wrong in the engine is an error to the client that has asked, no more.
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

// A socket is found by both its addresses, and so is its user.
func TestOwner(t *testing.T) {
	const table = `  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 0100007F:0FC8 0100007F:E682 01 00000000:00000000 00:00000000 00000000     7        0 1 1 0000000000000000 20 0 0 10 -1
  21: 0100007F:E682 0100007F:0FC8 01 00000000:00000000 00:00000000 00000000 149098        0 8420541 2 0000000000000000 20 0 0 10 -1
   5: 00000000000000000000000001000000:D3E4 00000000000000000000000001000000:0FC8 01 00000000:00000000 00:00000000 00000000 149099        0 8425526 2
   6: 0100007F:0001
`
	v4, v6 := net.ParseIP("127.0.0.1").To4(), net.ParseIP("::1")
	for _, tt := range []struct {
		ip             net.IP
		client, server int
		uid            int
	}{{v4, 59010, 4040, 149098}, {v6, 54244, 4040, 149099}, {v4, 4040, 59010, 7}, {v4, 1, 2, -1}, {v6, 59010, 4040, -1}} {
		uid, ok := owner(table, socket(tt.ip, tt.client), socket(tt.ip, tt.server))
		if ok != (tt.uid >= 0) || ok && uid != tt.uid {
			t.Errorf("%v %d: %d, %t", tt.ip, tt.client, uid, ok)
		}
	}
}
