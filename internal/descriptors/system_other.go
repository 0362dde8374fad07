//go:build !linux

package descriptors

import "os"

// Only Linux has what a Reader reads.

type folder int

const noFolder folder = -1

func openFolder(string) folder { return noFolder }
func (folder) close()          {}

type place struct {
	in   folder
	name string
}

func (place) link() (string, error)                  { return "", os.ErrNotExist }
func (place) read(int) []byte                        { return nil }
func (place) access() (reads, writes, ok bool)       { return false, false, false }
func (place) isFIFO() bool                           { return false }
func (place) identity() (dev, inode uint64, ok bool) { return 0, 0, false }
func (place) protocol() string                       { return "" }
func shareFiles(pid, tid int) bool                   { return false }

func (*Reader) unixPeer(*File, int, uint64) {}
