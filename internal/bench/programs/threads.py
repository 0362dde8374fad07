"""threads.py THREADS DEPTH [SECONDS]: threads of that many Python frames, all of which wait for one
lock, or sleep for a time, over and over."""
import sys
import threading
import time


def deep(n, lock):
    if n:
        return deep(n - 1, lock)
    lock.acquire()


class Naps:
    def acquire(self):
        while True:
            time.sleep(float(sys.argv[3]))


threads, depth = int(sys.argv[1]), int(sys.argv[2])
lock = threading.Lock()
lock.acquire()
if len(sys.argv) > 3:
    lock = Naps()
    depth -= 1
for _ in range(threads - 1):
    # _bootstrap, _bootstrap_inner and run are frames, too.
    threading.Thread(target=deep, args=(depth - 4, lock), daemon=True).start()
print("ready", flush=True)
deep(depth - 2, lock)
