package minidump

import (
	"errors"
	"testing"

	"github.com/sfwalk/sfwalk/arch/amd64"
	"github.com/sfwalk/sfwalk/arch/arm64"
	"github.com/sfwalk/sfwalk/arch/s390x"
	"github.com/sfwalk/sfwalk/format/minidump"
	"github.com/sfwalk/sfwalk/target/snapshot"
)

// TestContentsOf: no minidump can have the registers of s390x.
func TestContentsOf(t *testing.T) {
	if err := errors.Join(Writable(amd64.Arch), Writable(arm64.Arch)); err != nil {
		t.Error(err)
	}
	for _, err := range []error{Writable(s390x.Arch), Writable(nil)} {
		if !errors.Is(err, minidump.ErrProcessor) {
			t.Error(err)
		}
	}
	if _, err := Contents(&snapshot.Snapshot{Arch: s390x.Arch}, nil); !errors.Is(err, minidump.ErrProcessor) {
		t.Error(err)
	}
}

// TestJoined: blocks that touch become one, and the snapshot's stay as they are.
func TestJoined(t *testing.T) {
	data := []byte("abcdef")
	list := joined([]snapshot.Block{{Addr: 0x10, Data: data[:2]}, {Addr: 0x12}, {Addr: 0x12, Data: []byte("xy")}, {Addr: 0x15, Data: data[4:]}})
	if len(list) != 2 || list[0].Addr != 0x10 || string(list[0].Data) != "abxy" || list[1].Addr != 0x15 || string(list[1].Data) != "ef" || string(data) != "abcdef" {
		t.Errorf("%v, %q", list, data)
	}
}
