// Package stacks has the verbs that print stacks: attach, core, open, remote, demo. Crash reports
// have a room of their own, crash.
package stacks
