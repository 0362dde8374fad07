package symbolstore

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"
	"time"

	"github.com/sfwalk/sfwalk/format/breakpad"
	"github.com/sfwalk/sfwalk/internal/regular"
	"github.com/sfwalk/sfwalk/internal/usercache"
)

const (
	minKept = 16 << 20  // bytes of a symbol file whose index is worth keeping
	maxKept = 2 << 30   // bytes of all kept indexes together
	fresh   = time.Hour // how old the time of an index's last use may be before it is set anew
)

// noIndexes says that indexes are neither used nor kept.
var noIndexes atomic.Bool

// NoIndexes has symbol files be indexed each time that they are opened.
func NoIndexes() { noIndexes.Store(true) }

// indexes is the folder of the kept indexes; "" if there can be none.
func indexes() string {
	if usercache.Room(maxKept) == 0 {
		return ""
	}
	dir, err := usercache.Path("symbol-index")
	if err != nil {
		return ""
	}
	return dir
}

// openKept opens a symbol file by the index that was kept of it, or indexes it, and keeps that. An
// index that cannot be used or kept costs itself alone.
//
// An index is of a content: it has a sum of the file. To read a file takes a second for ten
// gigabytes, so a stamp stands for the sum as long as the file system's own record of the file,
// which no program can set back, says that nobody has written to it since.
func openKept(name string, file *os.File, info os.FileInfo) (*breakpad.File, error) {
	dir := indexes()
	if info.Size() < minKept || dir == "" || noIndexes.Load() {
		return breakpad.New(file, info.Size())
	}
	if full, err := filepath.Abs(name); err == nil {
		name = full
	}
	path := filepath.Join(dir, fmt.Sprintf("%x", sha256.Sum256([]byte(name)))[:32])
	now, stamped := stampOf(info)
	stamp, index, err := readKept(path)
	var sum breakpad.Sum
	if err == nil {
		sum, err = breakpad.IndexSum(index, index.Size())
	}
	unchanged := err == nil && stamped && stamp.stamp == now && stamp.settled()
	if err == nil && !unchanged {
		sum, err = breakpad.SumOf(file, info.Size())
	}
	var f *breakpad.File
	if err == nil {
		f, err = breakpad.NewIndexed(file, info.Size(), index, index.Size(), sum)
	}
	if err == nil && unchanged {
		if info, err := os.Stat(path); err == nil && time.Since(info.ModTime()) > fresh {
			now := time.Now()
			os.Chtimes(path, now, now)
		}
		return f, nil
	}
	var keep io.Reader
	if err == nil {
		keep = io.NewSectionReader(index, 0, index.Size()) // with another stamp
	} else if f, err = breakpad.New(file, info.Size()); err == nil {
		keep = bytes.NewReader(f.AppendIndex(nil))
	} else {
		return nil, err
	}
	stamp = keptStamp{now, time.Now()}
	if again, err := os.Stat(name); err == nil {
		if then, ok := stampOf(again); !ok || then == now { // nobody has written to it since it was opened
			writeKept(path, stamp, keep)
		}
	}
	return f, nil
}

// stamp is the file system's record of a file: which it is, its size, and when it or its record was
// last changed.
type stamp struct {
	device, inode         uint64
	size, written, change int64 // bytes; nanoseconds of Unix
}

// keptStamp is the stamp of a symbol file when its index was written.
type keptStamp struct {
	stamp
	written time.Time
}

// settled reports whether the file was left alone for so long before the index was written that a
// later change has a later time.
func (s *keptStamp) settled() bool {
	const coarse = 2 * time.Second // the clocks of file systems
	return s.written.Sub(time.Unix(0, s.change)) >= coarse
}

const stampFormat = "sfwalk stamp %d %d %d %d %d %d\n"

// readKept opens an index, and reads its stamp.
func readKept(path string) (s keptStamp, index *io.SectionReader, err error) {
	file, err := regular.Open(path) // it stays open as long as the index is used
	if err != nil {
		return s, nil, err
	}
	info, err := file.Stat()
	line := make([]byte, 256)
	n, _ := file.ReadAt(line, 0)
	line, _, ok := bytes.Cut(line[:n], []byte("\n"))
	if err != nil || !ok {
		file.Close()
		return s, nil, errors.Join(err, breakpad.ErrIndex)
	}
	begin := int64(len(line)) + 1
	var at int64
	if n, _ := fmt.Sscanf(string(line)+"\n", stampFormat, &s.device, &s.inode, &s.size, &s.stamp.written, &s.change, &at); n == 6 {
		s.written = time.Unix(0, at)
	}
	return s, io.NewSectionReader(file, begin, info.Size()-begin), nil
}

// writeKept writes an index in one step. What cannot be written is left out.
func writeKept(path string, s keptStamp, index io.Reader) {
	dir := filepath.Dir(path)
	if os.MkdirAll(dir, 0o700) != nil {
		return
	}
	makeRoom(dir)
	file, err := os.CreateTemp(dir, "part-")
	if err != nil {
		return
	}
	_, err = fmt.Fprintf(file, stampFormat, s.device, s.inode, s.size, s.stamp.written, s.change, s.written.UnixNano())
	if err == nil {
		_, err = io.Copy(file, index)
	}
	if err = errors.Join(err, file.Close()); err == nil {
		err = os.Rename(file.Name(), path)
	}
	if err != nil {
		os.Remove(file.Name())
		return
	}
	usercache.MakeRoom(0)
}

// makeRoom removes the oldest indexes, until the others are not too large.
func makeRoom(dir string) {
	size := int64(0)
	var list []fs.FileInfo
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		if info, err := e.Info(); err == nil {
			list = append(list, info)
			size += info.Size()
		}
	}
	slices.SortFunc(list, func(a, b fs.FileInfo) int { return a.ModTime().Compare(b.ModTime()) })
	for _, info := range list {
		if size <= usercache.Room(maxKept) {
			return
		}
		if err := os.Remove(filepath.Join(dir, info.Name())); err == nil || errors.Is(err, fs.ErrNotExist) {
			size -= info.Size()
		}
	}
}
