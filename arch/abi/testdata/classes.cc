// Classes of C++, each as an argument in a register, as one beyond others, and as a result.
#define CASE(n, T) \
	extern "C" T case_##n(int a0, T a1, float a2, T a3) { PUT(a0); PUT(a1); PUT(a2); PUT(a3); T r; RESULT(r); return r; } \
	extern "C" void proto_##n(int, T, float, T) { }
struct Empty { };
struct Empty2 : Empty { };
struct alignas(16) Empty16 { };
struct OfBase : Empty { float f; };
struct OfBase2 : Empty { double d; };
struct EmptyFirst { Empty e; float f; };
struct EmptyLast { float f; Empty e; };
struct NoAddress { [[no_unique_address]] Empty e; float f; };
struct Point { double x; };
struct Point2 : Point { double y; };
struct Point3 : Point2 { double z; };
struct Mixed : Point { int i; };
struct Copied { int a; Copied() { } Copied(const Copied &o) { __builtin_memcpy(this, &o, sizeof o); } };
struct Destroyed { float f, g; ~Destroyed() { } };
struct Moved { long l[5]; Moved() { } Moved(Moved &&o) { __builtin_memcpy(this, &o, sizeof o); } };
struct Virtual { long l; virtual int f() { return 0; } };
struct VirtualBase : virtual Point { long l; };
struct Holds { char c; Copied m; };
struct Assigned { int a, b; Assigned &operator=(const Assigned &) { return *this; } };
struct Static { static double d; float f; };
enum class Small : signed char { };
enum class Large : unsigned long { };
union OfEmpty { Empty e; float f; };
typedef int Point::*Data;
typedef int (Point::*Function)(int);
struct Functions { Function f; };
typedef char16_t *Reference;

CASE(0, Empty) CASE(1, Empty2) CASE(2, Empty16) CASE(3, OfBase) CASE(4, OfBase2) CASE(5, EmptyFirst)
CASE(6, EmptyLast) CASE(7, NoAddress) CASE(8, Point2) CASE(9, Point3) CASE(10, Mixed) CASE(11, Copied)
CASE(12, Destroyed) CASE(13, Moved) CASE(14, Virtual) CASE(15, VirtualBase) CASE(16, Holds) CASE(17, Assigned)
CASE(18, Static) CASE(19, Small) CASE(20, Large) CASE(21, Data) CASE(22, Function)
CASE(23, Functions) CASE(24, Reference) CASE(25, bool) CASE(26, wchar_t) CASE(27, OfEmpty)
