package symbol

import (
	"strings"
	"testing"
	"time"

	"github.com/ianlancetaylor/demangle"
)

// Names made to be slow are shown as they are once the budget of all names is spent. A name that
// may take too much alone is never tried.
func TestSlowNames(t *testing.T) {
	now := time.Now() // it stands still: nothing grows back
	clock = func() time.Time { return now }
	full := [2]time.Duration{costs.full, waits.full}
	costs.full, waits.full = 200*time.Millisecond, 100*time.Millisecond
	defer func() { costs.full, waits.full, costs.used, waits.used, clock = full[0], full[1], 0, 0, time.Now }()
	p := strings.Repeat
	for _, slow := range []func(i int) string{
		func(i int) string { return "_Z1f" + p("P", 3000+i) + "i" },
		func(i int) string { return "_Z1fIJ" + p("i", 400+i) + "EEvDpT_" },
	} {
		last := ""
		for i := range 40 {
			last = slow(i)
			demangleSymbol(last)
		}
		if got := demangleSymbol(last); got != last {
			t.Errorf("%.20s…: the 41st is demangled", last)
		}
	}
	for _, name := range []string{
		"_Z1f" + p("P", 60000) + "i",
		"_Z1fIJ" + p("i", 3000) + "EEvDpT_",
		"_Z1fIJ" + p("i", 1000) + "EEv" + p("DpT_", 200),
		"_ZN1acv" + p("P", 20000) + "iEv",
		p("_ZZ1fIJiiEEvDpT_E1gIJDpT_DpT_EEvDpT_", 10),
	} {
		if steps := stepsOf(name); steps <= maxSteps {
			t.Errorf("%.40s…: %d steps", name, steps)
		}
	}
}

