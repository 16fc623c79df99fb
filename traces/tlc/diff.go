package tlc

import (
	"strconv"
	"strings"
)

// Change is one part of a state that a step changed.
type Change struct {
	Path string // log[3].kind, presses["ann"], seen
	What string // "0 → 1", "+ {3}", "removed" and the like
}

func (c Change) String() string {
	if strings.HasPrefix(c.What, "= ") {
		return c.Path + " " + c.What
	}
	return c.Path + ": " + c.What
}

// Diff lists what differs between two states, in the order of the second
// one's variables, down to the parts that changed. Fields of records are in the
// order of their names.
func Diff(before, after Step) []Change {
	var out []Change
	for _, b := range after.State {
		old, ok := before.Lookup(b.Name)
		if !ok {
			out = append(out, Change{b.Name, "= " + b.Value.Sorted().String()})
			continue
		}
		out = diffValue(out, b.Name, old.Sorted(), b.Value.Sorted())
	}
	return out
}

func diffValue(out []Change, path string, a, b Value) []Change {
	was, is := a.String(), b.String()
	if was == is {
		return out
	}
	// TLC prints a function over 1..n as a tuple and one over strings as a
	// record, so a value may change its shape when its domain does.
	if a.Shape != b.Shape || a.Shape == Atom {
		return append(out, Change{path, was + " → " + is})
	}
	switch a.Shape {
	case Set:
		return diffSet(out, path, a, b)
	case Tuple:
		return diffTuple(out, path, a, b)
	}
	return diffPairs(out, path, a, b)
}

func diffSet(out []Change, path string, a, b Value) []Change {
	gone, come := Value{Shape: Set, Items: without(a, b)}, Value{Shape: Set, Items: without(b, a)}
	if len(gone.Items) > 0 {
		out = append(out, Change{path, "− " + gone.String()})
	}
	if len(come.Items) > 0 {
		out = append(out, Change{path, "+ " + come.String()})
	}
	return out
}

// without lists the elements of a that b lacks.
func without(a, b Value) []Value {
	has := make(map[string]bool, len(b.Items))
	for _, it := range b.Items {
		has[it.String()] = true
	}
	var out []Value
	for _, it := range a.Items {
		if !has[it.String()] {
			out = append(out, it)
		}
	}
	return out
}

func diffTuple(out []Change, path string, a, b Value) []Change {
	for i := 0; i < len(a.Items) || i < len(b.Items); i++ {
		at := path + "[" + strconv.Itoa(i+1) + "]"
		switch {
		case i >= len(a.Items):
			out = append(out, Change{at, "+ " + b.Items[i].String()})
		case i >= len(b.Items):
			out = append(out, Change{at, "removed, was " + a.Items[i].String()})
		default:
			out = diffValue(out, at, a.Items[i], b.Items[i])
		}
	}
	return out
}

func diffPairs(out []Change, path string, a, b Value) []Change {
	name := func(v Value, i int) string {
		if v.Shape == Record {
			return path + "." + v.Keys[i].Text
		}
		return path + "[" + v.Keys[i].String() + "]"
	}
	old := make(map[string]Value, len(a.Keys))
	for i := range a.Keys {
		old[name(a, i)] = a.Items[i]
	}
	for i := range b.Keys {
		at := name(b, i)
		if was, ok := old[at]; ok {
			out = diffValue(out, at, was, b.Items[i])
			delete(old, at)
		} else {
			out = append(out, Change{at, "+ " + b.Items[i].String()})
		}
	}
	for i := range a.Keys {
		if was, ok := old[name(a, i)]; ok {
			out = append(out, Change{name(a, i), "removed, was " + was.String()})
		}
	}
	return out
}
