"""made.py: makes and calls a function with another name for each line that it reads. The function
says its name, and where its code object is, and waits for the next line. The code object of the
function before is freed by then, and its address is used again, most often."""
import sys


def call(name):
    space = {"sys": sys}
    exec(f"""
def {name}():
    code = sys._getframe().f_code
    print(code.co_name, hex(id(code)), flush=True)
    sys.stdin.readline()
""", space)
    space.pop(name)()


print("ready", flush=True)
sys.stdin.readline()
for number in range(1000, 2000):
    call(f"made{number}")
