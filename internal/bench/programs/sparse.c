/* For programs whose cores are to be large: memory that nobody has written to, in which the kernel leaves a hole.  */
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

__attribute__ ((constructor)) static void
map_more (void)
{
  const char *gib = getenv ("SPARSE_GIB");
  if (gib
      && mmap (NULL, (size_t) atoi (gib) << 30, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0) == MAP_FAILED)
    {
      perror ("mmap");
      exit (1);
    }
}
