// Package pe reads PE images, the programs and libraries of Windows, as they are mapped: from their
// files, or from the memory of a process.
//
// In goes a file, or memory. Out come bytes by their distance from the image's base (RVA), what
// identifies the image, its directories of tables, and the names of its functions. Nothing in the
// image is trusted.
package pe
