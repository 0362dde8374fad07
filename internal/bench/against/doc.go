//go:build linux

// Package against runs an older build of sfwalk beside this one, in turns, on works that take
// little, and says what has lost a twentieth: small losses add up, and nobody sees them one by one.
//
// The older build is the last release, or a commit that is named. It is made in a clone of the
// project below the bench's folder.
package against
