// A program that says itself what expressions with containers of C++'s library are: lines of "expression\tvalue".
#include <array>
#include <deque>
#include <forward_list>
#include <functional>
#include <iostream>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unistd.h>
#include <unordered_map>
#include <vector>

struct Point {
	int x, y;
};

#define SAY(expression) std::cout << #expression << '\t' << (expression) << '\n'

int main()
{
	std::vector<int> numbers = {10, 20, 30};
	std::vector<bool> bits = {true, false, true};
	std::vector<Point> points = {{1, 2}, {3, 4}};
	std::vector<std::vector<int>> nested = {{1}, {2, 3}};
	std::array<int, 3> three = {7, 8, 9};
	std::deque<int> deque;
	for (int i = 0; i < 500; i++)
		deque.push_back(i * 3);
	std::list<int> list = {4, 5, 6};
	std::forward_list<int> forward = {11, 12};
	std::map<std::string, int> ages = {{"ann", 31}, {"bob", 42}};
	std::map<int, Point> places = {{-5, {50, 51}}, {9, {90, 91}}};
	std::unordered_map<std::string, int> hashed = {{"one", 1}, {"two", 2}};
	std::map<double, int> doubles = {{0.5, 5}, {1.5, 15}};
	std::string key = "bob";
	std::string text = "hello";
	std::string_view view = "a view";
	std::unique_ptr<Point> unique = std::make_unique<Point>(Point{61, 62});
	std::unique_ptr<int[]> several(new int[3]{71, 72, 73});
	std::shared_ptr<Point> shared = std::make_shared<Point>(Point{81, 82});
	std::shared_ptr<Point> twin = shared;
	std::optional<int> some = 33;
	std::optional<Point> place = Point{34, 35};
	std::optional<int> none;
	auto in_vector = numbers.begin() + 1;
	auto in_list = list.begin();
	auto in_map = ages.begin();
	auto in_deque = deque.begin() + 300;
	auto in_points = points.begin();
	std::reference_wrapper<int> wrapped = numbers[2];
	std::vector<int> *pointer = &numbers;
	std::vector<int> &reference = numbers;
	std::set<int> set = {3, 1, 2};
	std::vector<int> empty;
	const char *name = "ann";
	int index = 2;
	SAY(numbers[0]);
	SAY(numbers[index]);
	SAY(numbers[1] + 1);
	SAY(numbers.size());
	SAY(numbers.empty());
	SAY(empty.empty());
	SAY(empty.size());
	SAY(numbers.front());
	SAY(numbers.back());
	SAY(numbers.at(1));
	SAY(*numbers.data());
	SAY(numbers.data()[2]);
	SAY(pointer->size());
	SAY((*pointer)[1]);
	SAY(reference[1]);
	SAY(reference.size());
	SAY(bits[0]);
	SAY(bits[1]);
	SAY(bits.size());
	SAY(points[1].y);
	SAY(points.back().x);
	SAY(nested[1][1]);
	SAY(nested[1].size());
	SAY(three[2]);
	SAY(deque[0]);
	SAY(deque[499]);
	SAY(deque.size());
	SAY(deque.front());
	SAY(deque.back());
	SAY(list.size());
	SAY(list.front());
	SAY(list.back());
	SAY(forward.front());
	SAY(ages["ann"]);
	SAY(ages[key]);
	SAY(ages[name] + 1);
	SAY(ages.size());
	SAY(ages.at("bob"));
	SAY(places[-5].y);
	SAY(places[9].x);
	SAY(doubles[1.5]);
	SAY(hashed["two"]);
	SAY(hashed.size());
	SAY(set.size());
	SAY(text[1] == 'e');
	SAY(text.size());
	SAY(text.length());
	SAY(text.empty());
	SAY(view[2] == 'v');
	SAY(view.size());
	SAY(unique->x);
	SAY((*unique).y);
	SAY(unique.get()->x);
	SAY(several[1]);
	SAY(shared->y);
	SAY((*shared).x);
	SAY(shared.use_count());
	SAY(*some);
	SAY(some.value());
	SAY(some.has_value());
	SAY(none.has_value());
	SAY(place->x);
	SAY(place.value().y);
	SAY(*in_vector);
	SAY(*in_list);
	SAY(in_map->second);
	SAY(in_map->first == "ann" ? 1 : 2);
	SAY(*in_deque);
	SAY(in_points->y);
	SAY(wrapped.get() == 30);
	std::cout << "ready" << std::endl;
	char c;
	while (read(0, &c, 1) > 0)
		;
	return 0;
}
