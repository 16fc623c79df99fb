package flat

import "purgelab/impl/engine"

// Export implements engine.Engine.
func (e *Engine) Export() (engine.Export, error) { return nil, engine.ErrNoPoint }
