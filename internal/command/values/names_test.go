package values_test

import (
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/internal/command/values"
	"github.com/sfwalk/sfwalk/internal/test/bounds"
)

// The functions are as compilers and demanglers name them, in gdb's backtraces.
func TestIsCalled(t *testing.T) {
	for function, names := range map[string]struct{ yes, no string }{
		"main":                          {"main", "mai ain main.main"},
		"handle_request":                {"handle_request", "request handle"},
		"Bank::transfer(int, Bank*)":    {"Bank::transfer transfer", "Bank ransfer ::transfer int"},
		"ns::Bank::transfer(int)":       {"ns::Bank::transfer Bank::transfer transfer Bank::transfer(int) transfer(int)", "ns::transfer ns Bank"},
		"ns::Bank::balance() const":     {"balance Bank::balance balance()", "const"},
		"(anonymous namespace)::f(int)": {"f (anonymous\x00namespace)::f", "namespace"},
		"std::vector<int, std::allocator<int> >::push_back(int const&)": {"push_back vector::push_back std::vector::push_back", "allocator int vector"},
		"void ns::apply<int, ns::F(char)>(int)":                         {"apply ns::apply", "F void ns"},
		"bool operator==<char>(std::string const&, char)":               {"operator==", "operator bool"},
		"std::ostream& ns::operator<<(std::ostream&, ns::A<1> const&)":  {"operator<< ns::operator<<", "operator< A ostream"},
		"ns::Call::operator()(int) const":                               {"operator() Call::operator()", "operator"},
		"ns::Box::operator int()":                                       {"operator\x00int Box::operator\x00int", "int operator"},
		"operator new(unsigned long)":                                   {"operator\x00new", "new"},
		"ns::f(int)::{lambda(char)#1}::operator()(char) const":          {"", "lambda"},
		"decltype (x.get()) get<X>(X&)":                                 {"get", "x"},
		"f(int) [clone .isra.0]":                                        {"f f(int)", "isra 0"},
		"compute.cold":                                                  {"compute compute.cold", "comput"},
		"compute.constprop.0.isra.1":                                    {"compute", "constprop"},
		"memcpy@@GLIBC_2.14":                                            {"memcpy", "GLIBC_2"},
		"main.main":                                                     {"main main.main", "ain"},
		"main.(*Bank).Transfer":                                         {"Transfer (*Bank).Transfer Bank.Transfer main.(*Bank).Transfer main.Bank.Transfer", "Bank main.Transfer"},
		"main.Bank.Transfer":                                            {"Transfer Bank.Transfer", "main"},
		"github.com/x/y.v2/bank.(*Bank).Transfer.func1":                 {"func1 Transfer.func1 Bank.Transfer.func1 (*Bank).Transfer.func1 bank.(*Bank).Transfer.func1", "Transfer y.v2"},
		"main.Map[...]":                                                 {"Map main.Map main.Map[...]", "main"},
		"main.Map[go.shape.string]":                                     {"Map main.Map main.Map[...] main.Map[go.shape.string]", "main main.Map[int]"},
		"main.(*List[go.shape.int]).Push":                               {"Push List.Push (*List).Push main.List.Push main.(*List[...]).Push (*List[...]).Push (*List[go.shape.int]).Push", "int shape.int (*List[int]).Push main.Push"},
		"bank::account::Account::transfer":                              {"transfer Account::transfer account::Account::transfer", "account Account"},
		"<bank::Account as core::ops::drop::Drop>::drop":                {"drop", "Drop Account"},
		"alloc::vec::Vec<T,A>::push":                                    {"push Vec::push vec::Vec::push", "T A"},
		"core::ops::function::FnOnce::call_once{{vtable.shim}}":         {"", "shim"},
		"java.util.concurrent.ThreadPoolExecutor.runWorker":             {"runWorker ThreadPoolExecutor.runWorker", "util"},
		"": {"", "a main"},
	} {
		for name := range strings.FieldsSeq(names.yes) {
			if name = strings.ReplaceAll(name, "\x00", " "); !values.IsCalled(function, name) {
				t.Errorf("%q is not found by %q", function, name)
			}
		}
		for name := range strings.FieldsSeq(names.no) {
			if values.IsCalled(function, name) {
				t.Errorf("%q is found by %q", function, name)
			}
		}
		if function != "" && !values.IsCalled(function, function) || values.IsCalled(function, "") {
			t.Errorf("%q is not found by itself, or by nothing", function)
		}
	}
}

func FuzzIsCalled(f *testing.F) {
	f.Add("std::vector<int, std::allocator<int> >::push_back(int const&)", "push_back")
	f.Add("github.com/x/y.v2/bank.(*Bank).Transfer.func1", "func1")
	f.Add("ns::operator<<(std::ostream&, decltype(x))", "operator<<")
	f.Add("(*((<[{", "{")
	f.Add(".(*)", ")")
	f.Fuzz(func(t *testing.T, function, name string) {
		bounds.Hold(t, 64<<10+16*len(function)+16*len(name), func() {
			if values.IsCalled(function, name) && !strings.Contains(function, name[strings.LastIndexAny(name, ":.")+1:]) {
				t.Errorf("%q is called %q", function, name)
			}
		})
	})
}
