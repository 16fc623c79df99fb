package flat

import (
	"fmt"
	"testing"

	"purgelab/impl/engine"
	"purgelab/impl/engine/enginetest"
)

func TestContract(t *testing.T) {
	for _, tagged := range []bool{false, true} {
		t.Run(fmt.Sprintf("tagged %v", tagged), func(t *testing.T) {
			open := func(o engine.Options) (engine.Engine, engine.Report, error) {
				e, r, err := Open(Options{Options: o, Tagged: tagged})
				return e, r, err
			}
			enginetest.Run(t, open)
			enginetest.RunTransfer(t, open, Importer(tagged))
		})
	}
}
