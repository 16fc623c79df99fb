package traces

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"purgelab/impl/observe"
)

// dataModule is the name of the constant module that holds the events.
const dataModule = "TraceData"

// firstOp is the op that every partition starts with: the bootstrap.
const firstOp = 1

// writeModule writes the steps of pieces of one level as a TLA+ module of
// constants. Every record holds only what its action needs, because SANY, TLC's
// parser, is what limits the size of a batch.
func writeModule(w io.Writer, level Level, batch []*job) error {
	var b strings.Builder
	fmt.Fprintf(&b, "---- MODULE %s ----\n\\* Written from traces; see %s.\nEXTENDS Integers\nTraceFirst == %d\n", dataModule, rootModule[level], firstOp)
	fmt.Fprintf(&b, "TraceKeys == {%s}\n", strings.Join(quoted(keysOf(batch)), ", "))
	fmt.Fprintf(&b, "TraceReplicas == 1 .. %d\n", replicasOf(batch))
	sequences(&b, "TracePieces", batch, func(j *job) []string {
		var out []string
		for _, s := range j.steps {
			out = append(out, record(level, s))
		}
		return out
	})
	fmt.Fprintf(&b, "TraceFrom == <<%s>>\n", strings.Join(reachedOf(batch), ", "))
	if level == Group {
		sequences(&b, "TraceLogs", batch, func(j *job) []string { return j.log })
	}
	b.WriteString("====\n")
	_, err := io.WriteString(w, b.String())
	return err
}

// sequences writes a definition that holds one sequence per job.
func sequences(b *strings.Builder, name string, batch []*job, of func(*job) []string) {
	b.WriteString(name + " == <<\n")
	for i, j := range batch {
		if i > 0 {
			b.WriteString(",\n")
		}
		b.WriteString("<<\n" + strings.Join(of(j), ",\n") + "\n>>")
	}
	b.WriteString("\n>>\n")
}

// reachedOf is, per job, the step from which on states are told.
func reachedOf(batch []*job) []string {
	out := make([]string, len(batch))
	for i, j := range batch {
		out[i] = fmt.Sprint(j.reached)
	}
	return out
}

func replicasOf(batch []*job) int {
	n := 1
	for _, j := range batch {
		n = max(n, j.piece.Replicas)
	}
	return n
}

func quoted(words []string) []string {
	out := make([]string, len(words))
	for i, w := range words {
		out[i] = `"` + w + `"`
	}
	return out
}

// keysOf lists the owners of bookmarks that the steps name, sorted.
func keysOf(batch []*job) []string {
	seen := map[string]bool{}
	var out []string
	for _, j := range batch {
		for _, s := range j.steps {
			if s.Key != "" && !seen[s.Key] {
				seen[s.Key] = true
				out = append(out, s.Key)
			}
		}
	}
	slices.Sort(out)
	return out
}

// recordFields says which fields the trace modules read, by action.
var recordFields = map[Level]map[observe.Action]string{
	Local: {
		Materialize:    "op k key o n ap st en g",
		PurgeBegin:     "op g ap st en",
		PurgeSwitch:    "op g ap st en",
		PurgeComplete:  "op g ap st en",
		PurgeDuplicate: "op g q ap st en",
		Checkpoint:     "op g ap st en",
		Reclaim:        "g",
		ProcessCrash:   "",
		PowerLoss:      "",
		Boot:           "op k g ap st en",
		Serve:          "g ap st en",
	},
	Group: {
		Commit:         "r op t k key o n g",
		BecomeLeader:   "r t",
		Materialize:    "r op k key o n ap st en g",
		PurgeComplete:  "r op g ap st en",
		PurgeDuplicate: "r op g q ap st en",
		ProcessCrash:   "r",
		PowerLoss:      "r",
		Boot:           "r g ap st en",
		Answer:         "r k key o n g ap st en",
	},
}

// record writes one step as a TLA+ record.
func record(level Level, s step) string {
	var b strings.Builder
	fmt.Fprintf(&b, `[a |-> "%s"`, s.Action)
	for _, f := range strings.Fields(recordFields[level][s.Action]) {
		var v string
		switch f {
		case "op":
			v = fmt.Sprint(s.Op)
		case "k":
			v = `"` + s.Kind + `"`
		case "key":
			if s.Key == "" {
				continue
			}
			v = `"` + s.Key + `"`
		case "o":
			v = fmt.Sprint(s.Offset)
		case "n":
			v = fmt.Sprint(s.Count)
		case "g":
			v = fmt.Sprint(s.Generation)
		case "q":
			v = fmt.Sprint(s.Asked)
		case "r":
			v = fmt.Sprint(s.Replica)
		case "t":
			v = fmt.Sprint(s.Term)
		case "ap":
			v = fmt.Sprint(s.Applied)
		case "st":
			v = fmt.Sprint(s.Start)
		case "en":
			v = fmt.Sprint(s.End)
		}
		fmt.Fprintf(&b, ", %s |-> %s", f, v)
	}
	b.WriteString("]")
	return b.String()
}
