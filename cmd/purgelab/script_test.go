package main

import (
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "rewrite the expected output in testdata/script; review the diff")

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"purgelab": main,
	})
}

// TestScripts runs the scripts that show each command from the outside. They
// run in a folder of their own; $ROOT is the root of the project.
func TestScripts(t *testing.T) {
	root, err := filepath.Abs("../..")
	require.NoError(t, err)
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		UpdateScripts:       *update,
		RequireExplicitExec: true,
		Cmds:                map[string]func(*testscript.TestScript, bool, []string){"exits": cmdExits},
		Setup: func(e *testscript.Env) error {
			e.Setenv("ROOT", root)
			// BIN holds the program alone, for scripts in which tools are missing.
			e.Setenv("BIN", filepath.SplitList(e.Getenv("PATH"))[0])
			for _, name := range []string{"TLA2TOOLS_JAR", "JAVA_HOME"} {
				if v, ok := os.LookupEnv(name); ok {
					e.Setenv(name, v)
				}
			}
			return nil
		},
	})
}
