"""watched.py OUT PROGRAM ARGUMENTS: runs a program. SIGUSR2 has faulthandler write the frames of its
threads to the file OUT."""
import faulthandler
import os
import runpy
import signal
import sys

faulthandler.register(signal.SIGUSR2, file=os.open(sys.argv[1], os.O_WRONLY | os.O_APPEND), all_threads=True)
del sys.argv[:2]
runpy.run_path(sys.argv[0], run_name="__main__")
