package replay

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The code that a table names is there: a function, a method, or a type of that package.
func TestCodePlacesAreThere(t *testing.T) {
	known := map[string]map[string]bool{} // by folder
	places := 0
	for module, rows := range replayed {
		for _, r := range rows {
			for _, place := range strings.Split(r.Code, "; ") {
				dir, names, named := strings.Cut(place, ": ")
				if known[dir] == nil {
					known[dir] = declared(t, filepath.Join("../..", dir))
				}
				for _, name := range strings.Split(names, ", ") {
					if !named {
						continue
					}
					places++
					require.True(t, known[dir][name], "%s, %s: %s has no %q", module, r.Action, dir, name)
				}
			}
		}
	}
	require.Positive(t, places)
}

// declared are the functions, methods, as Type.Name and Name, and types of a package.
func declared(t *testing.T, dir string) map[string]bool {
	t.Helper()
	out := map[string]bool{}
	files, err := os.ReadDir(dir)
	require.NoError(t, err)
	for _, e := range files {
		if !strings.HasSuffix(e.Name(), ".go") || strings.HasSuffix(e.Name(), "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), filepath.Join(dir, e.Name()), nil, parser.SkipObjectResolution)
		require.NoError(t, err)
		for _, d := range f.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				out[d.Name.Name] = true
				if d.Recv != nil {
					of := d.Recv.List[0].Type
					if p, ok := of.(*ast.StarExpr); ok {
						of = p.X
					}
					if id, ok := of.(*ast.Ident); ok {
						out[id.Name+"."+d.Name.Name] = true
					}
				}
			case *ast.GenDecl:
				for _, s := range d.Specs {
					if ts, ok := s.(*ast.TypeSpec); ok {
						out[ts.Name.Name] = true
					}
				}
			}
		}
	}
	return out
}
