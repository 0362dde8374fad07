//go:build linux

package lookup

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/sfwalk/sfwalk/format/sframe"
	"github.com/sfwalk/sfwalk/internal/bench/build"
	"github.com/sfwalk/sfwalk/internal/bench/peer"
)

// buildPeer makes the program of internal/bench/programs/libsframe.c with the shared library, as
// programs use it, or with the static one, which Debian's compiler has made faster. The error wraps
// build.ErrMissing if there is no libsframe.
func buildPeer(d build.Dir, static bool) (program, version string, err error) {
	lib, version, err := d.Libsframe()
	if err != nil {
		return "", "", err
	}
	name, with := "libsframe", filepath.Join(lib, "libsframe.so.3")
	if static {
		name, with = "libsframe-static", filepath.Join(lib, "libsframe.a")
	}
	program, err = d.C(name, []string{"-O2", "-I" + lib, with, "-Wl,-rpath," + lib}, "libsframe.c")
	if err != nil {
		return "", "", fmt.Errorf("%w: %v", build.ErrMissing, err)
	}
	return program, version, nil
}

// buildPeers makes both programs, the one with the shared library first.
func buildPeers(d build.Dir) (programs []string, version string, err error) {
	shared, version, err := buildPeer(d, false)
	if err != nil {
		return nil, "", err
	}
	static, _, err := buildPeer(d, true)
	return []string{shared, static}, version, err
}

// startPeer gives the peer a section and link-time addresses to look up.
func startPeer(program, dir string, s *sframe.Section, pcs []uint64) (*peer.Peer, error) {
	raw := make([]byte, 0, 8*len(pcs))
	for _, pc := range pcs {
		raw = binary.NativeEndian.AppendUint64(raw, pc-s.Addr)
	}
	dir, err := os.MkdirTemp(dir, "section-")
	if err != nil {
		return nil, err
	}
	section, list := filepath.Join(dir, "section"), filepath.Join(dir, "pcs")
	if err := errors.Join(os.WriteFile(section, s.Data, 0o666), os.WriteFile(list, raw, 0o666)); err != nil {
		return nil, err
	}
	p, err := peer.Start(program, section, list)
	if err != nil {
		return nil, err
	}
	// It writes a line when it has read them.
	if _, err := p.Out.ReadString('\n'); err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", filepath.Base(program), err), p.Stop())
	}
	return p, os.RemoveAll(dir)
}

// An answer is struct answer of libsframe.c.
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
