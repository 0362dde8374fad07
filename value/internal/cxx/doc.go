// Package cxx has what the printers of C++'s two libraries share: how members of an object are
// found, and how objects are written that both have.
package cxx
