package check

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"purgelab/linearizability/verdict"
)

// script writes a history from short lines:
//
//	append x@i1:g0:0       process 0 means i1 and is told that position, at 5
//	lost append x          process 9 means i1 and gives up; lost purge 1 too
//	again append x@i1:g0:0 after more than one copy
//	begin i2:g0 0 1 i1:g0:1 messages,bookmarks
//	first i1:g0:0 a b      a poll from the start
//	at i1:g0:0 → i2:g0:0 a a poll from a position, by a client that means i2
//	stale i1:g0:0 → i2:g0 0 1
//	store 1 → 0, get 1 → i1:g0:0 or none, purge 1 → i1:g1:0
func script(t *testing.T, text string) string {
	var b strings.Builder
	now := 0
	event := func(process int, kind, f, value string) {
		now++
		fmt.Fprintf(&b, `{"process":%d,"type":"%s","f":"%s","value":{%s},"time":%d}`+"\n", process, kind, f, value, now)
	}
	means := "1"
	for _, line := range strings.Split(text, "\n") {
		line = strings.TrimSpace(line)
		if line == "" {
			continue
		}
		again := strings.HasPrefix(line, "again ")
		w := strings.Fields(strings.ReplaceAll(strings.TrimPrefix(line, "again "), "→ ", ""))
		end := ""
		if again {
			end = `,"again":true`
		}
		records := func(p []string) string {
			var r []string
			for _, x := range p {
				r = append(r, fmt.Sprintf(`{"p":"%s","t":5}`, x))
			}
			return `"records":[` + strings.Join(r, ",") + `]`
		}
		switch w[0] {
		case "in":
			means = w[1]
		case "lost":
			what := fmt.Sprintf(`"payloads":["%s"]`, w[2])
			if w[1] == "purge" {
				what = `"intent":` + w[2]
			}
			event(9, "invoke", w[1], fmt.Sprintf(`%s,"incarnation":%s`, what, means))
			event(9, "info", w[1], strings.TrimPrefix(end, ","))
		case "append":
			p, at, _ := strings.Cut(w[1], "@")
			event(0, "invoke", "append", fmt.Sprintf(`"payloads":["%s"],"incarnation":%s`, p, means))
			event(0, "ok", "append", fmt.Sprintf(`"position":"%s","timestamp":5%s`, at, end))
		case "begin":
			may := ""
			if len(w) > 5 {
				may = `"may_lose":["` + strings.Join(strings.Split(w[5], ","), `","`) + `"]`
			}
			event(-1, "invoke", "new-incarnation", may)
			event(-1, "ok", "new-incarnation", fmt.Sprintf(`"position":"%s:-1","start":%s,"end":%s,"agreed":"%s"`, w[1], w[2], w[3], w[4]))
			means = w[1][1:2]
		case "first":
			event(1, "invoke", "poll", `"strategy":"first","max":9,"incarnation":`+means)
			event(1, "ok", "poll", fmt.Sprintf(`"position":"%s",%s`, w[1], records(w[2:])))
		case "at":
			event(1, "invoke", "poll", fmt.Sprintf(`"strategy":"offset","at":"%s","max":9,"incarnation":%s`, w[1], means))
			event(1, "ok", "poll", fmt.Sprintf(`"position":"%s",%s`, w[2], records(w[3:])))
		case "stale":
			event(1, "invoke", "poll", fmt.Sprintf(`"strategy":"offset","at":"%s","max":9,"incarnation":%s`, w[1], means))
			event(1, "ok", "poll", fmt.Sprintf(`"code":"stale-incarnation","position":"%s:-1","start":%s,"end":%s`, w[2], w[3], w[4]))
		case "store":
			event(2, "invoke", "store-bookmark", fmt.Sprintf(`"key":"consumer-%s","at":%s,"incarnation":%s`, w[1], w[2], means))
			event(2, "ok", "store-bookmark", strings.TrimPrefix(end, ","))
		case "get":
			event(2, "invoke", "get-bookmark", fmt.Sprintf(`"key":"consumer-%s","incarnation":%s`, w[1], means))
			found := `"found":false`
			if w[2] != "none" {
				found = `"position":"` + w[2] + `"`
			}
			event(2, "ok", "get-bookmark", found)
		case "purge":
			event(3, "invoke", "purge", fmt.Sprintf(`"intent":%s,"incarnation":%s`, w[1], means))
			event(3, "ok", "purge", fmt.Sprintf(`"position":"%s"`, w[2]))
		default:
			require.Fail(t, "unknown line", line)
		}
	}
	return b.String()
}

