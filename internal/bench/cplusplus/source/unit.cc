// One of many units: UNIT is its number, CODE a type of its own choice.  Each has types of its own, so that no code
// of a template is that of another unit.
#include <algorithm>
#include <deque>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <unordered_map>
#include <variant>
#include <vector>

#define JOIN2(A, B) A##B
#define JOIN(A, B) JOIN2 (A, B)

namespace JOIN (unit, UNIT)
{

template <int N> struct key
{
  CODE code;
  std::string text;
  bool operator< (const key &other) const { return std::tie (code, text) < std::tie (other.code, other.text); }
  bool operator== (const key &other) const { return code == other.code && text == other.text; }
};

template <int N> struct hash
{
  size_t operator() (const key<N> &k) const { return std::hash<std::string> () (k.text) * 31 + N; }
};

template <int N> struct value
{
  std::vector<double> numbers;
  std::optional<key<N>> next;
  std::variant<int, std::string, std::vector<key<N>>> either;

  double
  sum () const
  {
    return std::accumulate (numbers.begin (), numbers.end (), 0.0, [] (double a, double b) { return a + b * N; });
  }
};

template <int N> class store
{
  std::map<key<N>, value<N>> ordered;
  std::unordered_map<key<N>, std::shared_ptr<value<N>>, hash<N>> hashed;
  std::set<key<N>> seen;
  std::deque<std::pair<key<N>, double>> queue;
  std::list<std::unique_ptr<value<N>>> kept;

public:
  void
  add (int n)
  {
    key<N> k{ static_cast<CODE> (n % (N + 7)), std::string (n % 23, 'a' + n % 26) };
    value<N> &v = ordered[k];
    v.numbers.push_back (n);
    v.next = k;
    if (n % 3 == 0)
      v.either = k.text;
    else if (n % 3 == 1)
      v.either = std::vector<key<N>> (n % 5, k);
    hashed.emplace (k, std::make_shared<value<N>> (v));
    if (seen.insert (k).second)
      queue.emplace_back (k, v.sum ());
    kept.push_back (std::make_unique<value<N>> (v));
  }

  double
  total ()
  {
    std::sort (queue.begin (), queue.end (), [] (const auto &a, const auto &b) { return a.first < b.first; });
    double sum = 0;
    for (const auto &[k, v] : ordered)
      sum += std::visit (
	  [] (const auto &x) {
	    if constexpr (std::is_same_v<std::decay_t<decltype (x)>, int>)
	      return double (x);
	    else
	      return double (x.size ());
	  },
	  v.either);
    std::for_each (hashed.begin (), hashed.end (), [&] (const auto &p) { sum += p.second->sum (); });
    auto it = std::find_if (kept.begin (), kept.end (), [] (const auto &p) { return p->numbers.size () > N; });
    return it == kept.end () ? sum : sum + (*it)->sum ();
  }
};

template <int N>
static double
work (int n)
{
  store<N> s;
  for (int i = 0; i < n; i++)
    s.add (i);
  return s.total ();
}

double
run (int depth, const std::function<double (int)> &last)
{
  double sum = work<UNIT> (depth) + work<UNIT + 1> (depth) + work<UNIT + 2> (depth);
  std::function<double (int)> next = [&] (int n) { return n > 0 ? run (n - 1, last) : last (n); };
  return sum + next (depth);
}

}
