// Package version has the version of this program.
package version
