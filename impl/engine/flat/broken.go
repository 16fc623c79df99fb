package flat

import (
	"fmt"
	"strings"

	"purgelab/model/op"
)

// namesakeFloor is a defect: the highest floor in the records of partitions that had
// this one's name and were deleted.
func namesakeFloor(o Options) (highest op.Number) {
	first, _, _ := strings.Cut(o.Dir, "-i")
	for i := o.Identity.Incarnation - 1; i > 0; i-- {
		if o.Identity.Incarnation, o.Dir = i, first; i > 1 {
			o.Dir = fmt.Sprintf("%s-i%d", first, i)
		}
		if r, err := readReset(&o); err == nil {
			highest = max(highest, r.floor)
		}
	}
	return highest
}
