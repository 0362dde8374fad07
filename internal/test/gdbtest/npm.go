package gdbtest

import (
	"errors"
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/npm"
)

// FromNPM ends the test if an error says that a package of npm's cannot be had here.
func FromNPM(t testing.TB, err error) {
	t.Helper()
	switch {
	case errors.Is(err, npm.ErrSum):
		t.Fatal(err)
	case err != nil:
		Cannot(t, err.Error())
	}
}
