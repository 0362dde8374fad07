package main

import (
	"context"
	"os"
	"testing"

	"github.com/sfwalk/sfwalk/sniffer/external/check"
)

// The plug-in passes the test for authors: 'sfwalk plugin check' finds nothing.
func TestConforms(t *testing.T) {
	path, err := build()
	if err != nil {
		t.Fatal(err)
	}
	report, err := check.Run(context.Background(), path, check.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if !report.Passed() {
		report.Write(os.Stderr)
		t.Error("it does not conform")
	}
}
