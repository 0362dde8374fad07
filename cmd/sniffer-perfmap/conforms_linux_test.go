package main

import (
	"context"
	"os"
	"testing"

	"github.com/sfwalk/sfwalk/internal/plugincheck"
)

// The plug-in passes the test for authors: 'sfwalk plugin check' finds nothing.
func TestConforms(t *testing.T) {
	path, err := build()
	if err != nil {
		t.Fatal(err)
	}
	report, err := plugincheck.Run(context.Background(), path, plugincheck.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if !report.Passed() {
		report.Write(os.Stderr)
		t.Error("it does not conform")
	}
}
