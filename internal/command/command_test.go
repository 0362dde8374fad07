package command

import (
	"bytes"
	"context"
)

// testHost runs plug-ins for the tests, testDelve serves Delve's clients, and testPages browsers. Their packages import
// this one; so the external test package of this folder sets them.
var (
	testHost  PluginHost
	testDelve DelveServer
	testPages PageServer
)

// SetHost sets the host of plug-ins, and the Delve, that the tests use.
func SetHost(h PluginHost, d DelveServer, p PageServer) { testHost, testDelve, testPages = h, d, p }

// command runs sfwalk with arguments and returns what it prints, and its error.
func command(args ...string) (stdout, stderr string, err error) {
	var out, errOut bytes.Buffer
	root := newRoot(testHost, testDelve, testPages, args)
	root.SetOut(&out)
	root.SetErr(&errOut)
	root.SetArgs(behindVerb(root, args))
	err = root.ExecuteContext(context.Background())
	return out.String(), errOut.String(), err
}
