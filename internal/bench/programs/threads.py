"""threads.py THREADS DEPTH: threads of that many Python frames, all of which wait for one lock."""
import sys
import threading


def deep(n, lock):
    if n:
        return deep(n - 1, lock)
    lock.acquire()


threads, depth = int(sys.argv[1]), int(sys.argv[2])
lock = threading.Lock()
lock.acquire()
for _ in range(threads - 1):
    # _bootstrap, _bootstrap_inner and run are frames, too.
    threading.Thread(target=deep, args=(depth - 4, lock), daemon=True).start()
print("ready", flush=True)
deep(depth - 2, lock)
