package replay

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// Difference is the first thing in which the implementation is not what the
// specification says.
type Difference struct {
	Behaviour int    `json:"behaviour"` // its number
	Act       int    `json:"act"`       // counted from 0, which is Init
	Action    string `json:"action"`
	// Field is the path to the value that differs: disk.dirs.1.segs[0].op. Of an action
	// that the implementation does not take it is the action.
	Field string `json:"field"`
	Want  any    `json:"specification"`
	Got   any    `json:"implementation"`
}

func (d *Difference) Error() string {
	return fmt.Sprintf("behaviour %d, act %d, %s: %s: the specification has %s, the implementation has %s",
		d.Behaviour, d.Act, d.Action, d.Field, shortly(d.Want), shortly(d.Got))
}

// none stands for a field or an element that is not there.
const none = "nothing"

// differ finds the first value in which two trees differ, fields in order.
func differ(path string, want, got any) *Difference {
	switch w := want.(type) {
	case map[string]any:
		g, ok := got.(map[string]any)
		if !ok {
			break
		}
		keys := slices.Sorted(maps.Keys(w))
		for k := range g {
			if _, ok := w[k]; !ok {
				keys = append(keys, k)
			}
		}
		slices.Sort(keys)
		for _, k := range keys {
			if d := differ(strings.TrimPrefix(path+"."+k, "."), at(w, k), at(g, k)); d != nil {
				return d
			}
		}
		return nil
	case []any:
		g, ok := got.([]any)
		if !ok {
			break
		}
		for i := range max(len(w), len(g)) {
			if d := differ(path+"["+strconv.Itoa(i)+"]", element(w, i), element(g, i)); d != nil {
				return d
			}
		}
		return nil
	}
	if !comparable(want) || !comparable(got) || want != got {
		return &Difference{Field: path, Want: want, Got: got}
	}
	return nil
}

func comparable(v any) bool {
	switch v.(type) {
	case map[string]any, []any:
		return false
	}
	return true
}

func at(m map[string]any, k string) any {
	if v, ok := m[k]; ok {
		return v
	}
	return none
}

func element(s []any, i int) any {
	if i < len(s) {
		return s[i]
	}
	return none
}

// shortly prints a value as the specification would.
func shortly(v any) string {
	switch v := v.(type) {
	case map[string]any:
		var parts []string
		for _, k := range slices.Sorted(maps.Keys(v)) {
			parts = append(parts, k+" |-> "+shortly(v[k]))
		}
		return "[" + strings.Join(parts, ", ") + "]"
	case []any:
		var parts []string
		for _, it := range v {
			parts = append(parts, shortly(it))
		}
		return "<<" + strings.Join(parts, ", ") + ">>"
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64)
	}
	return fmt.Sprint(v)
}
