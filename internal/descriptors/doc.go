// Package descriptors says what the file descriptors of a live process of Linux lead to, by the
// process's folder in /proc: files, terminals, sockets with their addresses, pipes with who has the
// other end, epoll's lists. It names child processes and the holders of file locks, too.
//
// All of it is read as it is now, from a process that runs on. Each reading is bounded: a machine
// may have a hundred thousand connections, and a process as many descriptors. What is beyond the
// bounds is not known, and a [File] then says less.
package descriptors
