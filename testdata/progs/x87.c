// A program whose functions use seven and all eight of the x87's registers at once. For x86.
// argv: none.
#define ONES "fld1\n\tfld1\n\tfld1\n\tfld1\n\tfld1\n\tfld1\n\tfld1\n\t"
#define SUM "faddp\n\tfaddp\n\tfaddp\n\tfaddp\n\tfaddp\n\tfaddp\n\t"
#define OTHERS "st(1)", "st(2)", "st(3)", "st(4)", "st(5)", "st(6)", "st(7)"

__attribute__((noipa)) long double seven(void)
{
	long double sum;
	__asm__ volatile(ONES SUM : "=t"(sum) :: OTHERS);
	return sum;
}

__attribute__((noipa)) long double eight(void)
{
	long double sum;
	__asm__ volatile("fld1\n\t" ONES SUM "faddp" : "=t"(sum) :: OTHERS);
	return sum;
}

int main(void)
{
	return seven() + eight() != 15;
}
