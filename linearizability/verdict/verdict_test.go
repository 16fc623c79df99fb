package verdict

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestNothingIsNotAPass(t *testing.T) {
	var r Result
	require.Equal(t, Undecided, r.Verdict)
	require.Equal(t, 2, r.Verdict.ExitCode())
	require.Equal(t, 0, Pass.ExitCode())
	require.Equal(t, 1, Fail.ExitCode())
}

func TestWorst(t *testing.T) {
	for _, c := range []struct{ a, b, want Verdict }{
		{Pass, Pass, Pass}, {Pass, Undecided, Undecided}, {Pass, Fail, Fail},
		{Undecided, Undecided, Undecided}, {Undecided, Fail, Fail}, {Fail, Fail, Fail},
	} {
		require.Equal(t, c.want, Worst(c.a, c.b))
		require.Equal(t, c.want, Worst(c.b, c.a))
	}
}

func TestJSON(t *testing.T) {
	shown := Shown{Line: 3, Process: 1, Call: 5, Request: "poll", Answer: "nothing"}
	r := Result{Fail, "NoFreshLoss", "m7 is gone", []Shown{shown}}
	b, err := json.Marshal(r)
	require.NoError(t, err)
	require.JSONEq(t, `{"verdict":"fail","property":"NoFreshLoss","reason":"m7 is gone","shown":[{"line":3,"process":1,"call":5,"request":"poll","answer":"nothing"}]}`, string(b))
	var got Result
	require.NoError(t, json.Unmarshal(b, &got))
	require.Equal(t, r, got)
	require.Equal(t, "fail NoFreshLoss: m7 is gone", r.String())
	require.Equal(t, "line 3, process 1, 5 to never: poll → nothing", shown.String())
	shown.Return = 9
	require.Equal(t, "line 3, process 1, 5 to 9: poll → nothing", shown.String())
	require.ErrorContains(t, json.Unmarshal([]byte(`{"verdict":"passed"}`), &got), `verdict "passed": want one of [undecided pass fail]`)
}