// What a new incarnation may look like to clients, and what it may not.
func TestNewIncarnations(t *testing.T) {
	const ab = "append a@i1:g0:0\nappend b@i1:g0:1\n"
	for name, c := range map[string]struct {
		text string
		want verdict.Verdict
	}{
		"nothing is lost":                          {ab + "begin i2:g0 0 2 i1:g0:2\nfirst i2:g0:0 a b\nappend c@i2:g0:2\nfirst i2:g0:0 a b c", verdict.Pass},
		"an acknowledged persisted one is lost":    {ab + "begin i2:g0 0 1 i1:g0:1", verdict.Fail},
		"of bookmarks only":                        {ab + "begin i2:g0 0 1 i1:g0:1 bookmarks", verdict.Fail},
		"a replicated one is lost":                 {ab + "begin i2:g0 0 1 i1:g0:1 messages\nfirst i2:g0:0 a\nappend c@i2:g0:1\nfirst i2:g0:0 a c", verdict.Pass},
		"a persisted one with its disks":           {ab + "begin i2:g0 0 1 i1:g0:1 synced\nfirst i2:g0:0 a", verdict.Pass},
		"everything is lost":                       {ab + "begin i2:g0 0 0 i1:g0:0 messages\nappend c@i2:g0:0", verdict.Pass},
		"it does not say that it is lost":          {ab + "begin i2:g0 0 2 i1:g0:2 messages\nfirst i2:g0:0 a", verdict.Fail},
		"it is lost later":                         {ab + "begin i2:g0 0 2 i1:g0:2 messages\nfirst i2:g0:0 a b\nfirst i2:g0:0 a", verdict.Fail},
		"more than there was":                      {ab + "begin i2:g0 0 3 i1:g0:2 messages", verdict.Fail},
		"a start that never was":                   {ab + "begin i2:g0 1 2 i1:g0:2 messages", verdict.Fail},
		"without a new incarnation":                {ab + "in 2\nappend c@i2:g0:2", verdict.Fail},
		"before the new incarnation":               {ab + "in 2\nappend c@i2:g0:2\nbegin i2:g0 0 2 i1:g0:2", verdict.Fail},
		"the old one goes on":                      {ab + "begin i2:g0 0 2 i1:g0:2\nin 1\nappend c@i1:g0:2", verdict.Fail},
		"a message of a lost position, refused":    {ab + "begin i2:g0 0 1 i1:g0:1 messages\nappend c@i2:g0:1\nstale i1:g0:1 → i2:g0 0 2", verdict.Pass},
		"a message of a lost position, reused":     {ab + "begin i2:g0 0 1 i1:g0:1 messages\nappend c@i2:g0:1\nat i1:g0:1 → i2:g0:1 c", verdict.Fail},
		"a position that lives on":                 {ab + "begin i2:g0 0 1 i1:g0:1 messages\nat i1:g0:0 → i2:g0:0 a", verdict.Pass},
		"a position that lives on, refused":        {ab + "begin i2:g0 0 1 i1:g0:1 messages\nstale i1:g0:0 → i2:g0 0 1", verdict.Fail},
		"a position that is not agreed on":         {ab + "begin i2:g0 0 2 i1:g0:1 messages\nat i1:g0:1 → i2:g0:1 b", verdict.Fail},
		"agreed beyond the end":                    {ab + "begin i2:g0 0 1 i1:g0:2 messages", verdict.Fail},
		"a blend of two histories":                 {ab + "append c@i1:g0:2\nbegin i2:g0 0 2 i1:g0:1 messages\nfirst i2:g0:0 a c", verdict.Fail},
		"another log":                              {ab + "again append c@i1:g0:2\nbegin i2:g0 0 2 i1:g0:1 messages\nfirst i2:g0:0 a c", verdict.Pass},
		"another log that was agreed on":           {ab + "again append c@i1:g0:2\nbegin i2:g0 0 2 i1:g0:2 messages\nfirst i2:g0:0 a c", verdict.Fail},
		"another log of an unknown one":            {"append a@i1:g0:0\nlost append x\nappend b@i1:g0:1\nbegin i2:g0 0 2 i1:g0:1 messages\nfirst i2:g0:0 a x", verdict.Pass},
		"another log of it, agreed on":             {"append a@i1:g0:0\nlost append x\nappend b@i1:g0:1\nbegin i2:g0 0 2 i1:g0:2 messages\nfirst i2:g0:0 a x", verdict.Fail},
		"another log though all is persisted":      {"append a@i1:g0:0\nlost append x\nappend b@i1:g0:1\nbegin i2:g0 0 2 i1:g0:1\nfirst i2:g0:0 a x", verdict.Fail},
		"an unknown one is kept":                   {"append a@i1:g0:0\nlost append x\nbegin i2:g0 0 2 i1:g0:2\nfirst i2:g0:0 a x", verdict.Pass},
		"an unknown one is not kept":               {"append a@i1:g0:0\nlost append x\nbegin i2:g0 0 1 i1:g0:1\nfirst i2:g0:0 a", verdict.Pass},
		"a retry is executed in the new one":       {"append a@i1:g0:0\nlost append x\nbegin i2:g0 0 1 i1:g0:1\nappend b@i2:g0:1\nfirst i2:g0:0 a b x", verdict.Fail},
		"one that was seen, of persisted messages": {"append a@i1:g0:0\nlost append x\nfirst i1:g0:0 a x\nbegin i2:g0 0 1 i1:g0:1", verdict.Fail},
		"one that was seen, of replicated ones":    {"append a@i1:g0:0\nlost append x\nfirst i1:g0:0 a x\nbegin i2:g0 0 1 i1:g0:1 messages\nfirst i2:g0:0 a", verdict.Pass},
		"a bookmark is lost":                       {ab + "store 1 0\nbegin i2:g0 0 2 i1:g0:2 bookmarks\nget 1 none", verdict.Pass},
		"a persisted bookmark is lost":             {ab + "store 1 0\nbegin i2:g0 0 2 i1:g0:2 messages\nget 1 none", verdict.Fail},
		"an older bookmark":                        {ab + "store 1 0\nstore 1 1\nbegin i2:g0 0 2 i1:g0:2 bookmarks\nget 1 i2:g0:0", verdict.Pass},
		"a bookmark that was covered by a message": {"append a@i1:g0:0\nstore 1 0\nappend b@i1:g0:1\nbegin i2:g0 0 2 i1:g0:2 bookmarks\nget 1 none", verdict.Fail},
		"bookmarks in the order of the log":        {ab + "store 1 0\nstore 2 0\nbegin i2:g0 0 2 i1:g0:2 bookmarks\nget 1 none\nget 2 i2:g0:0", verdict.Fail},
		"bookmarks in another log":                 {ab + "store 1 0\nagain store 2 0\nbegin i2:g0 0 2 i1:g0:2 bookmarks\nget 1 none\nget 2 i2:g0:0", verdict.Pass},
		"a bookmark of a lost message":             {ab + "store 1 1\nbegin i2:g0 0 1 i1:g0:1 messages,bookmarks\nget 1 i2:g0:1", verdict.Fail},
		"a bookmark of what is kept":               {ab + "store 1 0\nbegin i2:g0 0 1 i1:g0:1 messages,bookmarks\nget 1 i2:g0:0", verdict.Fail},
		"a purge is lost, and comes again":         {ab + "purge 1 → i1:g1:0\nbegin i2:g0 0 2 i1:g0:2 messages,bookmarks\nfirst i2:g0:0 a b\nfirst i2:g1:0\nstale i1:g1:0 → i2:g1 0 0", verdict.Pass},
		"a purge of persisted bookmarks is lost":   {ab + "purge 1 → i1:g1:0\nbegin i2:g0 0 2 i1:g0:2 messages", verdict.Fail},
		"a purge of persisted messages is lost":    {ab + "purge 1 → i1:g1:0\nbegin i2:g0 0 2 i1:g0:2 bookmarks", verdict.Fail},
		"a persisted purge is lost":                {ab + "purge 1 → i1:g1:0\nbegin i2:g0 0 2 i1:g0:2", verdict.Fail},
		"a purge in another log":                   {ab + "purge 1 → i1:g1:0\nbegin i2:g1 0 0 i1:g0:1 messages,bookmarks\nfirst i2:g1:0", verdict.Pass},
		"a generation that nobody asked for":       {ab + "begin i2:g1 0 0 i1:g0:1 messages", verdict.Fail},
		"what followed the purge is lost":          {ab + "purge 1 → i1:g1:0\nappend c@i1:g1:0\nbegin i2:g1 0 0 i1:g1:0 messages\nfirst i2:g1:0\nappend d@i2:g1:0\nstale i1:g1:0 → i2:g1 0 1", verdict.Pass},
		"what followed an unknown purge is lost":   {ab + "lost purge 1\nappend c@i1:g1:0\nbegin i2:g1 0 0 i1:g1:0 messages\nfirst i2:g1:0", verdict.Pass},
		"an unknown purge that was seen is lost":   {ab + "lost purge 1\nfirst i1:g1:0\nbegin i2:g0 0 2 i1:g0:2", verdict.Fail},
		"an unknown purge that was seen, agreed":   {ab + "lost purge 1\nfirst i1:g1:0\nbegin i2:g0 0 2 i1:g1:0 messages", verdict.Fail},
		"twice": {ab + "begin i2:g0 0 1 i1:g0:1 messages\nappend c@i2:g0:1\nappend d@i2:g0:2\nbegin i3:g0 0 2 i2:g0:2 messages\nfirst i3:g0:0 a c\n" +
			"at i2:g0:1 → i3:g0:1 c\nstale i1:g0:1 → i3:g0 0 2\nat i1:g0:0 → i3:g0:0 a c", verdict.Pass},
		"who means the one that is over is told": {ab + "begin i2:g0 0 2 i1:g0:2\nappend c@i2:g0:2\nin 1\nstale i1:g0:0 → i2:g0 0 3", verdict.Pass},
		"and told what was, not what is":         {ab + "begin i2:g0 0 2 i1:g0:2\nappend c@i2:g0:2\nin 1\nstale i1:g0:0 → i2:g0 0 2", verdict.Fail},
		"nothing but requests names it":          {"in 3\nget 1 none", verdict.Pass},
		"twice, and what was lost comes back":    {ab + "begin i2:g0 0 1 i1:g0:1 messages\nbegin i3:g0 0 2 i2:g0:1 messages\nfirst i3:g0:0 a b", verdict.Fail},
	} {
		text := script(t, c.text)
		v, _, err := Check(context.Background(), parse(t, text), Options{})
		require.NoError(t, err, name)
		require.Equal(t, c.want, v.Verdict, "%s: %s\n%s", name, v, c.text)
		if v.Verdict == verdict.Fail {
			t.Logf("%s: %s", name, v.Reason)
		}
	}
}
