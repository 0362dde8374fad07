"""suites.py NAMES: runs tests of Python's own, again and again."""
import io
import os
import random
import sys
import tempfile
import unittest

os.chdir(tempfile.mkdtemp(dir=os.environ["TMPDIR"]))
print("ready", flush=True)
null = os.open(os.devnull, os.O_RDWR)
for fd in range(3):
    os.dup2(null, fd)
while True:
    for name in random.sample(sys.argv[1:], len(sys.argv) - 1):
        suite = unittest.defaultTestLoader.loadTestsFromName("test." + name)
        unittest.TextTestRunner(stream=io.StringIO()).run(suite)
