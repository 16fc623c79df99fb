package main

import (
	"go/ast"
	"go/token"
	"go/types"
	"strconv"
	"strings"
)

// deterministic are the packages in which the same inputs must give the same
// outputs, byte for byte; shell are the exceptions within them.
var (
	deterministic = []string{"impl/...", "model/...", "linearizability/workload", "linearizability/faults", "linearizability/invariant", "linearizability/judge", "traces/replay"}
	shell         = []string{"impl/vfs/osfs", "impl/node/..."}
)

// bannedImports reach the machine, the clock of the scheduler, or randomness
// that nobody handed in.
var bannedImports = []string{"os/...", "net/...", "sync/...", "syscall", "crypto/rand", "math/rand", "unsafe"}

// bannedTime are the functions of package time that read or wait for a clock.
var bannedTime = map[string]bool{
	"Now": true, "Since": true, "Until": true, "Sleep": true, "After": true,
	"AfterFunc": true, "Tick": true, "NewTimer": true, "NewTicker": true,
}

// fromSeed are the functions of math/rand/v2 that draw nothing by themselves.
var fromSeed = map[string]bool{"New": true, "NewPCG": true, "NewChaCha8": true, "NewZipf": true}

// unordered is the comment that allows one range over a map, with the reason
// why its order shows nowhere.
const unordered = "//purgelab:unordered "

// checkPackage applies the rules on the inside of one package.
func checkPackage(m *module, p *listed) ([]finding, error) {
	files, err := m.parse(p, p.GoFiles)
	if err != nil || len(files) == 0 {
		return nil, err
	}
	var out []finding
	documented := false
	for _, f := range files {
		documented = documented || f.Doc != nil
	}
	if !documented {
		out = append(out, m.at(files[0].Package, "package-comment", "package %s has no comment that says what it is", p.ImportPath))
	}
	rel := m.rel(p.ImportPath)
	if !matchesAny(deterministic, rel) || matchesAny(shell, rel) {
		return out, nil
	}
	info, err := m.check(p, files)
	if err != nil {
		return nil, err
	}
	for _, f := range files {
		w := &walker{m: m, info: info, allowed: m.allowedLines(f)}
		w.file(f)
		out = append(out, w.found...)
	}
	return out, nil
}

// allowedLines are the lines that a comment excuses: its own and the next.
func (m *module) allowedLines(f *ast.File) map[int]bool {
	lines := map[int]bool{}
	for _, group := range f.Comments {
		for _, c := range group.List {
			reason, ok := strings.CutPrefix(c.Text, unordered)
			if ok && len(strings.Fields(reason)) >= 2 {
				line := m.fset.Position(c.Pos()).Line
				lines[line], lines[line+1] = true, true
			}
		}
	}
	return lines
}

// walker looks for forbidden constructs in one file.
type walker struct {
	m       *module
	info    *types.Info
	allowed map[int]bool
	found   []finding
}

func (w *walker) report(pos token.Pos, rule, format string, args ...any) {
	w.found = append(w.found, w.m.at(pos, rule, format, args...))
}

func (w *walker) file(f *ast.File) {
	for _, im := range f.Imports {
		path, _ := strconv.Unquote(im.Path.Value)
		if matchesAny(bannedImports, path) {
			w.report(im.Pos(), "import", "%s in a deterministic package", path)
		}
	}
	ast.Inspect(f, w.visit)
}

func (w *walker) visit(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.GoStmt:
		w.report(n.Pos(), "goroutine", "go statement in a deterministic package")
	case *ast.SelectStmt:
		w.report(n.Pos(), "goroutine", "select statement in a deterministic package")
	case *ast.ChanType:
		w.report(n.Pos(), "goroutine", "channel in a deterministic package")
	case *ast.Ident:
		w.use(n)
	case *ast.CallExpr:
		return w.call(n)
	case *ast.BlockStmt:
		w.block(n.List)
	case *ast.CaseClause:
		w.block(n.Body)
	}
	return true
}

