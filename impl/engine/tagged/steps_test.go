package tagged

import (
	"fmt"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/stretchr/testify/require"

	"purgelab/impl/observe"
	"purgelab/impl/vfs"
	"purgelab/impl/vfs/crashfs"
	"purgelab/model/op"
)

// TestSteps shows the exact order of durable steps. The files of testdata hold
// commands and what comes out: every mutating call with its label, path and
// size, grouped by the step of the task that makes it. Run with -rewrite to
// write them anew, and read the difference.
//
//	open                          opens, or opens again after a crash
//	append count=2 ts=5           and store, delete, advance: apply the next op
//	checkpoint, purge gen=2       run all steps; fail=label makes that call crash
//	reclaim                       until nothing is left
//	crash                         the process ends
//	show                          everything visible
func TestSteps(t *testing.T) {
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		d := crashfs.New()
		var e *Engine
		datadriven.RunTest(t, path, func(t *testing.T, c *datadriven.TestData) string {
			d.LogCalls(true)
			var out strings.Builder
			flush := func(indent string) {
				for _, call := range d.Calls() {
					fmt.Fprintf(&out, "%s%s\n", indent, call)
				}
				d.LogCalls(true)
			}
			if c.HasArg("fail") {
				var label string
				c.ScanArgs(t, "fail", &label)
				d.Arm(func(l vfs.Label, _ string) crashfs.Action {
					if string(l) == label {
						return crashfs.CrashBefore
					}
					return crashfs.Continue
				})
			}
			run := func(task Work) string {
				for done := false; !done; {
					var did observe.Action
					var err error
					done, did, err = task.Step()
					if did == "" {
						did = "step"
					}
					fmt.Fprintf(&out, "%s:\n", did)
					flush("  ")
					if err != nil {
						d.Arm(nil)
						fmt.Fprintf(&out, "error: %v\n", err)
						break
					}
				}
				return out.String()
			}
			next := func() op.Number { return e.Facts().Applied + 1 }
			apply := func(eff Effect) string {
				require.NoError(t, e.Apply(next(), eff))
				flush("")
				return out.String()
			}
			switch c.Cmd {
			case "open":
				var r Report
				var err error
				e, r, err = Open(Options{FS: d.FS(), Dir: "p0", Identity: me, SegmentBytes: 200})
				if err != nil {
					return err.Error()
				}
				flush("")
				fmt.Fprintf(&out, "marker %s, front %d\n", r.Marker.State, r.Front)
				return out.String()
			case "append":
				var n int
				var ts int64
				c.ScanArgs(t, "count", &n)
				c.ScanArgs(t, "ts", &ts)
				var ps []op.Payload
				for i := range n {
					ps = append(ps, op.Payload(fmt.Sprintf("op%d.%d", next(), i)))
				}
				return apply(Effect{Kind: Append, Payloads: ps, Timestamp: op.Timestamp(ts)})
			case "store", "delete":
				var id int
				eff := Effect{Kind: Delete}
				c.ScanArgs(t, "key", &id)
				if c.Cmd == "store" {
					var o int64
					c.ScanArgs(t, "offset", &o)
					eff = Effect{Kind: Store, Position: op.Position{Incarnation: 1, Generation: e.Facts().Generation, Offset: op.Offset(o)}}
				}
				eff.Key = key(id)
				return apply(eff)
			case "advance":
				var o int64
				c.ScanArgs(t, "start", &o)
				return apply(Effect{Kind: Advance, Start: op.Offset(o)})
			case "checkpoint":
				return run(e.Checkpoint(nil))
			case "purge":
				var g int
				c.ScanArgs(t, "gen", &g)
				return run(e.Purge(next(), op.Generation(g), nil))
			case "reclaim":
				for more := true; more; {
					did, err := e.Reclaim()
					require.NoError(t, err)
					more = did.More
					if flush(""); did.Folder {
						fmt.Fprintf(&out, "generation %d is gone\n", did.Generation)
					}
				}
				return out.String()
			case "crash":
				d.ProcessCrash()
				return ""
			case "show":
				f := e.Facts()
				fmt.Fprintf(&out, "%s\n", shown(t, e))
				fmt.Fprintf(&out, "applied %d front %d boundary %d", f.Applied, f.Front, f.Boundary)
				if f.Pending != nil {
					fmt.Fprintf(&out, " pending %v", f.Pending)
				}
				return out.String() + "\n"
			}
			t.Fatalf("unknown command %q", c.Cmd)
			return ""
		})
	})
}
