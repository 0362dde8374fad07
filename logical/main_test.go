package logical_test

import (
	"compress/gzip"
	"encoding/base64"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"
)

// folder has the recorded process of the example and its program.
var folder string

func TestMain(m *testing.M) {
	status := 1
	var err error
	if folder, err = os.MkdirTemp("", "logical"); err == nil {
		for _, name := range []string{"example", "example.snapshot"} {
			if err == nil {
				err = unpack(name)
			}
		}
		if err == nil {
			status = m.Run()
		}
		os.RemoveAll(folder)
	}
	if err != nil {
		fmt.Println(err)
	}
	os.Exit(status)
}

// unpack unpacks a file of testdata, which is base64 of gzip, into the folder.
func unpack(name string) error {
	packed, err := os.Open("testdata/" + name + ".gz.txt")
	if err != nil {
		return err
	}
	defer packed.Close()
	r, err := gzip.NewReader(base64.NewDecoder(base64.StdEncoding, packed))
	if err != nil {
		return err
	}
	data, err := io.ReadAll(r)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(folder, name), data, 0o600)
}
