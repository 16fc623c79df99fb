package judge

import (
	"slices"

	"purgelab/model"
	"purgelab/model/op"
)

// inherit makes the partition what the last incarnation left, for the next one to begin.
func (f *finder) inherit(s *model.State) {
	f.gen, f.settled, f.start, f.end = s.Generation(), s.Settled(), s.Start(), s.End()
	f.latest, f.session = s.LastTimestamp(), s.LastSession()
	f.times = make([]op.Timestamp, f.end)
	for o := f.start; o < f.end; o++ {
		m, _ := s.Message(o)
		f.times[o] = m.Timestamp
	}
	for key, k := range f.keys { //purgelab:unordered each one
		if p, ok := s.Bookmark(key); ok {
			f.bookmarks[k].configs[0].offset = p.Offset
		}
	}
}

// begin puts the beginning of a life, after what else is in the log from which it begins:
// of operations that are late, what its bounds and its messages need, and anything that
// may have been done to bookmarks.
func (f *finder) begin(l *life) bool {
	own := l.born
	f.born = l.begins.Reply.Agreed.Incarnation
	defer func() { f.born = own }()
	for i := range l.ops {
		if l.late[i] && !f.done[i] {
			f.called[i] = true
			f.callUnknown(int32(i))
		}
	}
	n := &f.needs[0]
	if !f.reach(0, n) {
		return false
	}
	for k := range f.bookmarks {
		f.lateOn(&f.bookmarks[k])
	}
	f.put(model.Placed{Index: 0})
	f.time = l.begins.Return
	over := func(i int32) bool {
		r := f.ops[i].Request
		return r.Kind != op.Purge && r.Incarnation != 0 && r.Incarnation != own
	}
	f.appends, f.removals = slices.DeleteFunc(f.appends, over), slices.DeleteFunc(f.removals, over)
	for k := range f.bookmarks {
		f.bookmarks[k].unknown = slices.DeleteFunc(f.bookmarks[k].unknown, over)
	}
	for i := range l.ops {
		if l.late[i] && over(int32(i)) {
			f.called[i] = false
		}
	}
	return true
}

// lateOn adds all that late operations make of a bookmark, up to a few in a row.
func (f *finder) lateOn(b *bookmark) {
	for k := 0; k < len(b.configs) && len(b.configs) < maxConfigs; k++ {
		c := b.configs[k]
		if len(c.spent) == inARow {
			continue
		}
		for _, u := range b.unknown {
			offset := f.effect(u, c.offset)
			if slices.Contains(c.spent, u) || slices.ContainsFunc(b.configs, func(d config) bool { return d.offset == offset }) {
				continue
			}
			b.configs = append(b.configs, config{offset: offset, last: &step{c.last, u, f.tick()}, spent: append(slices.Clip(c.spent), u)})
		}
	}
}

// prefer takes for the last config of a bookmark the one that the next life shows.
func (f *finder) prefer(b *bookmark, key int32) {
	if offset, ok := f.last[key]; ok {
		if k := slices.IndexFunc(b.configs, func(c config) bool { return c.offset == offset }); k > 0 {
			b.configs[0], b.configs[k] = b.configs[k], b.configs[0]
		}
	}
}

// foreseeBookmarks notes what the first answers of the next life show of bookmarks.
func (l *life) foreseeBookmarks(next *life) {
	l.last = map[int32]op.Offset{}
	for _, i := range next.returns {
		r, a := next.ops[i].Request, next.ops[i].Reply
		k, asked := l.keys[r.Key]
		if _, known := l.last[k]; known || !asked || next.needs[i].role != keyed {
			continue
		}
		switch {
		case r.Kind == op.GetBookmark && a.Found:
			l.last[k] = a.Position.Offset
		case r.Kind == op.GetBookmark || r.Kind == op.DeleteBookmark && a.Code == op.NotFound:
			l.last[k] = none
		case r.Kind == op.Poll && r.Strategy == op.Next && a.Code == op.OK:
			l.last[k] = a.Position.Offset - 1
		}
	}
}
