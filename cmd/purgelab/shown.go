package main

import (
	"fmt"
	"io"
	"strings"

	"purgelab/linearizability/verdict"
)

// printShown prints the operations that are wrong together, one a line, indented.
func printShown(w io.Writer, indent string, list []verdict.Shown) error {
	if len(list) == 0 {
		return nil
	}
	t := table{header: []string{"line", "process", "call", "return", "request", "answer"}}
	for _, s := range list {
		until := "never"
		if s.Return > 0 {
			until = fmt.Sprint(s.Return)
		}
		t.add(s.Line, s.Process, s.Call, until, s.Request, s.Answer)
	}
	var b strings.Builder
	if err := t.write(&b); err != nil {
		return err
	}
	_, err := io.WriteString(w, indent+strings.ReplaceAll(strings.TrimSuffix(b.String(), "\n"), "\n", "\n"+indent)+"\n")
	return err
}