// use looks at one name that refers to something of another package.
func (w *walker) use(id *ast.Ident) {
	fn, ok := w.info.Uses[id].(*types.Func)
	if !ok || fn.Pkg() == nil {
		return
	}
	method := fn.Signature().Recv() != nil
	switch path, name := fn.Pkg().Path(), fn.Name(); {
	case path == "time" && !method && bannedTime[name]:
		w.report(id.Pos(), "clock", "time.%s in a deterministic package: time is handed in", name)
	case path == "math/rand/v2" && !method && !fromSeed[name]:
		w.report(id.Pos(), "global-rand", "rand.%s in a deterministic package: randomness is handed in", name)
	case path == "maps" && (name == "Keys" || name == "Values" || name == "All"):
		w.mapOrder(id.Pos(), "maps."+name)
	case path == "reflect" && method && (name == "MapKeys" || name == "MapRange"):
		w.mapOrder(id.Pos(), "reflect "+name)
	}
}

// call lets slices.Sorted(maps.Keys(m)) pass: of such a call only the other
// arguments are looked into.
func (w *walker) call(c *ast.CallExpr) bool {
	if !w.sorts(c) {
		return true
	}
	if _, ok := c.Args[0].(*ast.CallExpr); !ok {
		return true
	}
	for _, arg := range c.Args[1:] {
		ast.Inspect(arg, w.visit)
	}
	return false
}

// sorts tells whether a call is one that sorts its first argument.
func (w *walker) sorts(c *ast.CallExpr) bool {
	sel, ok := c.Fun.(*ast.SelectorExpr)
	if !ok {
		return false
	}
	fn, ok := w.info.Uses[sel.Sel].(*types.Func)
	if !ok || fn.Pkg() == nil || len(c.Args) == 0 {
		return false
	}
	switch fn.Pkg().Path() {
	case "slices":
		return strings.HasPrefix(fn.Name(), "Sort")
	case "sort":
		return fn.Name() == "Strings" || fn.Name() == "Ints" || strings.HasPrefix(fn.Name(), "Slice")
	}
	return false
}

// block looks for ranges over maps among statements. One that only collects
// into a slice that a later statement of the same block sorts is in order.
func (w *walker) block(list []ast.Stmt) {
	for i, s := range list {
		if l, ok := s.(*ast.LabeledStmt); ok {
			s = l.Stmt
		}
		r, ok := s.(*ast.RangeStmt)
		if !ok {
			continue
		}
		if _, isMap := w.info.TypeOf(r.X).Underlying().(*types.Map); !isMap {
			continue
		}
		if into := collectsInto(r); into != "" && w.sortedLater(list[i+1:], into) {
			continue
		}
		w.mapOrder(r.Pos(), "range over a map")
	}
}

func (w *walker) mapOrder(pos token.Pos, what string) {
	if w.allowed[w.m.fset.Position(pos).Line] {
		return
	}
	w.report(pos, "map-order", "%s in a deterministic package: sort the keys, or say why order shows nowhere in a comment %sREASON", what, unordered)
}

// collectsInto names the slice that the body of a range appends to, if that
// is all it does, perhaps under an if.
func collectsInto(r *ast.RangeStmt) string {
	if len(r.Body.List) != 1 {
		return ""
	}
	s := r.Body.List[0]
	if cond, ok := s.(*ast.IfStmt); ok && cond.Else == nil && len(cond.Body.List) == 1 {
		s = cond.Body.List[0]
	}
	a, ok := s.(*ast.AssignStmt)
	if !ok || len(a.Lhs) != 1 || len(a.Rhs) != 1 {
		return ""
	}
	c, ok := a.Rhs[0].(*ast.CallExpr)
	if !ok || len(c.Args) == 0 {
		return ""
	}
	if fn, ok := c.Fun.(*ast.Ident); !ok || fn.Name != "append" {
		return ""
	}
	into := types.ExprString(a.Lhs[0])
	if types.ExprString(c.Args[0]) != into {
		return ""
	}
	return into
}

func (w *walker) sortedLater(rest []ast.Stmt, name string) bool {
	for _, s := range rest {
		e, ok := s.(*ast.ExprStmt)
		if !ok {
			continue
		}
		c, ok := e.X.(*ast.CallExpr)
		if ok && w.sorts(c) && types.ExprString(c.Args[0]) == name {
			return true
		}
	}
	return false
}
