package guards

import (
	"regexp"
	"slices"
	"strings"
)

var (
	comment    = regexp.MustCompile(`(?s)\(\*.*?\*\)|\\\*[^\n]*`)
	definition = regexp.MustCompile(`(?m)^([A-Za-z]\w*)(\([^=\n]*\))?[ \t]*==`)
	ending     = regexp.MustCompile(`(?m)^(-{4,}|={4,}|(VARIABLE|CONSTANT|RECURSIVE|ASSUME|THEOREM|EXTENDS|LOCAL|INSTANCE)\b)`)
	word       = regexp.MustCompile(`[A-Za-z]\w*`)
	// bullet begins a part of a conjunction list, after nothing or after what may stand
	// before one on its line.
	bullet     = regexp.MustCompile(`^(?:.*(?:\\/|\bIN|\bTHEN|\bELSE|==|:|->))?\s*(/\\) `)
	uses       = regexp.MustCompile(`\b(?:EXTENDS|INSTANCE)\b([^\n]*(?:,\s*\n[^\n]*)*)`)
	filter     = regexp.MustCompile(`\{\s*\w+ \\in `)
	branch     = regexp.MustCompile(`\b(IF|THEN)\b`)
	limit      = regexp.MustCompile(`^(May\w+(\([^()]*\))?'?|Taken|Shaped)$`)
	singleWord = regexp.MustCompile(`^\w+$`)
)

// named is a definition: text[from:to] is what stands after ==.
type named struct {
	name     string
	from, to int
}

// masked is text with blanks for comments, every other byte where it was.
func masked(text string) string {
	return comment.ReplaceAllStringFunc(text, func(c string) string {
		return strings.Map(func(r rune) rune {
			if r == '\n' {
				return r
			}
			return ' '
		}, c)
	})
}

// definitions of a masked text, those of other modules' instances left out.
func definitions(text string) []named {
	var out []named
	at := definition.FindAllStringSubmatchIndex(text, -1)
	for i, d := range at {
		to := len(text)
		if i+1 < len(at) {
			to = at[i+1][0]
		}
		if e := ending.FindStringIndex(text[d[1]:to]); e != nil {
			to = d[1] + e[0]
		}
		if !strings.HasPrefix(strings.TrimSpace(text[d[1]:to]), "INSTANCE") {
			out = append(out, named{text[d[2]:d[3]], d[1], to})
		}
	}
	return out
}

// speaksOfNext are the definitions of all modules that say something of the next state.
func speaksOfNext(modules map[string]string) map[string]bool {
	bodies := map[string][]string{}
	for _, text := range modules {
		m := masked(text)
		for _, d := range definitions(m) {
			bodies[d.name] = append(bodies[d.name], m[d.from:d.to])
		}
	}
	out := map[string]bool{}
	for {
		before := len(out)
		for name, list := range bodies {
			for _, b := range list {
				if !out[name] && !now(b, out) {
					out[name] = true
				}
			}
		}
		if len(out) == before {
			return out
		}
	}
}

// now tells that a masked text is about the present state alone.
func now(text string, next map[string]bool) bool {
	return !strings.Contains(text, "'") && !strings.Contains(text, "[]") &&
		!slices.ContainsFunc(word.FindAllString(text, -1), func(w string) bool { return w == "UNCHANGED" || next[w] })
}

// Find lists the guards of each of the modules, given by name and text. A guard is a part
// of a conjunction that says nothing of the next state, the condition of an IF, or what a
// set is restricted by; initial states, switches of defects, limits of models (MayCrash) and
// what has behaviours printed and drawn (Taken, Shaped) have none. Of a definition that
// models check, properties, the whole is one.
func Find(modules map[string]string, properties map[string]bool) map[string][]Guard {
	next := speaksOfNext(modules)
	out := map[string][]Guard{}
	for name, text := range modules {
		out[name] = find(name, text, next, properties)
	}
	return out
}

// find lists the guards of one module; next speaks of the next state.
func find(module, text string, next, properties map[string]bool) []Guard {
	m := masked(text)
	var out []Guard
	for _, d := range definitions(m) {
		f := finder{module: module, name: d.name, text: m, next: next}
		switch {
		case strings.HasSuffix(d.name, "Init"):
		case properties[d.name]:
			from, to := trimmed(m, d.from, d.to)
			f.add(from, to, Always, "TRUE")
		default:
			f.conjunctions(d.from, d.to)
			f.conditions(d.from, d.to)
			f.filters(d.from, d.to)
		}
		slices.SortFunc(f.found, func(a, b Guard) int { return a.from - b.from })
		for _, g := range f.found {
			if g.Change == Turned {
				g.instead = "~(" + text[g.from:g.to] + ")"
			}
			out = append(out, g)
		}
	}
	return out
}

