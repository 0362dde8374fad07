"""dies.py PROGRAM: runs a program. When its input ends, the process dies, and faulthandler writes the
frames of its threads to its output."""
import faulthandler
import os
import runpy
import sys
import threading


def dies():
    sys.stdin.read()
    os.abort()


faulthandler.enable(file=sys.stdout)
threading.Thread(target=dies).start()
runpy.run_path(sys.argv[1], run_name="__main__")
