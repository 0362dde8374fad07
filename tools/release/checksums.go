package main

import (
	"crypto/sha256"
	"fmt"
	"io"
	"os"
)

// sums is the file of the checksums of all others.
const sums = "SHA256SUMS"

// checksums writes the checksums of all files, as sha256sum does.
func (r *release) checksums() error {
	entries, err := os.ReadDir(r.output)
	if err != nil {
		return err
	}
	return create(r.file(sums), func(w io.Writer) error {
		for _, e := range entries {
			sum, err := checksum(r.file(e.Name()))
			if err == nil {
				_, err = fmt.Fprintf(w, "%s  %s\n", sum, e.Name())
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// checksum is a file's SHA-256, in hexadecimal digits.
func checksum(file string) (string, error) {
	f, err := os.Open(file)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", err
	}
	return fmt.Sprintf("%x", h.Sum(nil)), nil
}
