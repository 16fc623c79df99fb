package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// listed is what `go list` says of one package.
type listed struct {
	ImportPath string
	Dir        string
	Export     string // file with the compiler's export data
	Standard   bool
	DepOnly    bool
	GoFiles    []string
	TestGoFiles, XTestGoFiles,
	Imports, TestImports, XTestImports, Deps []string
	Module *struct {
		Path string
		Main bool
	}
	Error *struct{ Err string }
}

// module is the module under lint with everything that it imports.
type module struct {
	path     string // module path
	root     string
	packages []*listed          // of the module, in the order of go list
	byPath   map[string]*listed // of the module and its dependencies
	fset     *token.FileSet
	importer types.Importer
}

// load lists the module at root, which compiles what is not in the build
// cache yet, because the types of imported packages come from there.
func load(root string) (*module, error) {
	root, err := filepath.Abs(root)
	if err != nil {
		return nil, err
	}
	cmd := exec.Command("go", "list", "-e", "-export", "-deps", "-json", "./...")
	cmd.Dir = root
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("go list: %w: %s", err, errs.String())
	}
	m := &module{root: root, byPath: map[string]*listed{}, fset: token.NewFileSet()}
	for dec := json.NewDecoder(&out); ; {
		p := new(listed)
		if err := dec.Decode(p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, fmt.Errorf("go list: %w", err)
		}
		m.byPath[p.ImportPath] = p
		if p.Module == nil || !p.Module.Main {
			continue
		}
		if p.Error != nil {
			return nil, fmt.Errorf("package %s: %s", p.ImportPath, p.Error.Err)
		}
		m.path = p.Module.Path
		m.packages = append(m.packages, p)
	}
	m.importer = importer.ForCompiler(m.fset, "gc", func(path string) (io.ReadCloser, error) {
		p := m.byPath[path]
		if p == nil || p.Export == "" {
			return nil, fmt.Errorf("no export data for %s", path)
		}
		return os.Open(p.Export)
	})
	return m, nil
}

// rel is the path of a package within its module: impl/journal. Packages of
// other modules keep their whole path.
func (m *module) rel(importPath string) string {
	if importPath == m.path {
		return "."
	}
	return strings.TrimPrefix(importPath, m.path+"/")
}

// parse reads files of a package; with tests they may be of two packages.
func (m *module) parse(p *listed, names []string) ([]*ast.File, error) {
	var files []*ast.File
	for _, name := range names {
		f, err := parser.ParseFile(m.fset, filepath.Join(p.Dir, name), nil, parser.ParseComments)
		if err != nil {
			return nil, err
		}
		files = append(files, f)
	}
	return files, nil
}

// check type-checks the non-test files of a package.
func (m *module) check(p *listed, files []*ast.File) (*types.Info, error) {
	info := &types.Info{
		Types: map[ast.Expr]types.TypeAndValue{},
		Uses:  map[*ast.Ident]types.Object{},
	}
	conf := types.Config{Importer: m.importer}
	if _, err := conf.Check(p.ImportPath, m.fset, files, info); err != nil {
		return nil, fmt.Errorf("package %s: %w", p.ImportPath, err)
	}
	return info, nil
}

// at makes a finding of a position.
func (m *module) at(pos token.Pos, rule, format string, args ...any) finding {
	where := m.fset.Position(pos)
	name, err := filepath.Rel(m.root, where.Filename)
	if err != nil {
		name = where.Filename
	}
	return finding{filepath.ToSlash(name), where.Line, rule, fmt.Sprintf(format, args...)}
}
