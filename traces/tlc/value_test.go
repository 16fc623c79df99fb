package tlc

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestValuesRoundTrip(t *testing.T) {
	for _, s := range []string{
		"1", "-3", "TRUE", `"ann"`, `"say \"a\", }"`, "p1", "{}", "<<>>", "{1, 2, {3}}",
		`[a |-> 1, b |-> <<"x", {}>>]`, `(1 :> "a" @@ 2 :> [c |-> -1])`, "<<<<1>>, <<2>>>>", "1..3", "-1..3",
		`{<<"a", 1>>, [b |-> (p1 :> 0 @@ p2 :> 1)]}`,
	} {
		v, err := ParseValue(s)
		require.NoError(t, err, s)
		require.Equal(t, s, v.String())
	}
}

func TestValuesOverSeveralLines(t *testing.T) {
	v, err := ParseValue("[ a |->\n      <<1,\n 2>>,\n  b |-> ( 1 :> 2 @@\n 3 :> 4 ) ]")
	require.NoError(t, err)
	require.Equal(t, "[a |-> <<1, 2>>, b |-> (1 :> 2 @@ 3 :> 4)]", v.String())
	b, ok := v.Field("b")
	require.True(t, ok)
	require.Equal(t, Function, b.Shape)
}

func TestSortedOrdersFields(t *testing.T) {
	v, err := ParseValue(`<<[b |-> 1, a |-> [d |-> {2, 1}, c |-> 0]]>>`)
	require.NoError(t, err)
	require.Equal(t, `<<[a |-> [c |-> 0, d |-> {2, 1}], b |-> 1]>>`, v.Sorted().String())
	require.Equal(t, `<<[b |-> 1, a |-> [d |-> {2, 1}, c |-> 0]]>>`, v.String(), "the value itself stays as it was")
}

func TestMalformedValues(t *testing.T) {
	for s, want := range map[string]string{
		"<<1, 2":    `TLA+ value: at character 7: want "," or ">>", have ""`,
		"[a -> 1]":  `TLA+ value: at character 4: want "|->", have "-> 1]"`,
		`"open`:     `TLA+ value: at character 1: want a closing quote, have "\"open"`,
		"1 2":       `TLA+ value: at character 3: want the end, have "2"`,
		"{1,}":      `TLA+ value: at character 4: want a value, have "}"`,
		"(1 :> 2 @": `TLA+ value: at character 9: want "@@" or ")", have "@"`,
	} {
		_, err := ParseValue(s)
		require.EqualError(t, err, want, s)
	}
}

func TestDiffGoesToTheParts(t *testing.T) {
	step := func(s string) Step {
		v, err := ParseValue(s)
		require.NoError(t, err)
		return Step{State: []Binding{{"x", v}}}
	}
	for _, c := range []struct {
		before, after string
		want          []Change
	}{
		{"1", "1", nil},
		{"1", "2", []Change{{"x", "1 → 2"}}},
		{"{1, 2}", "{2, 3}", []Change{{"x", "− {1}"}, {"x", "+ {3}"}}},
		{"<<1>>", "<<1, 5>>", []Change{{"x[2]", "+ 5"}}},
		{"<<1, 2>>", "<<3>>", []Change{{"x[1]", "1 → 3"}, {"x[2]", "removed, was 2"}}},
		{"[a |-> [b |-> 1, c |-> 2]]", "[a |-> [b |-> 1, c |-> 3]]", []Change{{"x.a.c", "2 → 3"}}},
		{"(r1 :> 0 @@ r2 :> {})", "(r1 :> 0 @@ r2 :> {7})", []Change{{"x[r2]", "+ {7}"}}},
		{"(1 :> 0)", "(2 :> 0)", []Change{{"x[2]", "+ 0"}, {"x[1]", "removed, was 0"}}},
		{"<<>>", "(0 :> 1)", []Change{{"x", "<<>> → (0 :> 1)"}}},
	} {
		require.Equal(t, c.want, Diff(step(c.before), step(c.after)), "%s to %s", c.before, c.after)
	}
}
