package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"unicode/utf8"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"
)

// writeJSON prints one result as one line.
func writeJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	return enc.Encode(v)
}

// table is rows of cells under a header, printed in columns that are as wide
// as their widest cell. Columns that hold only numbers are set flush right.
type table struct {
	header []string
	rows   [][]string
}

func (t *table) add(cells ...any) {
	row := make([]string, len(cells))
	for i, c := range cells {
		row[i] = fmt.Sprint(c)
	}
	t.rows = append(t.rows, row)
}

func (t *table) write(w io.Writer) error {
	width := make([]int, len(t.header))
	numeric := make([]bool, len(t.header))
	for i, h := range t.header {
		width[i], numeric[i] = utf8.RuneCountInString(h), len(t.rows) > 0
	}
	for _, row := range t.rows {
		for i, cell := range row {
			width[i] = max(width[i], utf8.RuneCountInString(cell))
			numeric[i] = numeric[i] && strings.Trim(cell, "0123456789.,-") == ""
		}
	}
	var b strings.Builder
	line := func(row []string) {
		var l strings.Builder
		for i, cell := range row {
			pad := strings.Repeat(" ", width[i]-utf8.RuneCountInString(cell))
			if numeric[i] {
				l.WriteString(pad + cell + "  ")
			} else {
				l.WriteString(cell + pad + "  ")
			}
		}
		b.WriteString(strings.TrimRight(l.String(), " ") + "\n")
	}
	line(t.header)
	for _, row := range t.rows {
		line(row)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// bar is a progress bar that is there only if w is a terminal.
type bar struct{ b *progressbar.ProgressBar }

func newBar(w io.Writer, total int, what string) *bar { return newBarOf(w, total, what, "") }

// newBarOf is one that also shows how many units are done in a second. A total of -1 is
// not known.
func newBarOf(w io.Writer, total int, what, unit string) *bar {
	f, ok := w.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return &bar{}
	}
	return &bar{progressbar.NewOptions(total,
		progressbar.OptionSetWriter(w),
		progressbar.OptionSetDescription(what),
		progressbar.OptionShowCount(),
		progressbar.OptionSetPredictTime(true),
		progressbar.OptionClearOnFinish(),
		progressbar.OptionSetWidth(30),
		func(p *progressbar.ProgressBar) {
			if unit != "" {
				progressbar.OptionShowIts()(p)
				progressbar.OptionSetItsString(unit)(p)
			}
		})}
}

func (b *bar) step() {
	if b.b != nil {
		_ = b.b.Add(1)
	}
}

// set moves the bar to n steps.
func (b *bar) set(n int) {
	if b.b != nil {
		_ = b.b.Set(n)
	}
}

// say changes what stands before the bar.
func (b *bar) say(what string) {
	if b.b != nil {
		b.b.Describe(what)
	}
}

// of moves the bar to n steps of a total that was not known before.
func (b *bar) of(n, total int) {
	if b.b != nil {
		b.b.ChangeMax(total)
		_ = b.b.Set(n)
	}
}

// clear takes the bar off the screen until the next step, so that a line can be printed.
func (b *bar) clear() {
	if b.b != nil {
		_ = b.b.Clear()
	}
}

// done takes the bar off the screen.
func (b *bar) done() {
	if b.b != nil {
		_ = b.b.Finish()
	}
}

// plural is "1 replica", "3 replicas", "21 properties".
func plural(n int, word string) string {
	if n == 1 {
		return "1 " + word
	}
	if stem, ok := strings.CutSuffix(word, "ty"); ok {
		word = stem + "tie"
	}
	return fmt.Sprintf("%d %ss", n, word)
}

// why is a reason without the name of the property that it may begin with.
func why(property, reason string) string {
	return strings.TrimPrefix(reason, property+": ")
}
