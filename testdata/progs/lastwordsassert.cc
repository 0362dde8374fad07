/* Fails an assertion of libstdc++: with -D_GLIBCXX_ASSERTIONS. */
#include <memory>
#include <optional>
#include <string>
#include <vector>

static __attribute__((noinline)) int fail(const std::string &which)
{
    std::vector<int> numbers(3);
    std::optional<long> number;
    std::unique_ptr<int[]> array;
    if (which == "subscript")
        return numbers[which.size()];
    if (which == "back") {
        numbers.clear();
        return numbers.back();
    }
    if (which == "optional")
        return int(*number);
    return array[which.size()];
}

int main(int, char **argv) { return fail(argv[1]); }
