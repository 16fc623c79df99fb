package replica

import (
	"fmt"
	"strings"
)

// Variants of the design reset-record; the zero value is the design as it is.
type Variants struct {
	// TaggedBookmarks carry the generation that they belong to.
	TaggedBookmarks bool
	// KeepFloor keeps a floor at a boot that does not recover the op sequence in
	// which it was measured; without it such a floor is dropped.
	KeepFloor bool
	// RetrySync takes a step of a purge again after a failed sync, in the same
	// boot, although that sync may have dropped what it was to make durable;
	// without it the replica stops, and its machine is restarted.
	RetrySync bool
}

// VariantNames are the names of the variants, in the order in which they print.
var VariantNames = []string{"tagged-bookmarks", "keep-floor", "retry-sync"}

func (v *Variants) flags() []*bool { return []*bool{&v.TaggedBookmarks, &v.KeepFloor, &v.RetrySync} }

// String prints names with commas between them; empty without a variant.
func (v Variants) String() string {
	var out []string
	for i, on := range v.flags() {
		if *on {
			out = append(out, VariantNames[i])
		}
	}
	return strings.Join(out, ",")
}

// ParseVariants reads what String prints, in any order.
func ParseVariants(list string) (Variants, error) {
	var v Variants
	if list == "" {
		return v, nil
	}
next:
	for _, word := range strings.Split(list, ",") {
		for i, name := range VariantNames {
			if word == name {
				*v.flags()[i] = true
				continue next
			}
		}
		return v, fmt.Errorf("variant %q: want any of %s", word, strings.Join(VariantNames, ", "))
	}
	return v, nil
}
