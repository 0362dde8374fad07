import time,re,json,collections
class A:
    def __init__(s,n): s.n=n; s.d={'k':n}
def rec(n,acc):
    if n==0:
        return sorted([A(i) for i in range(20000)], key=lambda a: len(json.dumps({'x':a.n,'y':[1,2,3]})))
    return rec(n-1,acc+[n])
while True:
    rec(15,[])
