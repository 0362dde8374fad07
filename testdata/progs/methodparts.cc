// Pointers to methods of which optimised code has kept the first word alone.
#include "ready.h"

struct First {
    int a = 1;
    virtual int overridden() { return a; }
    int plain() { return a + 1; }
};

struct Second : First {
    int b = 2;
    int overridden() override { return b; }
    virtual int another() { return b + 1; }
};

NOINLINE static int between(int n)
{
    KEEP(n);
    return n;
}

NOINLINE static bool keepPlain(int (First::*method)())
{
    between(1);
    between(2);
    ready();
    block();
    return method != nullptr;
}

NOINLINE static bool keepOverridden(int (First::*method)(), int (First::*next)())
{
    between(1);
    between(2);
    int had = keepPlain(next);
    KEEP(had);
    return method != nullptr;
}

NOINLINE static bool keepAnother(int (Second::*method)(), int (First::*next)(), int (First::*last)())
{
    between(1);
    between(2);
    int had = keepOverridden(next, last);
    KEEP(had);
    return method != nullptr;
}

int main(int argc, char **)
{
    arm();
    First first;
    Second second;
    KEEP(first.a);
    KEEP(second.a);
    bool many = argc > 9;
    return keepAnother(many ? nullptr : &Second::another, many ? nullptr : &First::overridden, many ? &First::overridden : &First::plain);
}
