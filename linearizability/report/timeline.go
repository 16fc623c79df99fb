package report

import (
	"cmp"
	"fmt"
	"slices"

	"purgelab/impl/observe"
)

// Sizes in pixels. A lane is laneHeight high with its marks inside.
const (
	laneHeight = 24
	barHeight  = 14
	axisHeight = 20
	gap        = 10 // between groups of lanes
	narrowest  = 1080
	widest     = 9000
	legible    = 12  // of a typical operation
	longest    = 150 // milliseconds of a close-up
)

// picture is one timeline laid out: lanes with names, and shapes over them.
// x counts pixels from the left of the scrolled part, y from its top.
type picture struct {
	Title         string
	Width, Height float64
	Lanes         []lane
	Grid          []tick
	Shapes        []shape
}

// lane is the name of a row, and where it stands.
type lane struct {
	Name string
	Y    float64 // top
	Kind string  // client, replica, fault
}

// tick is one line of the time axis.
type tick struct {
	X    float64
	Text string
}

// shape is a rectangle, or with Path a symbol drawn at (X, Y).
type shape struct {
	X, Y, W, H float64
	Class      string
	Path       string
	Title      string // shown when a pointer rests on it
	Text       string // written inside when it fits
}

// TextX and TextY are where the text inside begins.
func (s shape) TextX() float64 { return s.X + 4 }
func (s shape) TextY() float64 { return s.Y + s.H/2 + 4 }

// window is the stretch of time that a picture shows.
type window struct {
	from, to int64
	scale    float64 // pixels per millisecond
}

func (w window) x(t int64) float64 { return float64(t-w.from) * w.scale }

// clip cuts a stretch to the window; ok is false when nothing is left.
func (w window) clip(from, to int64) (x, width float64, ok bool) {
	if to < w.from || from > w.to {
		return 0, 0, false
	}
	from, to = max(from, w.from), min(to, w.to)
	return w.x(from), max(float64(to-from)*w.scale, 1), true
}

// draw lays out a run: the whole of it in the width of a page; the whole again,
// so wide that operations can be told apart, unless the first is wide enough for
// that; and a close-up of the first purges, whose steps are too short for both.
func draw(t Timeline) []*picture {
	last := t.end()
	if last == 0 && len(t.Operations) == 0 {
		return nil
	}
	fit := float64(narrowest) / float64(max(last, 1))
	out := []*picture{t.picture("", window{0, last, fit})}
	if d := t.typical(); d > 0 && fit*float64(d) < legible/2 {
		scale := min(legible/float64(d), float64(widest)/float64(last))
		out = append(out, t.picture("The same in detail, to be scrolled", window{0, last, scale}))
	}
	for _, w := range t.purges(3) {
		out = append(out, t.picture(w.title, window{w.from, w.to, float64(narrowest) / float64(w.to-w.from)}))
	}
	return out
}

func (t Timeline) end() int64 {
	var last int64
	for _, o := range t.Operations {
		last = max(last, o.Start, o.End)
	}
	for _, e := range t.Events {
		last = max(last, e.Time)
	}
	return last
}

// typical is the median duration of operations that were answered.
func (t Timeline) typical() int64 {
	var d []int64
	for _, o := range t.Operations {
		if o.Outcome == "ok" {
			d = append(d, o.End-o.Start)
		}
	}
	if len(d) == 0 {
		return 0
	}
	slices.Sort(d)
	return d[len(d)/2]
}

// closeUp is a window worth a picture of its own.
type closeUp struct {
	title    string
	from, to int64
}

// purges finds the first n purges that do not lie within the close-up of one
// before, each from its commit to its completion on the last replica that
// completed it soon.
func (t Timeline) purges(n int) []closeUp {
	var out []closeUp
	for _, e := range t.Events {
		if e.Action != "Commit" || e.Kind != "purge" || len(out) == n {
			continue
		}
		if k := len(out); k > 0 && e.Time < out[k-1].to {
			continue
		}
		w := closeUp{fmt.Sprintf("The purge at op %d of partition %d, to generation %d", e.Op, e.Partition, e.Generation), e.Time, e.Time}
		for _, f := range t.Events {
			if f.Partition == e.Partition && f.Op == e.Op && f.Action == "PurgeComplete" && f.Time < e.Time+longest {
				w.to = max(w.to, f.Time)
			}
		}
		if w.to == w.from {
			continue // a duplicate, or never completed
		}
		room := max((w.to-w.from)/4, 15)
		w.from, w.to = max(w.from-room, 0), w.to+room
		out = append(out, w)
	}
	return out
}

