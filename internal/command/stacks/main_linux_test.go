package stacks_test

import (
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/commandtest/whole"
)

func TestMain(m *testing.M) { whole.Main(m) }
