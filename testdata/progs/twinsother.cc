// The other half of twins.cc: it has types of the functions' names.
struct twin { char text[40]; };
namespace box { struct same { char text[40]; }; }
typedef long number;

twin one = {"a"};
box::same two = {"b"};
number three = 3;

int useOther() { return one.text[0] + two.text[0] + three; }
