// Personality routines and language-specific data in the augmentations.
#include <stdexcept>
#include <string>
#include <vector>

struct guard {
	std::string name;
	~guard() { name.clear(); }
};

static int risky(int n)
{
	guard g{std::string(n, 'x')};
	if (n > 3)
		throw std::runtime_error(g.name);
	return n + (n > 1 ? risky(n - 1) : 0);
}

int main(int argc, char **argv)
{
	std::vector<int> v;
	try {
		for (int i = 0; i < argc + 5; i++)
			v.push_back(risky(i));
	} catch (const std::exception &e) {
		return v.size() == 4 ? 0 : 1;
	}
	return 2;
}
