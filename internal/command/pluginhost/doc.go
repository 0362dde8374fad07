// Package pluginhost lets package command run plug-ins, by sniffer/external. Only sfwalk-full links
// its [hosts.Plugins].
package pluginhost