// Names that compilers make cost little, however long they are.
func TestOrdinaryNames(t *testing.T) {
	for _, name := range []string{
		"_ZSt13__invoke_implIvZ4mainEUlvE_JEET_St14__invoke_otherOT0_DpOT1_",
		"_ZSt8__invokeIZ4mainEUlvE_JEENSt15__invoke_resultIT_JDpT0_EE4typeEOS2_DpOS3_",
		"_ZNSt6thread11_State_implINS_8_InvokerISt5tupleIJZ4mainEUlvE_EEEEE6_M_runEv",
		"_ZNKSt8functionIFviNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEERKSt6vectorIS5_SaIS5_EEEEclEiS5_S9_",
		"_ZNSt8__detail9__variant17__gen_vtable_implINS0_12_Multi_arrayIPFNS0_21__deduce_visit_resultIvEEOZ4mainEUlT_E_RSt7variantIJidNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEEEEEJEEESt16integer_sequenceImJLm0EEEE14__visit_invokeES6_SG_",
		"_RINvMNtCsabc_4core6resultINtB3_6ResultllE3mapINtB3_6OptionlEE",
	} {
		if steps := stepsOf(name); steps > 100_000 {
			t.Errorf("%s: %d steps", name, steps)
		}
		if got, want := Demangle(name), demangle.Filter(name, demangle.NoParams); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}

// Functions whose results have packs and calls of std::declval that depend on no parameter cost
// little. gcc writes such a call as a whole function. These names are g++ 12's; what is wanted is
// what c++filt -p says. A function within a name whose arguments are others' packs costs more.
func TestCallsInNames(t *testing.T) {
	for _, test := range []struct{ name, function string }{
		{"_ZN2fo10collectAllIJRNS_4TaskIiEERNS1_ISt6vectorISt4pairIilESaIS6_EEEENS1_IlEEEEENS1_ISt5tupleIJDpDTcl3viaclL_ZSt7declvalINS_9KeepAliveINS_4ExecEEEEDTcl9__declvalIT_ELi0EEEvEEcl7declvalINSt16remove_referenceIT_E4typeEEEEEEEEEDpOSK_",
			"fo::collectAll<fo::Task<int>&, fo::Task<std::vector<std::pair<int, long>, std::allocator<std::pair<int, long> > > >&, fo::Task<long> >"},
		{"_ZN2fo10collectAnyIJNS_4TaskISt5tupleIJilEEEEEEEDTcl4implcvSt16integer_sequenceImJXspcl14__integer_packsZT_EEEE_Espcl7declvalIT_EEEEDpOS7_",
			"fo::collectAny<fo::Task<std::tuple<int, long> > >"},
		{"_ZN2fo10collectAnyIJRNS_4TaskIiEERNS1_ISt6vectorISt4pairIilESaIS6_EEEENS1_IcEESA_SA_S3_EEEDTcl4implcvSt16integer_sequenceImJXspcl14__integer_packsZT_EEEE_Espcl7declvalIT_EEEEDpOSE_",
			"fo::collectAny<fo::Task<int>&, fo::Task<std::vector<std::pair<int, long>, std::allocator<std::pair<int, long> > > >&, fo::Task<char>, fo::Task<std::vector<std::pair<int, long>, std::allocator<std::pair<int, long> > > >&, fo::Task<std::vector<std::pair<int, long>, std::allocator<std::pair<int, long> > > >&, fo::Task<int>&>"},
	} {
		if steps := stepsOf(test.name); steps > maxBefore {
			t.Errorf("%s: %d steps", test.name, steps)
		}
		if got := demangleFunction(test.name); got != test.function {
			t.Errorf("%s: %q, want %q", test.name, got, test.function)
		}
	}
	p := strings.Repeat
	for _, args := range []string{p("DpT_", 20), "1aI" + p("DpT_", 20) + "E", "Dp1aI" + p("T_", 40) + "E", "T_", "XspT_E"} {
		name := "_Z1fIJ" + p("i", 20) + "EEv" + p("DTclL_Z1gIJ"+args+"EEv", 3) + p("DpT_", 4) + p("EEE", 3)
		if got, plain := stepsOf(name), stepsOf(strings.ReplaceAll(name, args, p("i", len(args)))); got <= 2*plain {
			t.Errorf("%s: %d steps, and %d if no arguments are packs", args, got, plain)
		}
	}
}

// A name for which the library panics is shown as it is, also where a goroutine demangles it.
func TestPanics(t *testing.T) {
	full := costs.full
	defer func() { costs.full = full }()
	for _, name := range []string{"_Z1fv", "_Z1fIJ" + strings.Repeat("i", 400) + "EEvDpT_"} {
		for _, costs.full = range []time.Duration{full, 0} {
			if got := affordably(name, func() string { panic("it is broken") }); got != name {
				t.Errorf("%.20s: %q", name, got)
			}
		}
	}
}

// Functions that gcc has copied at link time, and constructors that a class inherits: what is
// wanted of a symbol is what c++filt says, and of a function, gdb.
func TestCopiesAndInherited(t *testing.T) {
	for _, test := range []struct{ name, symbol, function string }{
		{"_Z5firstIiET_S0_.isra.0", "int first<int>(int) [clone .isra.0]", "first<int>(int) [clone .isra.0]"},
		{"_Z5firstIRSt5tupleIJEEET_S2_.constprop.0.isra.0",
			"std::tuple<>& first<std::tuple<>&>(std::tuple<>&) [clone .constprop.0] [clone .isra.0]",
			"first<std::tuple<>&>(std::tuple<>&) [clone .constprop.0] [clone .isra.0]"},
		{"_ZN7DerivedCI14BaseEil", "Derived::Base(int, long)", "Derived::Base"},
		{"_ZN1AaSIFS_S_EEERS_PT_", "A& A::operator=<A (A)>(A (*)(A))", "A::operator=<A (A)>(A (*)(A))"},
	} {
		if got := demangleSymbol(test.name); got != test.symbol {
			t.Errorf("%s: symbol %q, want %q", test.name, got, test.symbol)
		}
		if got := demangleFunction(test.name); got != test.function {
			t.Errorf("%s: function %q, want %q", test.name, got, test.function)
		}
	}
}

// Constraints of C++20, which gcc mangles since version 14, are no part of a function's name. gcc
// 16 gives each of these functions a second symbol, as it was mangled before (_Z5firstIiET_S0_):
// what is wanted is what c++filt makes of that.
func TestConstraints(t *testing.T) {
	for _, test := range []struct{ name, symbol, function string }{
		{"_Z5firstIiQ5SmallIT_EES0_S0_", "int first<int>(int)", "first<int>"},
		{"_Z5firstIiQ5SmallIT_EES0_S0_.isra.0", "int first<int>(int) [clone .isra.0]", "first<int>(int) [clone .isra.0]"},
		{"_Z5thirdITkSt8integraliEiT_", "int third<int>(int)", "third<int>"},
		{"_Z6secondITk5SmalliET_S0_", "int second<int>(int)", "second<int>"},
		{"_ZN3BoxIiE3mixIiEEiT_Q8integralIS2_E", "int Box<int>::mix<int>(int)", "Box<int>::mix<int>"},
		{"_ZN3BoxIiEC1EvQ8integralIT_E", "Box<int>::Box()", "Box<int>::Box"},
		{"_ZN3BoxIiEFltERKS0_S2_Q5SmallIT_E", "Box<int>::operator<[friend](Box<int> const&, Box<int> const&)", "Box<int>::operator<[friend]"},
		{"_ZNK3BoxIiE3getEvQ5SmallIT_E", "Box<int>::get() const", "Box<int>::get"},
		{"_ZNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEC2EvQ26is_default_constructible_vIT1_E",
			"std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >::basic_string()",
			"std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >::basic_string"},
	} {
		if got := demangleSymbol(test.name); got != test.symbol {
			t.Errorf("%s: symbol %q, want %q", test.name, got, test.symbol)
		}
		if got := demangleFunction(test.name); got != test.function {
			t.Errorf("%s: function %q, want %q", test.name, got, test.function)
		}
	}
}
