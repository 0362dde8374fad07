package guard

import (
	"bytes"
	"reflect"
	"syscall"
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/bounds"
)

// What is sent is what is received.
func TestWire(t *testing.T) {
	var b bytes.Buffer
	requests := []Request{
		{}, {Op: OpAttach, PID: 1 << 22, TIDs: []int{1, 2, 1 << 22}, Timeout: 1 << 40},
		{Op: OpSet, TID: 7, Note: 0x202, Data: []byte{0, 1, 255}}, {Op: OpGet, TID: 7, Notes: []uint32{1, 0x202, 0xffffffff}}, {Op: OpInsert, Addr: ^uint64(0)}, {Op: OpResume, Alone: true, Step: true, Signal: 64},
	}
	replies := []Reply{
		{}, {Errno: syscall.ESRCH, N: -1, TIDs: []int{5}, Late: []int{6, 7}}, {Data: []byte("sets"), Sizes: []int{3, -1, 1}}, {Err: "why", Data: make([]byte, 1<<16)},
		{Event: Event{Kind: Signalled, TID: 3, Status: -1, Signal: Signal{Number: 11, Code: -6, Address: 1 << 63, HasAddress: true, Sender: 9, Own: true}}},
	}
	for i := range requests {
		if err := requests[i].Send(&b); err != nil {
			t.Fatal(err)
		}
	}
	for i := range replies {
		if err := replies[i].send(&b); err != nil {
			t.Fatal(err)
		}
	}
	in := NewReader(&b)
	for _, want := range requests {
		if got, err := receiveRequest(in); err != nil || !same(got, want) {
			t.Errorf("%+v, %v, want %+v", got, err, want)
		}
	}
	for _, want := range replies {
		if got, err := ReceiveReply(in); err != nil || !same(*got, want) {
			t.Errorf("%+v, %v, want %+v", got, err, want)
		}
	}
	if err := (&Request{Data: make([]byte, MaxMessage)}).Send(&b); err == nil || b.Len() > 0 {
		t.Errorf("a message that is too long: %v, %d bytes", err, b.Len())
	}
}

// same takes empty lists and nil lists for the same.
func same[T any](a, b T) bool {
	x, y := reflect.ValueOf(&a).Elem(), reflect.ValueOf(&b).Elem()
	for i := range x.NumField() {
		f, g := x.Field(i), y.Field(i)
		if f.Kind() == reflect.Slice && f.Len() == 0 && g.Len() == 0 {
			continue
		}
		if !reflect.DeepEqual(f.Interface(), g.Interface()) {
			return false
		}
	}
	return true
}

func FuzzMessage(f *testing.F) {
	m := message{words: []int64{1, -1, 1 << 40}, data: []byte("data"), text: "text"}
	var b bytes.Buffer
	m.send(&b)
	f.Add(b.Bytes()[8:])
	f.Add([]byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f, 1})
	f.Fuzz(func(t *testing.T, b []byte) {
		bounds.Hold(t, len(b), func() {
			got, err := parseMessage(b)
			if n := 8*len(got.words) + len(got.data) + len(got.text); n > 8*len(b) || err == nil && n == 0 && len(b) > 1<<10 {
				t.Errorf("%d bytes, %d words, %d of data, %d of text", len(b), len(got.words), len(got.data), len(got.text))
			}
		})
	})
}
