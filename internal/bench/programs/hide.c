/* hide COMMAND ARGS...: becomes the command, which sees an empty /usr/lib/debug.  Where
   that is refused, the status is 125.  */
#define _GNU_SOURCE
#include <sched.h>
#include <stdio.h>
#include <sys/mount.h>
#include <unistd.h>

enum { REFUSED = 125, NOT_FOUND = 127 };

int
main (int argc, char **argv)
{
  const char *dir = "/usr/lib/debug";
  if (argc < 2)
    return 2;
  if (access (dir, F_OK) == 0
      && (unshare (CLONE_NEWNS) || mount ("none", "/", NULL, MS_REC | MS_PRIVATE, NULL)
	  || mount ("none", dir, "tmpfs", 0, NULL)))
    {
      perror (dir);
      return REFUSED;
    }
  execvp (argv[1], argv + 1);
  perror (argv[1]);
  return NOT_FOUND;
}
