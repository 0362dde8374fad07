package xzfile

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/bounds"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
)

// pack packs data with xz: by one thread, as is no longer usual since xz 5.6, unless args say
// otherwise. Blocks of one thread do not say how large they are.
func pack(t testing.TB, data []byte, args ...string) []byte {
	t.Helper()
	cmd := exec.Command(gdbtest.Tool(t, "xz"), append([]string{"-c", "-T1"}, args...)...)
	cmd.Stdin = bytes.NewReader(data)
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// ask changes the first block's header, so that it asks for the largest dictionary there is.
func ask(packed []byte) []byte {
	h := bytes.Clone(packed)
	size := 4 * (int(h[12]) + 1)
	i := bytes.Index(h[14:12+size], []byte{0x21, 1}) + 14
	h[i+2] = 40
	binary.LittleEndian.PutUint32(h[12+size-4:], crc32.ChecksumIEEE(h[12:12+size-4]))
	return h
}

// The bytes that xz has packed, in one block or many, in several streams, are unpacked. Their
// number is known before, whatever dictionary the file asks for.
func TestUnpack(t *testing.T) {
	self, err := os.ReadFile(filepath.Join(gdbtest.Testdata(t, "bin"), "mix-v3"))
	if err != nil {
		t.Fatal(err)
	}
	data := append(append(bytes.Clone(self), make([]byte, 3<<20)...), self...)
	one, blocks := pack(t, data, "-6"), pack(t, data, "-1", "--block-size=100000", "--check=sha256")
	for name, packed := range map[string][]byte{
		"one": one, "blocks": blocks, "none": pack(t, nil), "4 GiB": ask(one), "4 GiB of a block": ask(blocks), "threads": pack(t, data, "-T2", "-0", "--check=none"),
		"streams": append(append(append(bytes.Clone(one), 0, 0, 0, 0), blocks...), ask(one)...),
	} {
		want := data
		switch name {
		case "none":
			want = nil
		case "streams":
			want = bytes.Repeat(data, 3)
		}
		f, err := Open(bytes.NewReader(packed), int64(len(packed)))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		got, err := io.ReadAll(f.Reader())
		if err != nil || !bytes.Equal(got, want) || f.Unpacked != uint64(len(want)) || f.Cut {
			t.Errorf("%s: %d bytes, %v; %d were told, want %d", name, len(got), err, f.Unpacked, len(want))
		}
	}
	cut := ask(one)[:len(one)*2/3]
	if f, err := Open(bytes.NewReader(cut), int64(len(cut))); err != nil || !f.Cut || f.Unpacked == 0 {
		t.Errorf("cut: %+v, %v", f, err)
	}
	large := ask(pack(t, make([]byte, 100<<20), "-0"))
	if _, err := Open(bytes.NewReader(large), int64(len(large))); err == nil {
		t.Error("a dictionary of 100 MiB is given")
	}
}

// lc and lp may be 4 together, as in xz's own files. A file that asks for more is refused: the
// decoder would allocate 6 MB for a chunk of seven bytes.
func TestLiteralBits(t *testing.T) {
	text := bytes.Repeat([]byte("hello "), 50)
	for _, bits := range [][2]int{{0, 0}, {3, 0}, {4, 0}, {0, 4}, {2, 2}, {5, 0}, {1, 4}, {4, 1}, {8, 4}} {
		lzma2 := fmt.Sprintf("--lzma2=preset=0,lc=%d,lp=%d", bits[0], bits[1])
		c := exec.Command(gdbtest.Tool(t, "xz"), "-c", lzma2)
		c.Stdin = bytes.NewReader(text)
		packed, err := c.Output()
		refused := err != nil
		if refused {
			packed = pack(t, text, "--lzma2=preset=0,pb=0")
			packed[12+4*(int(packed[12])+1)+5] = byte(9*bits[1] + bits[0])
		}
		if _, err := Open(bytes.NewReader(packed), int64(len(packed))); (err != nil) != refused {
			t.Errorf("%s: %v; xz refuses: %v", lzma2, err, refused)
		}
	}
}

// sealed puts the right checksum behind the first block's header, which the fuzzer cannot guess.
func sealed(data []byte) []byte {
	if len(data) < 13 || len(data) < 12+4*(int(data[12])+1) {
		return data
	}
	data = bytes.Clone(data)
	end := 12 + 4*(int(data[12])+1) - 4
	binary.LittleEndian.PutUint32(data[end:], crc32.ChecksumIEEE(data[12:end]))
	return data
}

// FuzzOpen: a file unpacks to the size that Open has told.
func FuzzOpen(f *testing.F) {
	f.Add(pack(f, []byte("hello"), "-0"))
	f.Add(ask(pack(f, bytes.Repeat([]byte("hello"), 100), "-0", "--block-size=100")))
	f.Add(pack(f, bytes.Repeat([]byte("hello"), 200), "-0", "--block-size=4")) // many blocks, each of them small
	hello := bytes.Repeat([]byte("hello"), 20)
	one, blocks := pack(f, hello, "-0", "--check=sha256"), pack(f, hello, "-0", "--check=crc32", "--block-size=50", "-T2")
	f.Add(append(append(append(bytes.Clone(one), 0, 0, 0, 0), blocks...), one...))
	f.Add(one[:len(one)*2/3])
	f.Add(pack(f, hello, "-0", "--check=none"))
	f.Add(pack(f, nil))
	f.Add(pack(f, hello, "--x86", "--lzma2=preset=0"))
	f.Add([]byte(nil))
	for _, change := range []struct{ at, to int }{{at: 13, to: 1}, {at: 24, to: 3}, {at: 24, to: 2}, {at: 24, to: 0}, {at: 12, to: 0}, {at: len(one) - 30, to: 0}} {
		changed := bytes.Clone(one)
		changed[change.at] = byte(change.to)
		f.Add(changed)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		data = sealed(data)
		bounds.Hold(t, 2<<20+512*len(data), func() {
			x, err := Open(bytes.NewReader(data), int64(len(data)))
			if err != nil || x.Unpacked > 1<<20 {
				return
			}
			if n, err := io.Copy(io.Discard, x.Reader()); uint64(n) > x.Unpacked || err == nil && uint64(n) != x.Unpacked {
				t.Errorf("%d bytes, %d were told, %v", n, x.Unpacked, err)
			}
		})
	})
}
