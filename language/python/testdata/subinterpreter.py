"""A thread that runs functions of two interpreters. Each says its own stack, the innermost first."""
import sys

try:
    import _interpreters as interpreters
    run = interpreters.exec
except ImportError:
    import _xxsubinterpreters as interpreters
    run = interpreters.run_string

SAY = """
def say():
    f = sys._getframe(1)
    while f:
        print(f.f_code.co_filename.rsplit("/", 1)[-1], f.f_code.co_name, flush=True)
        f = f.f_back
"""
exec(SAY)


def outer():
    say()
    run(interpreters.create(), "import sys, time\n" + SAY + """
def inner():
    say()
    print("ready", flush=True)
    sys.stdin.read()
inner()
""")


print("ready", flush=True)
outer()
