# Prints the calls that sys.calls tells, and rests. The first argument is the library of oracle.c, the
# second one resting.R.
args <- commandArgs(TRUE)
dyn.load(args[1])
cat("ready\n")
source(args[2], keep.source = TRUE)
