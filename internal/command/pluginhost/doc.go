// Package pluginhost lets package command run plug-ins: it is the [command.PluginHost] that is
// linked into sfwalk-full, and only there.
//
// What enters are paths of programs; what leaves are their sniffers, by
// sniffer/external.
package pluginhost
