package report

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"purgelab/impl/observe"
)

// sample is a page with everything on it: two clients, three replicas, a purge
// that one replica finishes only after a power loss, and a cut link.
func sample() Page {
	t := Timeline{Replicas: 3, Partitions: 1, Faults: []Fault{{"link 1 to 3 cut", 300, 520}, {"lossy network", 100, 900}}}
	r := rand.New(rand.NewPCG(1, 2))
	names := []string{"append", "poll", "store-bookmark", "list-offsets"}
	for c := range 4 {
		at := int64(10 + c*7)
		for at < 1500 {
			d := 8 + r.Int64N(40)
			g := 0
			if at > 400 {
				g = 1
			}
			o := Operation{Process: c, Name: names[r.IntN(len(names))], Start: at, End: at + d, Outcome: "ok", Generation: g, Detail: `payload "<a&b>"`}
			switch r.IntN(14) {
			case 0:
				o.Outcome, o.Generation = "info", -1
			case 1:
				o.Outcome, o.Generation = "fail", -1
			}
			t.Operations = append(t.Operations, o)
			at += d + r.Int64N(12)
		}
	}
	t.Operations = append(t.Operations, Operation{Process: 9, Name: "purge", Start: 380, End: 470, Outcome: "ok", Generation: 1})
	ev := func(at int64, id int, a observe.Action, op, gen int) {
		t.Events = append(t.Events, observe.Event{Time: at, Replica: id, Action: a, Generation: 0, Op: 0})
		e := &t.Events[len(t.Events)-1]
		for range op {
			e.Op++
		}
		for range gen {
			e.Generation++
		}
	}
	for id := 1; id <= 3; id++ {
		ev(0, id, "Boot", 0, 0)
		ev(4, id, "Serve", 0, 0)
	}
	ev(8, 2, "BecomeLeader", 2, 0)
	ev(400, 2, "Commit", 41, 1)
	t.Events[len(t.Events)-1].Kind = "purge"
	for id := 1; id <= 3; id++ {
		at := 400 + int64(id)*6
		ev(at, id, "PurgeBegin", 41, 1)
		if id == 3 {
			ev(at+3, id, "PowerLoss", 0, 0)
			ev(at+40, id, "Boot", 41, 0)
			at += 50
		}
		ev(at+9, id, "PurgeSwitch", 41, 1)
		ev(at+15, id, "PurgeComplete", 41, 1)
		if id == 3 {
			ev(at+22, id, "Serve", 0, 1)
		}
	}
	ev(800, 2, "ProcessCrash", 0, 0)
	ev(850, 1, "BecomeLeader", 60, 1)
	ev(900, 2, "Boot", 60, 1)
	ev(920, 2, "Serve", 60, 1)
	ev(1000, 1, "PurgeDuplicate", 70, 1)
	ev(1200, 1, "Checkpoint", 80, 1)
	return Page{
		Title: "purgelab demo", Lead: "Design ordered, persisted, 3 replicas.", Verdict: Fail,
		Checks: []Check{
			{Layer: "specification", Name: "ordered-local", Verdict: Pass, Detail: "120,418 distinct states", Seconds: 6.1},
			{Layer: "history", Name: "seed 7", Verdict: Fail, Property: "Linearizable", Detail: "poll read a message of generation 0", Replay: "purgelab run --seed 7 --defect local-boundary", Seconds: .4},
			{Layer: "trace", Name: "seed 7", Verdict: "", Detail: "TLC is missing"},
		},
		Models: []Model{{Name: "ordered-local", Module: "MCOrderedLocal.tla", Expected: "pass", Got: "pass", Verdict: Pass, Distinct: 120418, Depth: 31, Seconds: 6.1, Why: "One replica, every durable step, every crash point."}},
		Faults: []Counter{{"planned", "power-loss", 3}, {"effects", "messages lost", 1234}, {"effects", "process crashes", 12}, {"effects", "power losses", 0}},
		Runs: []Run{
			{Name: "seed 7", Verdict: Fail, Property: "Linearizable", Reason: "no order explains the history", Replay: "purgelab run --seed 7",
				Settings: []Setting{{"replicas", "3"}, {"faults", "all"}}, Timeline: t, Porcupine: `<html><body><script>let a = "<p>";</script>hello "porcupine"</body></html>`},
			{Name: "seed 8", Verdict: Pass, Timeline: t},
		},
		Footer: "purgelab, revision abc",
	}
}

func render(t *testing.T, p Page) string {
	var b bytes.Buffer
	require.NoError(t, Write(&b, p))
	if name := os.Getenv("REPORT_OUT"); name != "" {
		require.NoError(t, os.WriteFile(name, b.Bytes(), 0o644))
	}
	return b.String()
}

