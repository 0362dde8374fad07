package main

import (
	"context"
	"os"
	"testing"

	"github.com/sfwalk/sfwalk/sniffer/external/check"
)

// The plug-in is what its author should make of it: 'sfwalk plugin check' has nothing to say.
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
