package waits

import (
	"slices"
	"testing"

	"github.com/sfwalk/sfwalk/internal/command/address"
	"github.com/sfwalk/sfwalk/internal/descriptors"
	"github.com/sfwalk/sfwalk/internal/waitfor"
)

// TestSum adds threads up: what few wait for is said in full, of many what they share.
func TestSum(t *testing.T) {
	read := func(fd int, peer string) *Entry {
		f := descriptors.File{FD: fd, Kind: descriptors.Socket, Protocol: "TCP", State: "ESTABLISHED", Local: "10.0.0.1:1", Peer: peer}
		return &Entry{Kind: "read", Call: Call{Call: "read", Files: []descriptors.File{f}}}
	}
	cond := func(at uint64) *Entry {
		return &Entry{Kind: "condition", kind: waitfor.Condition, Address: address.At(at), Member: "this->ready"}
	}
	for _, tt := range []struct {
		list []*Entry
		one  bool
		want []string
	}{
		{[]*Entry{nil, nil}, false, nil},
		{[]*Entry{read(7, "10.0.0.2:5432")}, true, []string{"waits to read from fd 7: TCP socket to 10.0.0.2:5432 from 10.0.0.1:1"}},
		{[]*Entry{read(7, "10.0.0.2:5432"), read(7, "10.0.0.2:5432")}, false, []string{"wait to read from fd 7: TCP socket to 10.0.0.2:5432 from 10.0.0.1:1"}},
		{
			[]*Entry{read(1, "a:1"), read(2, "b:1"), read(3, "a:1"), read(4, "a:1"), read(5, "b:1"), read(6, "c:1"), nil}, false,
			[]string{"3 threads wait to read: TCP socket to a:1", "2 threads wait to read: TCP socket to b:1", "1 thread waits to read: TCP socket to c:1"},
		},
		{
			[]*Entry{read(1, "a:1"), read(2, "b:1"), read(3, "c:1"), read(4, "d:1"), read(5, "e:1"), read(6, "e:1"), read(7, "f:1"), nil}, false,
			[]string{
				"2 threads wait to read: TCP socket to e:1", "1 thread waits to read: TCP socket to a:1", "1 thread waits to read: TCP socket to b:1",
				"1 thread waits to read: TCP socket to c:1", "and 2 for other things",
			},
		},
		{[]*Entry{cond(1), cond(2), cond(3), cond(4), cond(5)}, false, []string{"wait for a condition variable (this->ready)"}},
	} {
		var s Sum
		for _, e := range tt.list {
			s.Add(e)
		}
		if got := s.Lines("thread", tt.one); !slices.Equal(got, tt.want) {
			t.Errorf("%q, want %q", got, tt.want)
		}
	}
}
