# Runs the hard parts of R for ever, until the file of the second argument exists. R's own profiler
# writes the stack into the file of the first one, whenever SIGPROF comes. The third one is the
# library of oracle.c, the fourth one sourced.R.
args <- commandArgs(TRUE)
dyn.load(args[3])
options(keep.source = TRUE)
source(args[4], keep.source = TRUE)
