// Package plot draws lines between points on logarithmic axes, as SVG.
//
// Panels enter, each with series of points; one picture leaves, with the panels in
// rows. It looks the same in a browser and in a page that embeds it.
package plot
