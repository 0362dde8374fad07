package early

import (
	"os"

	"github.com/sfwalk/sfwalk/internal/guard"
)

func init() {
	if len(os.Args) > 1 && os.Args[1] == "call" {
		go guard.Prepare()
	}
}
