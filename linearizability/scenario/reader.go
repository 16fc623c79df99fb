package scenario

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// reader goes through the words of one line.
type reader struct {
	file string
	line int
	text string
	list []word
	at   int
	stop int // column after the last word
}

type word struct {
	text   string
	column int
}

func (r *reader) bad(column int, format string, args ...any) error {
	return &Error{File: r.file, Line: r.line, Column: column, Text: fmt.Sprintf(format, args...)}
}

func (r *reader) words(text string) {
	for at := 0; ; {
		for at < len(text) && (text[at] == ' ' || text[at] == '\t') {
			at++
		}
		if at == len(text) {
			return
		}
		from := at
		for at < len(text) && text[at] != ' ' && text[at] != '\t' {
			at++
		}
		r.list = append(r.list, word{text[from:at], from + 1})
		r.stop = at + 2
	}
}

// peek is the next word, empty at the end.
func (r *reader) peek() word {
	if r.at < len(r.list) {
		return r.list[r.at]
	}
	return word{column: r.stop}
}

func (r *reader) next(what string) (word, error) {
	w := r.peek()
	if w.text == "" {
		return w, r.bad(w.column, "want %s, got the end", what)
	}
	r.at++
	return w, nil
}

// flag takes a word if it is next.
func (r *reader) flag(name string) bool {
	if r.peek().text == name {
		r.at++
		return true
	}
	return false
}

// partition takes "on p1" from the end of a step; without it p0 is meant.
func (r *reader) partition(s *Scenario) (int, error) {
	last := len(r.list)
	if last > 0 && r.list[last-1].text == "at-once" {
		last--
	}
	if last < 2 || r.list[last-2].text != "on" {
		return 0, nil
	}
	w := r.list[last-1]
	p, err := strconv.Atoi(strings.TrimPrefix(w.text, "p"))
	if err != nil || !strings.HasPrefix(w.text, "p") || p < 0 || p >= s.Partitions {
		return 0, r.bad(w.column, "partition %q: want p0 to p%d", w.text, s.Partitions-1)
	}
	r.list = slices.Delete(r.list, last-2, last)
	return p, nil
}

// option takes name=value if it is next.
func (r *reader) option(name string) (value word, ok bool) {
	w := r.peek()
	v, ok := strings.CutPrefix(w.text, name+"=")
	if ok {
		r.at++
	}
	return word{v, w.column + len(name) + 1}, ok
}

func (r *reader) number(w word, least int) (int, error) {
	n, err := strconv.Atoi(w.text)
	if err != nil || n < least {
		return 0, r.bad(w.column, "%q: want a number from %d", w.text, least)
	}
	return n, nil
}

func (r *reader) end() error {
	if w := r.peek(); w.text != "" {
		return r.bad(w.column, "%q is one word too many", w.text)
	}
	return nil
}
