package main

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"

	"github.com/sfwalk/sfwalk/sframe"
)

// errNoPeer: libsframe cannot be had.
var errNoPeer = errors.New("no libsframe")

// here is the folder of this source file.
func here() string {
	_, file, _, _ := runtime.Caller(0)
	return filepath.Dir(file)
}

// buildPeer makes the program of peer/peer.c in dir, with the libsframe that `make
// deps` puts into .cache: the shared library, as programs use it, or the static
// one, which the compiler of Debian made faster. The error wraps errNoPeer where
// there is none.
func buildPeer(dir string, static bool) (string, error) {
	lib := filepath.Join(here(), "..", "..", ".cache", "libsframe") // absolute, as the compiler has seen it
	if _, err := os.Stat(filepath.Join(lib, "libsframe.a")); err != nil {
		return "", fmt.Errorf("%w: %v: run bench/sframe/libsframe.sh .cache/libsframe", errNoPeer, err)
	}
	peer, with := filepath.Join(dir, "peer"), filepath.Join(lib, "libsframe.so.3")
	if static {
		peer, with = peer+"-static", filepath.Join(lib, "libsframe.a")
	}
	cmd := exec.Command("gcc", "-O2", "-I"+lib, filepath.Join(here(), "peer", "peer.c"), with, "-Wl,-rpath,"+lib, "-o", peer)
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w: gcc: %v\n%s", errNoPeer, err, out)
	}
	return peer, nil
}

// A peer is a running peer/peer.c.
type peer struct {
	cmd  *exec.Cmd
	in   io.WriteCloser
	out  *bufio.Reader
	pipe io.Closer // under out
}

// startPeer gives the peer a section and link-time addresses to look up.
func startPeer(program, dir string, s *sframe.Section, pcs []uint64) (*peer, error) {
	raw := make([]byte, 0, 8*len(pcs))
	for _, pc := range pcs {
		raw = binary.NativeEndian.AppendUint64(raw, pc-s.Addr)
	}
	dir, err := os.MkdirTemp(dir, "peer-")
	if err != nil {
		return nil, err
	}
	section, list := filepath.Join(dir, "section"), filepath.Join(dir, "pcs")
	if err := errors.Join(os.WriteFile(section, s.Data, 0o666), os.WriteFile(list, raw, 0o666)); err != nil {
		return nil, err
	}
	cmd := exec.Command(program, section, list)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	return &peer{cmd, in, bufio.NewReaderSize(out, 1<<20), out}, cmd.Start()
}

// stop ends the peer. What it still writes is not waited for, and an error.
func (p *peer) stop() error {
	p.in.Close()
	p.pipe.Close()
	return p.cmd.Wait()
}

// time has the peer do one of its timed commands, and returns nanoseconds.
func (p *peer) time(command byte) (float64, error) {
	if _, err := p.in.Write([]byte{command}); err != nil {
		return 0, err
	}
	line, err := p.out.ReadString('\n')
	if err != nil {
		return 0, err
	}
	return strconv.ParseFloat(strings.TrimSpace(line), 64)
}

// An answer is struct answer of peer/peer.c.
type answer struct {
	start       uint32
	found, info uint8
	errors      [2]uint8
	words       [6]uint32
	as          [2]struct{ cfa, fp, ra int32 }
}

// answerSize is the size of struct answer in bytes.
const answerSize = 56

func (a *answer) decode(p []byte) {
	u32 := func(i int) uint32 { return binary.NativeEndian.Uint32(p[i:]) }
	a.start, a.found, a.info, a.errors = u32(0), p[4], p[5], [2]uint8{p[6], p[7]}
	for i := range a.words {
		a.words[i] = u32(8 + 4*i)
	}
	for i := range a.as {
		as := &a.as[i]
		as.cfa, as.fp, as.ra = int32(u32(32+12*i)), int32(u32(36+12*i)), int32(u32(40+12*i))
	}
}