// read notes a module and those that it extends and instantiates.
func read(modules map[string]string, name string, seen map[string]bool) {
	if text, ok := modules[name]; ok && !seen[name] {
		seen[name] = true
		for _, u := range uses.FindAllStringSubmatch(masked(text), -1) {
			for _, w := range word.FindAllString(u[1], -1) {
				read(modules, w, seen)
			}
		}
	}
}

// finder looks for the guards of one definition in the masked text of its module.
type finder struct {
	module, name, text string
	next               map[string]bool
	found              []Guard
}

func (f *finder) add(from, to int, c Change, instead string) {
	said := strings.Join(strings.Fields(f.text[from:to]), " ")
	if said != "TRUE" && !limit.MatchString(said) {
		f.found = append(f.found, Guard{Module: f.module, Name: f.name, Text: said, Change: c, from: from, to: to, instead: instead})
	}
}

// conjunctions finds the parts of conjunction lists: each goes on as long as lines begin
// to the right of it.
func (f *finder) conjunctions(from, to int) {
	for at := from; at < to; {
		end := at + strings.IndexByte(f.text[at:], '\n')
		line := f.text[at:end]
		b := bullet.FindStringSubmatchIndex(line)
		if b == nil {
			at = end + 1
			continue
		}
		column := b[2]
		if at == from { // its line begins with the name
			column += at - 1 - strings.LastIndexByte(f.text[:at], '\n')
		}
		begin := at + b[3]
		stop := f.extent(begin, to, column)
		if x, y := trimmed(f.text, begin, stop); x < y && now(f.text[x:y], f.next) {
			f.add(x, y, Dropped, "TRUE")
			at = max(stop, end+1)
			continue
		}
		at = end + 1
	}
}

// extent is where the part ends that begins in the column: before the next line that
// begins there or to the left, or what closes more than the part has opened.
func (f *finder) extent(begin, to, column int) int {
	stop := to
	for at := begin; ; {
		n := strings.IndexByte(f.text[at:to], '\n')
		if n < 0 {
			break
		}
		at += n + 1
		rest := f.text[at:to]
		if e := strings.IndexByte(rest, '\n'); e >= 0 {
			rest = rest[:e]
		}
		if s := strings.TrimLeft(rest, " "); s != "" && len(rest)-len(s) <= column {
			stop = at
			break
		}
	}
	depth := 0
	for i := begin; i < stop; i++ {
		switch f.text[i] {
		case '(', '[', '{':
			depth++
		case ')', ']', '}':
			if depth--; depth < 0 {
				return i
			}
		}
	}
	return stop
}

// conditions finds those of IF outside of guards found before.
func (f *finder) conditions(from, to int) {
	var open []int
	for _, b := range branch.FindAllStringIndex(f.text[from:to], -1) {
		if f.text[from+b[0]:from+b[1]] == "IF" {
			open = append(open, from+b[1])
			continue
		}
		if len(open) == 0 {
			continue
		}
		x, y := trimmed(f.text, open[len(open)-1], from+b[0])
		open = open[:len(open)-1]
		if !f.inside(x, y) && now(f.text[x:y], f.next) && !singleWord.MatchString(f.text[x:y]) {
			f.add(x, y, Turned, "")
		}
	}
}

// inside tells that it is part of a guard found before.
func (f *finder) inside(from, to int) bool {
	return slices.ContainsFunc(f.found, func(g Guard) bool { return g.from <= from && to <= g.to })
}

// filters finds by what sets are restricted: {x \in S : this}.
func (f *finder) filters(from, to int) {
	for _, b := range filter.FindAllStringIndex(f.text[from:to], -1) {
		depth, colon := 1, 0
		for i := from + b[0] + 1; i < to && depth > 0; i++ {
			switch f.text[i] {
			case '(', '[', '{':
				depth++
			case ')', ']', '}':
				depth--
			case ':':
				if depth == 1 && colon == 0 {
					colon = i + 1
				}
			}
			if depth > 0 || colon == 0 {
				continue
			}
			if x, y := trimmed(f.text, colon, i); !f.inside(x, y) && now(f.text[x:y], f.next) {
				f.add(x, y, Dropped, "TRUE")
			}
		}
	}
}

// trimmed is the part of text[from:to] without blanks around it.
func trimmed(text string, from, to int) (int, int) {
	from += len(text[from:to]) - len(strings.TrimLeft(text[from:to], " \n\t"))
	return from, from + len(strings.TrimRight(text[from:to], " \n\t"))
}
