// Package containers lists the containers that the runtimes of a machine know, by the files of
// their state: docker's config.v2.json, the store that podman and CRI-O share, and the bundles of
// containerd. No daemon is asked.
//
// The root of a machine's files goes in. A [Container] for each container comes out, running or
// not, and [Find] says which of them a name or an ID means. Which processes are in a container is
// for control groups to say: [Container.Has].
package containers
