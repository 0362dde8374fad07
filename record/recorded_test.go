package record

import (
	"testing"

	"github.com/sfwalk/sfwalk/format/perfdata"
	"github.com/sfwalk/sfwalk/format/perfevent"
	"github.com/sfwalk/sfwalk/target/procmaps"
)

// A record that claims the device of build IDs has none.
func TestClaimedDevice(t *testing.T) {
	for _, major := range []uint32{deviceBuildID, devicePath} {
		h := newRecorded(&perfdata.Reader{}, Places{}, t.Logf)
		at := procmaps.Mapping{Path: "/no/such/file", Major: major, Inode: 27}
		h.identify(&perfevent.Mmap{Path: at.Path, Inode: at.Inode}, &at)
		if im, err := h.open(1, &procmaps.File{Mapping: at}); err == nil {
			t.Errorf("device %#x: %v", major, im)
		}
	}
}
