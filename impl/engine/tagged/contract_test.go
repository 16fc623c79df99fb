package tagged

import (
	"testing"

	"purgelab/impl/engine"
	"purgelab/impl/engine/enginetest"
)

func TestContract(t *testing.T) {
	enginetest.Run(t, func(o engine.Options) (engine.Engine, engine.Report, error) {
		e, r, err := Open(o)
		return e, r, err
	})
}
