package command

import (
	"bytes"
	"context"
)

// testHost runs plug-ins for the tests. The package that it comes from imports this
// one: the external test package of this folder sets it.
var testHost Host

// SetHost sets the host of plug-ins that the tests use.
func SetHost(h Host) { testHost = h }

// command runs sfwalk with arguments and returns what it prints, and its error.
func command(args ...string) (stdout, stderr string, err error) {
	var out, errOut bytes.Buffer
	root := newRoot(testHost, nil)
	root.SetOut(&out)
	root.SetErr(&errOut)
	root.SetArgs(args)
	err = root.ExecuteContext(context.Background())
	return out.String(), errOut.String(), err
}
