// Package sniffer has the default order of the sniffers and finds them by name.
// Each sniffer is a package of its own below this one.
package sniffer
