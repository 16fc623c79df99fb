package report

import (
	"fmt"

	"purgelab/impl/observe"
)

// band is a stretch of a replica's life: down, booting or up, in one
// generation.
type band struct {
	from, to   int64
	state      string // down, booting, up
	generation int
}

// life splits what a replica did into bands.
func life(events []observe.Event, end int64) []band {
	out := []band{{state: "up"}}
	change := func(at int64, state string, generation int) {
		b := &out[len(out)-1]
		b.to = at
		if b.from == b.to {
			b.state, b.generation = state, generation
			return
		}
		out = append(out, band{from: at, state: state, generation: generation})
	}
	for _, e := range events {
		now := out[len(out)-1]
		switch e.Action {
		case "ProcessCrash", "PowerLoss":
			change(e.Time, "down", now.generation)
		case "Boot":
			change(e.Time, "booting", int(e.Generation))
		case "Serve":
			change(e.Time, "up", now.generation)
		case "PurgeComplete":
			change(e.Time, now.state, int(e.Generation))
		}
	}
	out[len(out)-1].to = end
	return out
}

// symbols are drawn around (0, 0), about 10 pixels wide.
var symbols = map[observe.Action]struct{ path, class, words string }{
	"PurgeBegin":     {"M-4 -6 L4 0 L-4 6 Z", "mark begin", "marker written: the purge is decided"},
	"PurgeSwitch":    {"M0 -6 L5 0 L0 6 L-5 0 Z", "mark switch", "fresh, empty era in place"},
	"PurgeComplete":  {"M-5 -5 H5 V5 H-5 Z", "mark complete", "marker complete"},
	"PurgeDuplicate": {"M-5 -2 H5 V2 H-5 Z", "mark duplicate", "duplicate purge: nothing to do"},
	"ProcessCrash":   {"M-5 -5 L5 5 M5 -5 L-5 5", "mark crash", "process crash: the cache survives"},
	"PowerLoss":      {"M1 -8 L-5 1 L-1 1 L-2 8 L5 -2 L1 -2 Z", "mark power", "power loss: unsynced writes may be gone"},
	"Boot":           {"M-3 0 a3 3 0 1 0 6 0 a3 3 0 1 0 -6 0", "mark boot", "boot"},
	"Serve":          {"M0 -6 V6", "mark serve", "serves again"},
	"Checkpoint":     {"M0 3 V7", "mark checkpoint", "checkpoint"},
}

// legendMarks explains the symbols, in the order in which a purge and a crash
// show them.
func legendMarks() []shape {
	var out []shape
	for _, m := range []struct {
		action observe.Action
		words  string
	}{
		{"PurgeBegin", "purge: marker begun"}, {"PurgeSwitch", "era switched"}, {"PurgeComplete", "complete"}, {"PurgeDuplicate", "duplicate"},
		{"ProcessCrash", "process crash"}, {"PowerLoss", "power loss"}, {"Boot", "boot"}, {"Serve", "serves again"}, {"Checkpoint", "checkpoint"},
	} {
		s := symbols[m.action]
		out = append(out, shape{Class: s.class, Path: s.path, Title: m.words})
	}
	return out
}

// replica draws one lane: bands, leadership as a line above them, and symbols.
func (t Timeline) replica(p *picture, w window, y float64, id, part int) {
	events := t.eventsOf(id, part)
	for _, b := range life(events, t.end()) {
		x, width, ok := w.clip(b.from, b.to)
		if !ok {
			continue
		}
		words := fmt.Sprintf("replica %d %s", id, b.state)
		if b.state != "down" {
			words += fmt.Sprintf(", generation %d", b.generation)
		}
		p.Shapes = append(p.Shapes, shape{
			X: x, Y: y + 7, W: width, H: barHeight - 4, Class: "band " + b.state + " " + generationClass(b.generation),
			Title: fmt.Sprintf("%s\n%d to %d ms", words, b.from, b.to),
		})
	}
	for _, l := range t.leads(id, part) {
		if x, width, ok := w.clip(l.from, l.to); ok {
			p.Shapes = append(p.Shapes, shape{
				X: x, Y: y + 3, W: width, H: 3, Class: "lead",
				Title: fmt.Sprintf("replica %d leads from %d ms", id, l.from),
			})
		}
	}
	for _, e := range events {
		s, ok := symbols[e.Action]
		if !ok || e.Time < w.from || e.Time > w.to {
			continue
		}
		p.Shapes = append(p.Shapes, shape{
			X: w.x(e.Time), Y: y + laneHeight/2, Class: s.class, Path: s.path,
			Title: fmt.Sprintf("%s at %d ms: %s\n%s", e.Action, e.Time, s.words, facts(e)),
		})
	}
}

// facts says what an event carries.
func facts(e observe.Event) string {
	text := ""
	if e.Op > 0 {
		text = fmt.Sprintf("op %d, ", e.Op)
	}
	if e.Generation > 0 {
		text += fmt.Sprintf("generation %d, ", e.Generation)
	}
	if e.Kind != "" {
		text += e.Kind + ", "
	}
	return text + fmt.Sprintf("applied %d, start %d, end %d", e.Applied, e.Start, e.End)
}

// stretch is a piece of time.
type stretch struct{ from, to int64 }

// leads are the times in which a replica led: from its election until another
// one is elected in a later term, or it goes down.
func (t Timeline) leads(id, part int) []stretch {
	var out []stretch
	leading := false
	var term uint64
	stop := func(at int64) {
		if leading {
			out[len(out)-1].to = at
			leading = false
		}
	}
	for _, e := range t.Events {
		if int(e.Partition) != part {
			continue
		}
		switch {
		case e.Action == "BecomeLeader" && e.Replica == id:
			stop(e.Time)
			leading, term = true, e.Term
			out = append(out, stretch{from: e.Time})
		case e.Action == "BecomeLeader" && e.Term > term:
			stop(e.Time)
		case e.Replica == id && (e.Action == "ProcessCrash" || e.Action == "PowerLoss"):
			stop(e.Time)
		}
	}
	stop(t.end())
	return out
}
