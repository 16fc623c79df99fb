package tagged

import (
	"testing"

	"purgelab/impl/engine"
	"purgelab/impl/engine/enginetest"
)

func open(o engine.Options) (engine.Engine, engine.Report, error) {
	e, r, err := Open(o)
	return e, r, err
}

func TestContract(t *testing.T) { enginetest.Run(t, open) }

func TestTransfer(t *testing.T) { enginetest.RunTransfer(t, open, Import) }
