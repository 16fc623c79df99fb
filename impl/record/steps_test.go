package record

import (
	"fmt"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"purgelab/impl/vfs"
	"purgelab/impl/vfs/crashfs"
)

// TestSteps shows the exact order of the steps of a write; -rewrite renews it.
// Commands: write value=v [fail=label], crash, read.
func TestSteps(t *testing.T) {
	d := crashfs.New()
	datadriven.RunTest(t, "testdata/write", func(t *testing.T, c *datadriven.TestData) string {
		d.LogCalls(true)
		d.Arm(nil)
		var out strings.Builder
		switch c.Cmd {
		case "write":
			var value, label string
			c.ScanArgs(t, "value", &value)
			if c.HasArg("fail") {
				c.ScanArgs(t, "fail", &label)
				d.Arm(func(l vfs.Label, _ string) crashfs.Action {
					if string(l) == label {
						return crashfs.CrashAfter
					}
					return crashfs.Continue
				})
			}
			err := Write(d.FS(), "marker", "m", me, []byte(value))
			for _, call := range d.Calls() {
				fmt.Fprintln(&out, call)
			}
			if err != nil {
				fmt.Fprintln(&out, "error:", err)
			}
		case "crash":
			d.ProcessCrash()
		case "read":
			value, answer, err := Read(d.FS(), "m", me)
			fmt.Fprintf(&out, "%s %q\n", answer, value)
			if err != nil {
				fmt.Fprintln(&out, "error:", err)
			}
		}
		return out.String()
	})
}
