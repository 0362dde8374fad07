package remote

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strconv"
	"sync"
)

// hostFile is a file that the stub reads for us (vFile packets). It implements io.ReaderAt, with a
// small cache because the packets are small.
type hostFile struct {
	s    *session
	fd   uint64
	size int64

	mu     sync.Mutex
	blocks map[int64][]byte
}

const (
	fileBlock     = 4096
	maxFileBlocks = 64 << 20 / fileBlock
	maxFileSize   = 1 << 40
)

// vFile sends a vFile packet. The stub answers F and a result, with data or not, or F-1 and an
// error number.
func (s *session) vFile(packet string) (result uint64, data []byte, err error) {
	reply, err := s.exchange("vFile:" + packet)
	if err != nil {
		return 0, nil, err
	}
	if len(reply) == 0 {
		return 0, nil, errUnsupported
	}
	text, data, _ := bytes.Cut(reply, []byte(";"))
	if len(text) < 2 || text[0] != 'F' {
		return 0, nil, fmt.Errorf("the stub answers %q to vFile", short(reply))
	}
	if text[1] == '-' {
		number, _, _ := bytes.Cut(text, []byte(","))
		return 0, nil, fmt.Errorf("the stub's error %q", text[min(len(number)+1, len(text)):])
	}
	result, err = strconv.ParseUint(string(text[1:]), 16, 63)
	return result, data, err
}

// openFile opens a file of the target. If the stub does not tell the size, the size is the number
// of readable bytes.
func (s *session) openFile(path string, pid int) (*hostFile, error) {
	s.inRootOf(pid)
	fd, _, err := s.vFile(fmt.Sprintf("open:%s,0,0", hex.EncodeToString([]byte(path))))
	if err != nil {
		return nil, err
	}
	f := &hostFile{s: s, fd: fd, blocks: map[int64][]byte{}}
	if f.size, err = f.findSize(); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// findSize asks the stub for the size. If the stub does not tell, findSize searches for the end.
func (f *hostFile) findSize() (int64, error) {
	if n, data, err := f.s.vFile(fmt.Sprintf("fstat:%x", f.fd)); err == nil && n >= 36 && len(data) >= 36 {
		// In the protocol's big-endian struct stat, st_size follows seven words of 4 bytes.
		size := int64(0)
		for _, c := range data[28:36] {
			size = size<<8 | int64(c)
		}
		if size > 0 && size < maxFileSize {
			return size, nil
		}
	}
	var one [1]byte
	has := func(at int64) (bool, error) {
		n, err := f.pread(one[:], at)
		return n > 0, err
	}
	lo, hi := int64(0), int64(1) // the end is in [lo, hi] once nothing is readable at hi-1
	for {
		more, err := has(hi - 1)
		if err != nil {
			return 0, err
		}
		if !more {
			break
		}
		if lo, hi = hi, 2*hi; hi > maxFileSize {
			return 0, errors.New("the stub's file does not end")
		}
	}
	for lo < hi-1 {
		mid := (lo + hi) / 2
		more, err := has(mid - 1)
		if err != nil {
			return 0, err
		}
		if more {
			lo = mid
		} else {
			hi = mid
		}
	}
	return lo, nil
}

// pread reads once, as many bytes as the stub gives.
func (f *hostFile) pread(p []byte, off int64) (int, error) {
	n, data, err := f.s.vFile(fmt.Sprintf("pread:%x,%x,%x", f.fd, min(len(p), (f.s.packetSize-64)/2), off))
	if err != nil {
		return 0, err
	}
	if n > uint64(len(data)) || len(data) > len(p) {
		return 0, fmt.Errorf("the stub says that it read %d bytes, and gives %d", n, len(data))
	}
	return copy(p, data[:n]), nil
}

// ReadAt implements [io.ReaderAt].
func (f *hostFile) ReadAt(p []byte, off int64) (n int, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for n < len(p) {
		at := off + int64(n)
		if at >= f.size {
			return n, io.EOF
		}
		b, err := f.block(at / fileBlock)
		if err != nil {
			return n, err
		}
		if at%fileBlock >= int64(len(b)) {
			return n, io.ErrUnexpectedEOF
		}
		n += copy(p[n:], b[at%fileBlock:])
	}
	return n, nil
}

func (f *hostFile) block(i int64) ([]byte, error) {
	if b, ok := f.blocks[i]; ok {
		return b, nil
	}
	b := make([]byte, min(fileBlock, f.size-i*fileBlock))
	for n := 0; n < len(b); {
		got, err := f.pread(b[n:], i*fileBlock+int64(n))
		if err != nil {
			return nil, err
		}
		if got == 0 {
			b = b[:n]
		}
		n += got
	}
	if len(f.blocks) >= maxFileBlocks {
		clear(f.blocks)
	}
	f.blocks[i] = b
	return b, nil
}

// Close implements [io.Closer].
func (f *hostFile) Close() error {
	_, _, err := f.s.vFile(fmt.Sprintf("close:%x", f.fd))
	return err
}

// inRootOf makes the stub resolve paths as process pid does, which may be in a container; as the
// stub itself does if pid is 0. A stub without this packet knows no difference.
func (s *session) inRootOf(pid int) { s.vFile(fmt.Sprintf("setfs:%x", pid)) }

// readWhole reads one of the kernel's files, which have no size.
func (s *session) readWhole(path string, limit int) ([]byte, error) {
	s.inRootOf(0)
	fd, _, err := s.vFile(fmt.Sprintf("open:%s,0,0", hex.EncodeToString([]byte(path))))
	if err != nil {
		return nil, err
	}
	f := &hostFile{s: s, fd: fd}
	defer f.Close()
	var all []byte
	var piece [64 << 10]byte
	for range maxPieces {
		n, err := f.pread(piece[:], int64(len(all)))
		if err != nil {
			return nil, err
		}
		if n == 0 {
			return all, nil
		}
		if all = append(all, piece[:n]...); len(all) > limit {
			return nil, fmt.Errorf("%s has more than %d bytes", path, limit)
		}
	}
	return nil, fmt.Errorf("%s does not end, after %d pieces", path, maxPieces)
}
