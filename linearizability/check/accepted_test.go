package check

import (
	"context"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"purgelab/linearizability/verdict"
)

// What a purge that was acknowledged when its intent was committed may look like
// to others, and what it may not.
func TestAcceptedPurges(t *testing.T) {
	const (
		appended = `{"process":0,"type":"invoke","f":"append","value":{"payloads":["a"]},"time":T1}
{"process":0,"type":"ok","f":"append","value":{"position":"i1:g0:0","timestamp":5},"time":T2}
`
		accepted = `{"process":0,"type":"invoke","f":"purge","time":T1}
{"process":0,"type":"ok","f":"purge","value":{"position":"i1:g1:0","accepted":true,"intent":1},"time":T2}
`
		stillThere = `{"process":0,"type":"invoke","f":"poll","value":{"strategy":"first","max":9},"time":T1}
{"process":0,"type":"ok","f":"poll","value":{"position":"i1:g0:0","records":[{"p":"a","t":5}]},"time":T2}
`
		gone = `{"process":0,"type":"invoke","f":"poll","value":{"strategy":"first","max":9},"time":T1}
{"process":0,"type":"ok","f":"poll","value":{"position":"i1:g1:0"},"time":T2}
`
		fresh = `{"process":0,"type":"invoke","f":"append","value":{"payloads":["b"]},"time":T1}
{"process":0,"type":"ok","f":"append","value":{"position":"i1:g1:0","timestamp":6},"time":T2}
`
		// Intent 2 did not find the position that it expected.
		mismatch = `{"process":1,"type":"invoke","f":"purge","value":{"intent":2,"expected":"i1:g0:7"},"time":T1}
{"process":1,"type":"ok","f":"purge","value":{"code":"mismatch","position":"i1:g0:-1","end":1},"time":T2}
`
		conditional = `{"process":0,"type":"invoke","f":"purge","value":{"expected":"i1:g0:7"},"time":T1}
{"process":0,"type":"ok","f":"purge","value":{"position":"i1:g1:0","accepted":true,"intent":1},"time":T2}
`
	)
	for name, c := range map[string]struct {
		history []string
		want    verdict.Verdict
	}{
		"no effect yet":                {[]string{appended, accepted, stillThere}, verdict.Pass},
		"the effect comes later":       {[]string{appended, accepted, stillThere, stillThere, gone, fresh}, verdict.Pass},
		"the effect comes at once":     {[]string{appended, accepted, gone, fresh}, verdict.Pass},
		"the effect is not undone":     {[]string{appended, accepted, gone, stillThere}, verdict.Fail},
		"the effect comes once":        {[]string{appended, accepted, fresh, gone}, verdict.Fail},
		"no effect before the call":    {[]string{appended, gone, accepted}, verdict.Fail},
		"lost below a mismatch":        {[]string{appended, accepted, mismatch, stillThere}, verdict.Fail},
		"settled before the mismatch":  {[]string{appended, accepted, mismatch, gone}, verdict.Pass},
		"a conditional one may fail":   {[]string{appended, conditional, stillThere, stillThere}, verdict.Pass},
		"a conditional one needs luck": {[]string{appended, conditional, gone}, verdict.Fail},
	} {
		var text strings.Builder
		time := 1
		for _, part := range c.history {
			part = strings.ReplaceAll(part, "T1", strconv.Itoa(time))
			text.WriteString(strings.ReplaceAll(part, "T2", strconv.Itoa(time+1)))
			time += 2
		}
		v, _, err := Check(context.Background(), parse(t, text.String()), Options{})
		require.NoError(t, err, name)
		require.Equal(t, c.want, v.Verdict, "%s: %s\n%s", name, v, text.String())
	}
}
