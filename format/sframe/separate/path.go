package separate

import (
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"
)

// ErrNoBuildID means that the file has no build ID, by which its SFrame file could be found.
var ErrNoBuildID = errors.New("the file has no build ID")

// Paths returns the paths in dir at which the file for a build ID (in hexadecimal) may lie, the
// usual one first. It returns none for a build ID of less than two bytes.
func Paths(dir, buildID string) []string {
	if _, err := hex.DecodeString(buildID); err != nil || len(buildID) < 4 {
		return nil
	}
	name := filepath.Join(buildID[:2], buildID[2:]+".sframe")
	return []string{filepath.Join(dir, ".build-id", name), filepath.Join(dir, name)}
}

// Write writes a file, whole or not at all. It makes the folder if need be.
func Write(path string, data []byte) (err error) {
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	f, err := os.CreateTemp(dir, filepath.Base(path)+".*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			os.Remove(f.Name())
		}
	}()
	_, err = f.Write(data)
	if err == nil {
		err = f.Chmod(0o644) // CreateTemp lets nobody else read it
	}
	if closeErr := f.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}
