package guards

import (
	"io/fs"
	"os"
	"path/filepath"

	"purgelab/traces/models"
	"purgelab/traces/tlc"
)

// workspace is a copy of what checks read, in which the specification may be changed:
//
//	spec/                          the specification
//	traces/tla/                    the trace modules
//	model/, traces/replay/, …      where tests run
type workspace struct {
	dir, root string // root of the project
	tool      tlc.Tool
	tests     *programs
}

// packages are those whose tests run in a workspace.
var packages = []string{"model", filepath.Join("traces", "replay"), filepath.Join("linearizability", "scenario")}

func (w *workspace) in(parts ...string) string {
	return filepath.Join(append([]string{w.dir}, parts...)...)
}

// newWorkspace makes one in dir.
func newWorkspace(root, dir string, tool tlc.Tool, tests *programs) (*workspace, error) {
	w := &workspace{dir: dir, root: root, tool: tool, tests: tests}
	for _, d := range packages {
		if err := os.MkdirAll(w.in(d), 0o777); err != nil {
			return nil, err
		}
	}
	for _, d := range []string{filepath.Join("traces", "testdata"), filepath.Join("traces", "replay", "testdata"), filepath.Join("linearizability", "scenario", "files"), models.ToolFolder("")} {
		if err := os.Symlink(filepath.Join(root, d), w.in(d)); err != nil {
			return nil, err
		}
	}
	for _, d := range []string{"spec", traceModules} {
		if err := os.CopyFS(w.in(d), os.DirFS(filepath.Join(root, d))); err != nil {
			return nil, err
		}
	}
	return w, nil
}

// put writes the text of a module.
func (w *workspace) put(path, text string) error {
	return os.WriteFile(w.in(path), []byte(text), 0o666)
}

// modulesOf reads the modules of a project: by name, their texts and where they are.
func modulesOf(root string) (texts, paths map[string]string, err error) {
	texts, paths = map[string]string{}, map[string]string{}
	for _, d := range []string{"spec", filepath.Join("spec", "matrix"), traceModules} {
		files, err := fs.Glob(os.DirFS(filepath.Join(root, d)), "*.tla")
		if err != nil {
			return nil, nil, err
		}
		for _, f := range files {
			text, err := os.ReadFile(filepath.Join(root, d, f))
			if err != nil {
				return nil, nil, err
			}
			name := f[:len(f)-len(".tla")]
			texts[name], paths[name] = string(text), filepath.Join(d, f)
		}
	}
	return texts, paths, nil
}
