// Functions and methods of one name, each of which returns a type of its own: Is<1>, Is<2>, …
// ANSWERS is a file with what the compiler calls for each expression of a test.
#include "ready.h"

template <int N> struct Is {
	int n = N;
};
enum Plain { red, green };
enum Small : unsigned char { tiny };
enum class Scoped { low, high };
struct Base {
	int b = 1;
};
struct Middle : Base {
	int m = 2;
};
struct Derived : Middle {
	int d = 3;
};
struct Other {
	int o = 4;
};

#define CODE __attribute__((used, noinline))

CODE Is<1> numbers(int) { return {}; }
CODE Is<2> numbers(long) { return {}; }
CODE Is<3> numbers(double) { return {}; }
CODE Is<4> numbers(const char *) { return {}; }

CODE Is<1> wide(long) { return {}; }
CODE Is<2> wide(double) { return {}; }

CODE Is<1> unsign(unsigned) { return {}; }
CODE Is<2> unsign(unsigned long) { return {}; }

CODE Is<1> narrow(char) { return {}; }
CODE Is<2> narrow(int) { return {}; }
CODE Is<3> narrow(short) { return {}; }

CODE Is<1> real(float) { return {}; }
CODE Is<2> real(double) { return {}; }
CODE Is<3> real(long double) { return {}; }

CODE Is<1> pointers(void *) { return {}; }
CODE Is<2> pointers(const char *) { return {}; }
CODE Is<3> pointers(Base *) { return {}; }

CODE Is<1> truth(bool) { return {}; }
CODE Is<2> truth(const void *) { return {}; }
CODE Is<3> truth(const Other &) { return {}; }

CODE Is<1> objects(const Base &) { return {}; }
CODE Is<2> objects(const Other &) { return {}; }

CODE Is<1> bound(int &) { return {}; }
CODE Is<2> bound(const int &) { return {}; }

CODE Is<1> moved(int &&) { return {}; }
CODE Is<2> moved(const int &) { return {}; }

CODE Is<1> bases(Base *) { return {}; }
CODE Is<2> bases(Middle *) { return {}; }

CODE Is<1> parts(Base) { return {}; }
CODE Is<2> parts(Middle) { return {}; }

CODE Is<1> enums(Plain) { return {}; }
CODE Is<2> enums(int) { return {}; }
CODE Is<3> enums(Scoped) { return {}; }

CODE Is<1> promoted(int) { return {}; }
CODE Is<2> promoted(long) { return {}; }
CODE Is<3> promoted(unsigned char) { return {}; }

CODE Is<1> constant(int *) { return {}; }
CODE Is<2> constant(const int *) { return {}; }

CODE Is<1> arrays(const int *) { return {}; }
CODE Is<2> arrays(const void *) { return {}; }
CODE Is<3> arrays(bool) { return {}; }

CODE Is<1> callbacks(int (*)(int)) { return {}; }
CODE Is<2> callbacks(void *) { return {}; }
CODE Is<3> callbacks(bool) { return {}; }

CODE Is<1> two(int, double) { return {}; }
CODE Is<2> two(double, int) { return {}; }
CODE Is<3> two(const char *, int) { return {}; }
CODE Is<4> two(int, int, int) { return {}; }
CODE Is<5> two(int) { return {}; }
CODE Is<6> two(Other, ...) { return {}; }

struct Object {
	int v = 1;
	CODE Is<1> at(int) { return {}; }
	CODE Is<2> at(double) { return {}; }
	CODE Is<3> at(const char *) { return {}; }
	CODE Is<4> get() { return {}; }
	CODE Is<5> get() const { return {}; }
	CODE static Is<6> make(int) { return {}; }
	CODE static Is<7> make(const char *) { return {}; }
	CODE virtual Is<8> over(long) { return {}; }
	CODE virtual Is<9> over(const char *) { return {}; }
	CODE Is<10> mixed(int) { return {}; }
	CODE static Is<11> mixed(const char *) { return {}; }
	CODE Is<12> inlined(const char *) { return {}; }
	Is<13> inlined(int) { return {}; } // of which there is no code
};
struct Child : Object {
	CODE Is<21> at(int *) { return {}; } // hides the others
	CODE Is<8> over(long) override { return {}; }
	CODE Is<9> over(const char *) override { return {}; }
};

namespace space {
struct Thing {
	int t = 1;
};
enum class Way { in };
CODE Is<31> found(Thing) { return {}; }
CODE Is<32> found(const Thing *) { return {}; }
CODE Is<33> found(Way) { return {}; }
CODE Is<34> inner(int) { return {}; }
CODE Is<35> inner(const char *) { return {}; }
}
CODE Is<36> found(int) { return {}; }

extern "C" CODE Is<41> abs(Base *) { return {}; }
CODE Is<42> abs(Other *) { return {}; }
CODE Is<43> labs(const char *) { return {}; } // libc has another one

CODE int function(int x) { return x; }

char character = 'c';
signed char signedChar = 1;
unsigned char unsignedChar = 1;
short small = 1;
unsigned short unsignedSmall = 1;
int integer = 1;
extern const int fixed = 1;
unsigned natural = 1;
long large = 1;
unsigned long unsignedLarge = 1;
long long largest = 1;
float single = 1;
double number64 = 1;
long double precise = 1;
bool yes = true;
wchar_t wideChar = L'w';
char16_t char16 = u'1';
char32_t char32 = U'3';
char *text = (char *)"text";
const char *constText = "text";
char letters[] = "letters";
int list[] = {1, 2, 3};
extern const int fixedList[] = {1, 2, 3};
int *address = list;
const int *fixedAddress = fixedList;
void *anything = list;
const void *fixedAnything = list;
Base base;
Middle middle;
Derived derived;
extern const Derived fixedDerived{};
Other other;
Base *toBase = &base;
Middle *toMiddle = &middle;
Derived *toDerived = &derived;
const Derived *toFixed = &derived;
Other *toOther = &other;
Plain plain = green;
Small tinyEnum = tiny;
Scoped scoped = Scoped::high;
int &reference = integer;
const int &fixedReference = integer;
Object object;
extern const Object fixedObject{};
Child child;
Object *toObject = &child;
space::Thing thing;
space::Way way;

#ifdef ANSWERS
#include ANSWERS
#else
int answers[1];
#endif

int main()
{
	arm();
	ready();
	block();
	return answers[0] + fixed + fixedList[0] + fixedDerived.d + fixedObject.v;
}
