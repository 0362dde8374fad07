package command

import (
	"bytes"
	"context"
)

// testHosts are for the tests. Their packages import this one; so the external test package of this folder sets them.
var testHosts Hosts

// SetHosts sets the hosts that the tests use.
func SetHosts(h Hosts) { testHosts = h }

// command runs sfwalk with arguments and returns what it prints, and its error.
func command(args ...string) (stdout, stderr string, err error) {
	var out, errOut bytes.Buffer
	root := newRoot(testHosts, args)
	root.SetOut(&out)
	root.SetErr(&errOut)
	root.SetArgs(behindVerb(root, args))
	err = root.ExecuteContext(context.Background())
	return out.String(), errOut.String(), err
}
