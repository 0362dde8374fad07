// Package subprocess runs commands that do not outlive this process, however it ends: neither do
// the processes that a command starts, nor the folder of its files. Plug-ins are run so.
//
// On Linux each command has a keeper: this program, started once more (/proc/self/exe), which an
// init function of this package turns into a keeper before main. The keeper starts the command.
// Orphans of the command become the keeper's children (PR_SET_CHILD_SUBREAPER). When the command
// has ended, or the socket to this process breaks, the keeper kills them all and removes the
// folder. The command also dies with the keeper (PR_SET_PDEATHSIG).
//
// On other systems the command must watch for the end of its standard input. This process ends the
// command, with its process group.
package subprocess
