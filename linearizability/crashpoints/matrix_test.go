package crashpoints

import (
	"flag"
	"os"
	"testing"

	"github.com/stretchr/testify/require"
)

var full = flag.Bool("crash-points", false, "run the whole matrix and print its counts")

func TestMatrix(t *testing.T) {
	o := Options{Images: 8, Again: 4, Every: 7, Second: 11}
	if *full {
		o = Options{Images: 16, Again: 4, Every: 1, Second: 4}
	}
	r, err := Run(o)
	require.NoError(t, err)
	r.Print(os.Stderr)
	require.Empty(t, r.Reds)
}
