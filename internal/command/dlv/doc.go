// Package dlv is the verb dlv: Delve's server with the whole stacks of sfwalk. Delve itself is in
// dlvhost, which only sfwalk-full links.
package dlv
