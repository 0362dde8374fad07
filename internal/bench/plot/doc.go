// Package plot draws lines between points on logarithmic axes, as SVG.
//
// It takes panels, each with series of points, and returns one picture with the panels in rows. The
// picture looks the same in a browser and in a page that embeds it.
package plot
