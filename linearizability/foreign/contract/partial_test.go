package contract

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"purgelab/linearizability/foreign"
	"purgelab/linearizability/verdict"
)

// judged judges a text by a contract.
func judged(t *testing.T, semantics, text string, allow ...string) *Report {
	t.Helper()
	name := filepath.Join(t.TempDir(), "history")
	require.NoError(t, os.WriteFile(name, []byte(text), 0o644))
	c, err := Find(semantics)
	require.NoError(t, err)
	c, err = c.Weaken(allow)
	require.NoError(t, err)
	h, err := c.Read(name, foreign.Auto)
	require.NoError(t, err, text)
	rep, err := c.Judge(context.Background(), h, Options{})
	require.NoError(t, err)
	return rep
}

// events makes a history of operations that come one after the other: each is f, the value of
// the invoke, and that of the ok.
func events(ops ...[3]string) string {
	var b strings.Builder
	for i, o := range ops {
		fmt.Fprintf(&b, `{"process":1,"type":"invoke","f":"%s","value":{%s},"time":%d}`+"\n", o[0], o[1], 2*i+1)
		fmt.Fprintf(&b, `{"process":1,"type":"ok","f":"%s","value":{%s},"time":%d}`+"\n", o[0], o[2], 2*i+2)
	}
	return b.String()
}

// tagging gives every position a generation.
var tagging = regexp.MustCompile(`("position":|"at":)(\d+)`)

func withGenerations(text string) string { return tagging.ReplaceAllString(text, `$1"i1:g0:$2"`) }

// before and later stand around an operation whose answer is partial.
var (
	before = [][3]string{
		{"append", `"payloads":["a","b"]`, `"position":0,"timestamp":5`},
		{"delete-records", `"at":1`, `"position":1`},
		{"store-bookmark", `"key":"group-1","at":1`, ``},
	}
	later = [3]string{"append", `"payloads":["y"]`, `"position":3,"timestamp":7`}
)

// TestPartialAnswers: an ok that lacks its position, or a refusal that lacks its bounds, makes no
// right history wrong: neither one that another system may have left nor one of ours, which has
// a session; neither with generations nor without.
func TestPartialAnswers(t *testing.T) {
	for name, x := range map[string]struct {
		op   [3]string
		next [3]string // what follows
	}{
		"append":             {[3]string{"append", `"payloads":["x"]`, ``}, later},
		"append, stamped":    {[3]string{"append", `"payloads":["x"]`, `"timestamp":6`}, later},
		"list-offsets":       {[3]string{"list-offsets", `"which":"latest"`, ``}, [3]string{}},
		"list-offsets found": {[3]string{"list-offsets", `"which":"earliest"`, `"found":true`}, [3]string{}},
		"delete-records":     {[3]string{"delete-records", `"at":2`, ``}, [3]string{"list-offsets", `"which":"earliest"`, `"position":2`}},
		"get-bookmark":       {[3]string{"get-bookmark", `"key":"group-1"`, ``}, [3]string{}},
		"get-bookmark found": {[3]string{"get-bookmark", `"key":"group-1"`, `"found":true`}, [3]string{}},
		"poll":               {[3]string{"poll", `"strategy":"first","max":9`, `"records":[{"p":"b","t":5}]`}, [3]string{}},
		"poll, nothing":      {[3]string{"poll", `"key":"group-1","max":9`, `"records":[]`}, [3]string{}},
		"poll, unread":       {[3]string{"poll", `"strategy":"first","max":9`, ``}, [3]string{}},
		"poll, moving":       {[3]string{"poll", `"strategy":"first","key":"group-2","max":9,"auto_commit":true`, `"records":[{"p":"b","t":5}]`}, [3]string{"get-bookmark", `"key":"group-2"`, `"position":1`}},
		"poll, moving unread": {[3]string{"poll", `"key":"group-2","max":9,"auto_commit":true`, ``},
			[3]string{"get-bookmark", `"key":"group-2"`, `"position":1`}},
		"refusal": {[3]string{"poll", `"strategy":"offset","at":0,"max":1`, `"code":"offset-out-of-range"`}, [3]string{}},
	} {
		list := append(append([][3]string{}, before...), x.op)
		if x.next[0] != "" {
			list = append(list, x.next)
		}
		theirs := events(list...)
		ours := strings.ReplaceAll(theirs, `"f":"append","value":{"payloads":["a","b"]`, `"f":"append","value":{"payloads":["a","b"],"incarnation":1`)
		for _, text := range []string{theirs, ours, withGenerations(theirs), withGenerations(ours)} {
			for _, semantics := range []string{"restart", "continue"} {
				rep := judged(t, semantics, text)
				require.Equal(t, verdict.Pass, rep.Total.Verdict, "%s, %s: %s\n%s", name, semantics, rep.Total.Reason, text)
			}
		}
	}
}

