package licenses

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/google/licensecheck"
)

// enough is how much of a licence's file must be known text, in percent. The names of its holders
// are not.
const enough = 75

var grant = regexp.MustCompile(`(?i)(^|/)(licen[sc]e|copying)[^/]*$`)

// identify returns the SPDX expression of a module's texts: all of them hold, each for its folder.
// A module whose licence nobody knows is an error: somebody must read it before it is linked.
func identify(list []Text) (string, error) {
	var ids []string
	for _, t := range list {
		if !grant.MatchString(t.File) {
			continue
		}
		found := licensecheck.Scan([]byte(t.Text))
		if len(found.Match) == 0 || found.Percent < enough {
			return "", fmt.Errorf("%s is no licence that is known (%.0f%% of it is)", t.File, found.Percent)
		}
		for _, m := range found.Match {
			if !slices.Contains(ids, m.ID) {
				ids = append(ids, m.ID)
			}
		}
	}
	if len(ids) == 0 {
		return "", errors.New("there is no licence")
	}
	return strings.Join(ids, " AND "), nil
}
