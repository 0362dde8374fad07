package lz4file

import (
	"bytes"
	"encoding/hex"
	"errors"
	"io"
	"math/rand/v2"
	"os/exec"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/pierrec/lz4/v4"

	"github.com/sfwalk/sfwalk/internal/test/bounds"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
)

// packed are frames of `printf 'abcabcabcabcabcabcabcabc\n'` by lz4 1.9.4 with these flags, of a
// file.
var packed = map[string]string{
	"":                           "04224d186440a70c0000003d616263030050636162630a000000005ca320f2",
	"-BD":                        "04224d186440a70c0000003d616263030050636162630a000000005ca320f2",
	"-B5 -BX":                    "04224d187440bd0c0000003d616263030050636162630aaa3c2432000000005ca320f2",
	"-B7 -BD -BX --content-size": "04224d187c401900000000000000b10c0000003d616263030050636162630aaa3c2432000000005ca320f2",
	"--no-frame-crc":             "04224d186040820c0000003d616263030050636162630a00000000",
	"--content-size":             "04224d186c4019000000000000006c0c0000003d616263030050636162630a000000005ca320f2",
}

const text = "abcabcabcabcabcabcabcabc\n"

func unpacked(data []byte) ([]byte, error) {
	r, err := NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(r)
}

func TestFlags(t *testing.T) {
	for flags, digits := range packed {
		data, err := hex.DecodeString(digits)
		if err != nil {
			t.Fatal(err)
		}
		for n := 1; n <= 2; n++ {
			if got, err := unpacked(bytes.Repeat(data, n)); err != nil || string(got) != strings.Repeat(text, n) {
				t.Errorf("lz4 %s, %d frames: %q, %v", flags, n, got, err)
			}
		}
		between := append(append(bytes.Clone(data), "\x5a\x2a\x4d\x18\x03\x00\x00\x00xyz"...), data...)
		if got, err := unpacked(between); err != nil || string(got) != text+text {
			t.Errorf("lz4 %s, with a frame to skip: %q, %v", flags, got, err)
		}
		for n := range len(data) {
			if got, err := unpacked(data[:n]); err == nil || !strings.HasPrefix(text, string(got)) {
				t.Errorf("lz4 %s, %d bytes: %q, %v", flags, n, got, err)
			}
		}
		// Each bit counts, but where no checksum is: in the blocks, the sizes and the offsets.
		for i := range data {
			changed := bytes.Clone(data)
			changed[i] ^= 0x10
			got, err := unpacked(changed)
			if err == nil && string(got) == text && i < 7 {
				t.Errorf("lz4 %s: byte %d does not count", flags, i)
			}
			if err == nil && string(got) != text && !strings.Contains(flags, "--no-frame-crc") {
				t.Errorf("lz4 %s: byte %d changed: %q", flags, i, got)
			}
		}
		r, err := NewReader(bytes.NewReader(data))
		if want := uint64(len(text)); err != nil || strings.Contains(flags, "--content-size") != (r.Size == want) {
			t.Errorf("lz4 %s: size %d, %v", flags, r.Size, err)
		}
	}
}

// TestPacked unpacks what zstd --format=lz4 has packed: many blocks, matches of all lengths, and
// bytes that do not pack.
func TestPacked(t *testing.T) {
	from := rand.New(rand.NewPCG(1, 2))
	var data []byte
	for len(data) < 1<<20 {
		switch n := from.IntN(2000); from.IntN(4) {
		case 0:
			data = append(data, bytes.Repeat([]byte{byte(n)}, 40*n)...)
		case 1:
			for range n {
				data = append(data, byte(from.Uint32()))
			}
		default:
			at := from.IntN(len(data) + 1)
			data = append(data, data[at:min(len(data), at+n)]...)
		}
	}
	for _, level := range []string{"-1", "-9"} {
		cmd := exec.Command(gdbtest.Tool(t, "zstd"), "--format=lz4", level, "-c")
		cmd.Stdin = bytes.NewReader(data)
		out, err := cmd.Output()
		if err != nil {
			gdbtest.Cannot(t, "this zstd writes no LZ4")
		}
		got, err := unpacked(out)
		if err != nil || !bytes.Equal(got, data) {
			t.Errorf("%s: %d bytes of %d, %v", level, len(got), len(data), err)
		}
		got, err = unpacked(out[:len(out)/2])
		if !errors.Is(err, io.ErrUnexpectedEOF) || len(got) == 0 || !bytes.HasPrefix(data, got) {
			t.Errorf("half of %s: %d bytes, %v", level, len(got), err)
		}
	}
}

// TestBehind: what is behind a frame is no frame, or nothing but beginnings of LZ4's first format,
// for which the library takes stack.
func TestBehind(t *testing.T) {
	data, err := hex.DecodeString(packed[""])
	if err != nil {
		t.Fatal(err)
	}
	const old = "\x02\x21\x4c\x18"
	for behind, want := range map[string]error{
		"no frame":                    ErrTrailer,
		"no":                          io.ErrUnexpectedEOF,
		strings.Repeat(old, maxOld+1): ErrFormat,
		strings.Repeat(old, maxOld):   nil,
	} {
		// What is read may come in parts.
		r, err := NewReader(iotest.OneByteReader(io.MultiReader(bytes.NewReader(data), strings.NewReader(behind))))
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(r)
		if !errors.Is(err, want) || string(got) != text {
			t.Errorf("%q: %q, %v; want %v", behind, got, err, want)
		}
	}
}

// FuzzReader reads what a fuzzer has made of frames, with the header's checksum set right.
func FuzzReader(f *testing.F) {
	for _, digits := range packed {
		data, _ := hex.DecodeString(digits)
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) > 6 && string(data[:4]) == Magic {
			n := 6
			if data[4]&8 != 0 {
				n += 8
			}
			for sum := 0; sum < 256 && len(data) > n; sum++ {
				data[n] = byte(sum)
				if _, err := lz4.ValidFrameHeader(data[:n+1]); !errors.Is(err, lz4.ErrInvalidHeaderChecksum) {
					break
				}
			}
		}
		bounds.Hold(t, 64<<20, func() {
			r, err := NewReader(bytes.NewReader(data))
			if err != nil {
				return
			}
			if n, _ := io.Copy(io.Discard, r); n > 256*int64(len(data)) {
				t.Errorf("%d bytes of %d", n, len(data))
			}
		})
	})
}