// TestPartialPurge: of a purge the position is the start, or tells the generation.
func TestPartialPurge(t *testing.T) {
	next := [3]string{"append", `"payloads":["x"]`, `"position":2`}
	text := events([3]string{"append", `"payloads":["a","b"]`, `"position":0`}, [3]string{"purge", ``, ``}, next)
	ours := strings.Replace(text, `{"payloads":["a","b"]}`, `{"payloads":["a","b"],"incarnation":1}`, 1)
	for _, text := range []string{text, ours} {
		require.Equal(t, verdict.Pass, judged(t, "continue", text).Total.Verdict, text)
		require.Equal(t, verdict.Fail, judged(t, "continue", strings.Replace(text, `"position":2`, `"position":3`, 1)).Total.Verdict)
		tagged := strings.Replace(withGenerations(text), "i1:g0:2", "i1:g1:0", 1)
		require.Equal(t, verdict.Pass, judged(t, "restart", tagged).Total.Verdict, tagged)
	}
}

// TestStillWrong: what the other answers tell is judged as before.
func TestStillWrong(t *testing.T) {
	list := append(append([][3]string{}, before...), [3]string{"append", `"payloads":["x"]`, ``},
		[3]string{"poll", `"strategy":"offset","at":1,"max":1`, `"position":1,"records":[{"p":"a","t":5}]`})
	for _, text := range []string{events(list...), withGenerations(events(list...))} {
		rep := judged(t, "restart", text)
		require.Equal(t, verdict.Fail, rep.Total.Verdict)
		require.Contains(t, fmt.Sprint(rep.NotJudged), "position of a change: 1 were acknowledged without one")
	}
}

// TestMixed: positions without a generation among those with one, and messages without a
// timestamp among those with one, are as if they were left out.
func TestMixed(t *testing.T) {
	positions := events([3]string{"append", `"payloads":["a"]`, `"position":"i1:g0:0"`}, [3]string{"append", `"payloads":["b"]`, `"position":1`},
		[3]string{"poll", `"strategy":"first","max":9`, `"position":"i1:g0:0","records":["a","b"]`}, [3]string{"list-offsets", `"which":"latest"`, `"position":2`})
	times := events([3]string{"append", `"payloads":["a"]`, `"position":0,"timestamp":5`}, [3]string{"append", `"payloads":["b"]`, `"position":1`},
		[3]string{"poll", `"strategy":"timestamp","timestamp":6,"max":9`, `"position":1,"records":["b"]`},
		[3]string{"list-offsets", `"which":"timestamp","timestamp":6`, `"position":1,"timestamp":6`})
	none := strings.ReplaceAll(strings.ReplaceAll(times, `,"timestamp":5`, ""), `"position":1,"timestamp":6`, `"position":1`)
	for _, semantics := range []string{"restart", "continue"} {
		for _, text := range []string{positions, times, none} {
			rep := judged(t, semantics, text)
			require.Equal(t, verdict.Pass, rep.Total.Verdict, "%s: %s\n%s", semantics, rep.Total.Reason, text)
			rep = judged(t, semantics, strings.Replace(text, `"payloads":["b"]`, `"payloads":["c"]`, 1))
			require.Equal(t, verdict.Fail, rep.Total.Verdict, "%s\n%s", semantics, text)
		}
	}
}

// TestLostBookmark: an unknown poll that does not tell how much it wanted, or may have got less,
// leaves its bookmark anywhere; what later polls of it read is still held to its place.
func TestLostBookmark(t *testing.T) {
	table := "process,call,return,outcome,f,key,strategy,auto_commit,payloads,max,position,records\n1,1,2,ok,append,,,,a;b;c,,0,\n"
	unknown := "2,3,,info,poll,k,next,true,,%s,,\n2,5,6,ok,poll,k,next,,,2,%s\n"
	for _, x := range []struct {
		max, got string
		allow    []string
		want     verdict.Verdict
	}{
		{"", `1,b;c`, nil, verdict.Pass},
		{"3", `1,b;c`, []string{"short-polls"}, verdict.Pass},
		{"3", `1,b;c`, nil, verdict.Fail},
		{"", `1,c;b`, nil, verdict.Fail},
	} {
		rep := judged(t, "continue", table+fmt.Sprintf(unknown, x.max, x.got), x.allow...)
		require.Equal(t, x.want, rep.Total.Verdict, "%v: %s", x, rep.Total.Reason)
	}
}

// TestAcceptedWithoutPositions: a purge that is only accepted takes effect later, positions or not.
func TestAcceptedWithoutPositions(t *testing.T) {
	table := "process,call,return,f,strategy,payloads,max,records\n1,1,2,append,,a,,\n1,3,4,purge,,,,\n2,5,6,poll,first,,9,a\n2,7,8,poll,first,,9,\n"
	require.Equal(t, verdict.Pass, judged(t, "restart", table, "accepted-purges").Total.Verdict)
	require.Equal(t, verdict.Fail, judged(t, "restart", table).Total.Verdict)
}

// TestAskedByTime: the timestamp that another system was asked by is not told, so a poll by it is
// held to what it read where it did.
func TestAskedByTime(t *testing.T) {
	table := "process,call,return,f,strategy,payloads,max,which,position,records\n1,1,2,append,,a;b;c,,,0,\n2,3,4,poll,timestamp,,9,,1,%s\n2,5,6,list-offsets,,,,timestamp,1,\n"
	for _, semantics := range []string{"restart", "continue", "nats"} {
		require.Equal(t, verdict.Pass, judged(t, semantics, fmt.Sprintf(table, "1=b;c")).Total.Verdict, semantics)
	}
	require.Equal(t, verdict.Fail, judged(t, "continue", fmt.Sprintf(table, "1=b;a")).Total.Verdict)
}
