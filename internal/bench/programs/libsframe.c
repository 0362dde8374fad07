/* libsframe SECTION PCS: drives libsframe on the bytes of an SFrame section, for PCs
   that are given relative to it (64-bit numbers in the host's order).

   Writes a line when it has read both. It reads commands from standard input, a letter
   each, and answers on standard output:
     f   look up every PC, once; answers with the nanoseconds of one look-up
     d   decode the section, once; answers with the nanoseconds
     a   look up every PC and answer with a struct answer for each.  */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "sframe-api.h"

static double
now (void)
{
  struct timespec t;
  clock_gettime (CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1e9 + t.tv_nsec;
}

static char *
slurp (const char *name, size_t *size)
{
  FILE *f = fopen (name, "rb");
  char *p;
  if (!f || fseek (f, 0, SEEK_END))
    {
      perror (name);
      exit (1);
    }
  *size = ftell (f);
  rewind (f);
  p = malloc (*size + 1);
  if (!p || fread (p, 1, *size, f) != *size)
    {
      perror (name);
      exit (1);
    }
  fclose (f);
  return p;
}

struct answer
{
  uint32_t start;	/* offset of the FRE in its function */
  uint8_t found, info;
  uint8_t errors[2];	/* bit 0: cfa, 1: fp, 2: ra */
  uint32_t words[6];	/* the data words, unsigned */
  /* What the getters say if the FDE is a default, or a flexible one.  */
  struct
  {
    int32_t cfa, fp, ra;
  } as[2];
};

int
main (int argc, char **argv)
{
  if (argc < 3)
    return 2;
  size_t size, pcs_size;
  int err = 0, c;
  char *section = slurp (argv[1], &size);
  int64_t *pcs = (int64_t *) slurp (argv[2], &pcs_size);
  size_t n = pcs_size / sizeof *pcs;
  char *copy = malloc (size);
  sframe_decoder_ctx *ctx;
  volatile uint64_t sum = 0;

  memcpy (copy, section, size);	/* it may be turned into the host's order */
  ctx = sframe_decode (copy, size, &err);
  if (!ctx)
    {
      fprintf (stderr, "sframe_decode: %s\n", sframe_errmsg (err));
      return 1;
    }
  puts ("ready");
  fflush (stdout);
  while ((c = getchar ()) != EOF)
    {
      double start;
      sframe_frame_row_entry fre;
      switch (c)
	{
	case 'f':
	  start = now ();
	  for (size_t i = 0; i < n; i++)
	    if (!sframe_find_fre (ctx, pcs[i], &fre))
	      sum += fre.fre_start_addr;
	  printf ("%.3f\n", (now () - start) / n);
	  break;
	case 'd':
	  {
	    sframe_decoder_ctx *d;
	    memcpy (copy, section, size);
	    start = now ();
	    d = sframe_decode (copy, size, &err);
	    printf ("%.3f\n", now () - start);
	    sframe_decoder_free (&d);
	    break;
	  }
	case 'a':
	  for (size_t i = 0; i < n; i++)
	    {
	      struct answer a;
	      memset (&a, 0, sizeof a);
	      memset (&fre, 0, sizeof fre);
	      a.found = !sframe_find_fre (ctx, pcs[i], &fre);
	      if (a.found)
		{
		  a.start = fre.fre_start_addr;
		  a.info = fre.fre_info;
		  for (int w = 0; w < 6; w++)
		    a.words[w] = sframe_get_fre_udata (&fre, w, &err);
		  for (int type = 0; type < 2; type++)
		    {
		      int e[3] = { 0, 0, 0 };
		      a.as[type].cfa = sframe_fre_get_cfa_offset (ctx, &fre, type, &e[0]);
		      a.as[type].fp = sframe_fre_get_fp_offset (ctx, &fre, type, &e[1]);
		      a.as[type].ra = sframe_fre_get_ra_offset (ctx, &fre, type, &e[2]);
		      a.errors[type] = (e[0] != 0) | (e[1] != 0) << 1 | (e[2] != 0) << 2;
		    }
		}
	      fwrite (&a, sizeof a, 1, stdout);
	    }
	  break;
	default:
	  continue;
	}
      fflush (stdout);
    }
  return 0;
}
