package main

import (
	"bytes"
	"context"
)

// command runs sfwalk with arguments and returns what it prints, and its error.
func command(args ...string) (stdout, stderr string, err error) {
	var out, errOut bytes.Buffer
	root := newRoot()
	root.SetOut(&out)
	root.SetErr(&errOut)
	root.SetArgs(args)
	err = root.ExecuteContext(context.Background())
	return out.String(), errOut.String(), err
}
