# C's stack grows with Python's: max calls f through C.
def f(n):
    return 0 if n == 0 else 1 + max(map(f, [n - 1]))

while True:
    f(200)