// picture lays out one window.
func (t Timeline) picture(title string, w window) *picture {
	p := &picture{Title: title, Width: float64(w.to-w.from) * w.scale}
	y := float64(axisHeight)
	if rows := t.faults(p, w, y); rows > 0 {
		y += float64(rows)*laneHeight + gap
	}
	rows := t.clients(p, w, y)
	y += float64(rows)*laneHeight + gap
	for part := range max(t.Partitions, 1) {
		for id := 1; id <= t.Replicas; id++ {
			name := fmt.Sprintf("replica %d", id)
			if t.Partitions > 1 {
				name += fmt.Sprintf(" · p%d", part)
			}
			p.Lanes = append(p.Lanes, lane{name, y, "replica"})
			t.replica(p, w, y, id, part)
			y += laneHeight
		}
		y += gap
	}
	p.Height = y
	p.Grid = grid(w)
	return p
}

// grid chooses round distances at least 90 pixels apart.
func grid(w window) []tick {
	step := int64(1)
	for i := 0; float64(step)*w.scale < 90; i++ {
		step = step * []int64{2, 5, 10}[i%3] / []int64{1, 2, 5}[i%3]
	}
	var out []tick
	for at := (w.from + step - 1) / step * step; at <= w.to; at += step {
		text := fmt.Sprintf("%d ms", at)
		if step >= 100 {
			text = fmt.Sprintf("%.1f s", float64(at)/1000)
		}
		if w.x(at)+45 > float64(w.to-w.from)*w.scale {
			text = "" // would be cut off
		}
		out = append(out, tick{w.x(at), text})
	}
	return out
}

// faults draws the stretches that reach into the window, in as many rows as
// overlap, and returns the number of rows.
func (t Timeline) faults(p *picture, w window, y float64) int {
	var free []int64 // per row: when it is free again
	for _, f := range t.Faults {
		x, width, ok := w.clip(f.From, f.To)
		if !ok {
			continue
		}
		row := 0
		for row < len(free) && free[row] > f.From {
			row++
		}
		if row == len(free) {
			free = append(free, 0)
			p.Lanes = append(p.Lanes, lane{"", y + float64(row)*laneHeight, "fault"})
		}
		free[row] = f.To
		p.Shapes = append(p.Shapes, shape{
			X: x, Y: y + float64(row)*laneHeight + 5, W: width, H: barHeight, Class: "cut",
			Title: fmt.Sprintf("%s\n%d to %d ms", f.Name, f.From, f.To), Text: fit(f.Name, width),
		})
	}
	if len(free) > 0 {
		p.Lanes[0].Name = "faults"
	}
	return len(free)
}

// fit is text if it can be written within width pixels.
func fit(text string, width float64) string {
	if float64(len(text))*5.6+6 > width {
		return ""
	}
	return text
}

// clients draws the operations. A client that gave up an operation goes on as
// a new process; processes that follow one another share a lane.
func (t Timeline) clients(p *picture, w window, y float64) int {
	type life struct {
		process  int
		from, to int64
	}
	var lives []life
	index := map[int]int{}
	for _, o := range t.Operations {
		i, ok := index[o.Process]
		if !ok {
			i = len(lives)
			index[o.Process] = i
			lives = append(lives, life{o.Process, o.Start, o.Start})
		}
		lives[i].from = min(lives[i].from, o.Start)
		lives[i].to = max(lives[i].to, o.End)
	}
	slices.SortStableFunc(lives, func(a, b life) int { return cmp.Compare(a.from, b.from) })
	row := map[int]int{}
	var free []int64
	for _, l := range lives {
		r := 0
		for r < len(free) && free[r] > l.from {
			r++
		}
		if r == len(free) {
			free = append(free, 0)
		}
		free[r], row[l.process] = l.to, r
	}
	for r := range free {
		p.Lanes = append(p.Lanes, lane{fmt.Sprintf("client %d", r), y + float64(r)*laneHeight, "client"})
	}
	for _, o := range t.Operations {
		x, width, ok := w.clip(o.Start, o.End)
		if !ok {
			continue
		}
		top, high := y+float64(row[o.Process])*laneHeight+5, float64(barHeight)
		if o.Name == "purge" {
			top, high = top-3, high+6
		}
		p.Shapes = append(p.Shapes, shape{
			X: x, Y: top, W: max(width, 2), H: high,
			Class: "op " + o.Outcome + " " + generationClass(o.Generation) + " is-" + o.Name,
			Title: fmt.Sprintf("%s by process %d, %d to %d ms: %s\n%s", o.Name, o.Process, o.Start, o.End, outcomeWords(o.Outcome), o.Detail),
			Text:  fit(o.Name, width),
		})
	}
	return len(free)
}

func outcomeWords(outcome string) string {
	switch outcome {
	case "ok":
		return "answered"
	case "fail":
		return "refused, no effect"
	}
	return "outcome unknown"
}

// generationClass is the colour of a generation; colours repeat after eight.
func generationClass(g int) string {
	if g < 0 {
		return "gx"
	}
	return fmt.Sprintf("g%d", g%8)
}

// eventsOf are the events of one replica of one partition, in order.
func (t Timeline) eventsOf(id, part int) []observe.Event {
	var out []observe.Event
	for _, e := range t.Events {
		if e.Replica == id && int(e.Partition) == part {
			out = append(out, e)
		}
	}
	return out
}