func TestPageIsSelfContained(t *testing.T) {
	html := render(t, sample())
	require.Empty(t, regexp.MustCompile(`(?i)(src|href|url)\s*[=(]\s*["']?(https?:)?//`).FindAllString(html, -1))
	require.NotContains(t, html, "<link")
	require.NotContains(t, html, "@import")
	require.NotContains(t, html, "ZgotmplZ", "the template refused a value")
}

func TestPageShowsVerdicts(t *testing.T) {
	html := render(t, sample())
	require.Contains(t, html, `<span class="badge big fail">fail</span>`)
	require.Contains(t, html, `purgelab run --seed 7 --defect local-boundary`)
	require.Contains(t, html, `120,418`)
	// What was not judged is shown as undecided.
	require.Contains(t, html, `<td>trace</td><td>seed 7</td>`)
	require.Equal(t, Undecided, class(""))
	require.Regexp(t, `tile undecided"><b>trace</b>`, html)
	// The red run is unfolded, the green one is not.
	require.Equal(t, 1, strings.Count(html, `<details class="run" open>`))
	require.Equal(t, 1, strings.Count(html, `<details class="run">`))
}

func TestPageEscapes(t *testing.T) {
	html := render(t, sample())
	require.NotContains(t, html, `"<a&b>"`)
	require.NotContains(t, html, `<script>`, "porcupine's page must stay inside its frame")
	require.Contains(t, html, `srcdoc="&lt;html&gt;`)
}

// TestPicturesAreXML parses every picture, and finds its lanes in it.
func TestPicturesAreXML(t *testing.T) {
	html := render(t, sample())
	pictures := regexp.MustCompile(`(?s)<svg.*?</svg>`).FindAllString(html, -1)
	require.NotEmpty(t, pictures)
	for _, p := range pictures {
		for d := xml.NewDecoder(strings.NewReader(p)); ; {
			_, err := d.Token()
			if errors.Is(err, io.EOF) {
				break
			}
			require.NoError(t, err, p)
		}
	}
	for _, lane := range []string{"faults", "client 0", "client 4", "replica 1", "replica 3"} {
		require.Contains(t, html, ">"+lane+"</div>")
	}
}

func TestLifeOfAReplica(t *testing.T) {
	tl := sample().Runs[0].Timeline
	var got []string
	for _, b := range life(tl.eventsOf(3, 0), 1500) {
		got = append(got, fmt.Sprintf("%d-%d %s g%d", b.from, b.to, b.state, b.generation))
	}
	require.Equal(t, []string{
		"0-4 booting g0", "4-421 up g0", "421-458 down g0", "458-483 booting g0", "483-490 booting g1", "490-1500 up g1",
	}, got)
}

func TestLeadership(t *testing.T) {
	tl := sample().Runs[0].Timeline
	require.Equal(t, []stretch{{8, 800}}, tl.leads(2, 0), "until it crashes")
	require.Equal(t, []stretch{{850, tl.end()}}, tl.leads(1, 0))
	require.Empty(t, tl.leads(3, 0))
}

func TestCloseUpCoversTheSlowestReplica(t *testing.T) {
	ups := sample().Runs[0].Timeline.purges(3)
	require.Len(t, ups, 1)
	require.Less(t, ups[0].from, int64(400))
	require.Greater(t, ups[0].to, int64(483))
	require.Contains(t, ups[0].title, "op 41")
}

func TestEmptyRunHasNoPicture(t *testing.T) {
	require.Empty(t, draw(Timeline{Replicas: 3}))
	require.NotContains(t, render(t, Page{Title: "x", Runs: []Run{{Name: "y"}}}), "<svg")
}

func TestGroupsHaveScalesOfTheirOwn(t *testing.T) {
	g := groups(sample().Faults)
	require.Len(t, g, 2)
	require.Equal(t, 100, share(g[0][0].N, g[0]))
	require.Equal(t, 100, share(g[1][0].N, g[1]))
	require.Equal(t, 1, share(g[1][1].N, g[1]), "what is not zero is to be seen")
	require.Equal(t, 0, share(g[1][2].N, g[1]))
}

func TestModelsOfEachVerdict(t *testing.T) {
	p := sample()
	p.Models = append(p.Models, Model{Name: "red", Verdict: Fail}, Model{Name: "open"})
	html := render(t, p)
	require.Equal(t, 1, strings.Count(html, "not as expected"))
	require.Equal(t, 1, strings.Count(html, "no verdict"))
}

func TestThousands(t *testing.T) {
	for n, want := range map[int]string{0: "0", 999: "999", 1000: "1,000", 1234567: "1,234,567", -1000: "-1,000"} {
		require.Equal(t, want, thousands(n))
	}
}
