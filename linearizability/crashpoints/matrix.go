// Package crashpoints breaks one machine at every disk call of a short workload,
// in every way, and then once more at every disk call of the recovery.
//
//	workload (fixed)  ──► its disk calls, by label
//	for each call × {fails before, fails after, process crash, power loss with
//	                 every legal image up to a bound, failed sync that loses data}
//	    the machine finishes the workload; its disk calls until it is at rest again
//	    for each of those × the same kinds
//	        the machine finishes the workload
//
// A case is one such run: it ends with a power loss that keeps nothing which was
// not synced, and a read of everything. It is red if the replica refuses a disk
// on which nothing was damaged, does not come to an end, breaks a named property
// (package invariant), or if the client's history is not linearizable: requests
// whose answer was lost are asked again under their own number, so every answer
// is definite and must be the one of a machine that never failed.
//
// A power loss has as many images as there are subsets of what is not synced. Up
// to a bound all are tried; beyond it, nothing kept, everything kept, and drawn
// ones, and the report says how often.
package crashpoints

import (
	"fmt"
	"io"
	"runtime"
	"slices"
	"sync"

	"purgelab/impl/defect"
	"purgelab/impl/replica"
	"purgelab/impl/vfs/crashfs"
)

// Options of a matrix.
type Options struct {
	Design   replica.Design
	Variants replica.Variants
	Defects  defect.Set
	// Images bounds the images of the first power loss, Again those of one in
	// the recovery.
	Images, Again int
	// Every takes one in so many calls for the first fault, Second for those of
	// the recovery; 1 takes all. Which ones differs from call to call.
	Every, Second int
	// Stop ends the matrix at this many red cases; 0: at the tenth.
	Stop int
}

// Red is a case that was judged red.
type Red struct {
	Points []*Point
	Reason string
}

func (r Red) String() string {
	s := ""
	for i, p := range r.Points {
		if s += p.String(); i+1 < len(r.Points) {
			s += "\n  then " // in the recovery
		}
	}
	return s + "\n  " + r.Reason
}

// Report is what a matrix found.
type Report struct {
	Calls  []crashfs.Call // of the workload
	Cases  int
	First  [kinds]int        // cases with one fault
	Second [kinds][kinds]int // with two, by kind of the first and the second
	// Losses are points at which the power failed, Whole those whose images were
	// all tried, Most the most images of one.
	Losses, Whole, Most int
	Reds                []Red
}

// Run runs the matrix on all cores.
func Run(o Options) (*Report, error) {
	if o.Stop == 0 {
		o.Stop = 10
	}
	base := play(o, nil)
	if red := base.judge(); red != "" {
		return nil, fmt.Errorf("crashpoints: the workload alone: %s", red)
	}
	total := &Report{Calls: base.disk.Calls()}
	// The last power loss and what follows are the judge's, not the workload's.
	total.Calls = total.Calls[:base.ended]
	units := make(chan *Point)
	var wg sync.WaitGroup
	var lock sync.Mutex
	for range runtime.GOMAXPROCS(0) {
		wg.Go(func() {
			for p := range units {
				r := &Report{}
				r.unit(&o, p)
				lock.Lock()
				total.add(r)
				lock.Unlock()
			}
		})
	}
	for i := range total.Calls {
		if i%max(1, o.Every) != 0 {
			continue
		}
		for k := range kinds {
			if fits(k, total.Calls[i]) {
				units <- pointAt(k, total.Calls, i)
			}
		}
		lock.Lock()
		enough := len(total.Reds) >= o.Stop
		lock.Unlock()
		if enough {
			break
		}
	}
	close(units)
	wg.Wait()
	return total, nil
}

// unit is one first fault with all that may follow it.
func (r *Report) unit(o *Options, first *Point) {
	images := []crashfs.Image{nil}
	for i := 0; i < len(images); i++ {
		one := *first
		one.Image = images[i]
		m := play(*o, []*Point{&one})
		if i == 0 && first.Kind.power() {
			images = m.images[0].list
			if len(images) == 0 {
				images = []crashfs.Image{nil}
			}
			r.losses(&m.images[0])
		}
		r.First[first.Kind]++
		r.judge(m, &one)
		recovery := m.recovery(first.Kind)
		for j := range recovery {
			if (j+i+first.Call)%max(1, o.Second) != 0 {
				continue
			}
			for k := range kinds {
				if fits(k, recovery[j]) && len(r.Reds) < o.Stop {
					r.again(o, &one, pointAt(k, recovery, j))
				}
			}
		}
	}
}

// recovery is the calls that a second fault can strike at: those after the first
// one, without the call itself, which one that fails after its effect has made.
func (m *machine) recovery(first Kind) []crashfs.Call {
	if m.struck == 0 || len(m.calls[1]) == 0 {
		return nil
	}
	if first == FailAfter {
		return m.calls[1][1:]
	}
	return m.calls[1]
}

// again is a first fault with one in its recovery.
func (r *Report) again(o *Options, first, second *Point) {
	images := []crashfs.Image{nil}
	for i := 0; i < len(images); i++ {
		one, two := *first, *second
		two.Image = images[i]
		m := play(Options{Images: o.Again, Design: o.Design, Variants: o.Variants, Defects: o.Defects}, []*Point{&one, &two})
		if m.struck < 2 && m.broken == nil {
			m.broken = fmt.Errorf("the second fault did not strike")
		}
		if i == 0 && second.Kind.power() && len(m.images[1].list) > 0 {
			images = m.images[1].list
			r.losses(&m.images[1])
		}
		r.Second[first.Kind][second.Kind]++
		r.judge(m, &one, &two)
	}
}

func (r *Report) losses(l *imageList) {
	r.Losses++
	r.Most = max(r.Most, len(l.list))
	if l.all {
		r.Whole++
	}
}

func (r *Report) judge(m *machine, ps ...*Point) {
	r.Cases++
	if red := m.judge(); red != "" {
		r.Reds = append(r.Reds, Red{ps, red})
	}
}

func (r *Report) add(o *Report) {
	r.Cases += o.Cases
	for k := range kinds {
		r.First[k] += o.First[k]
		for l := range kinds {
			r.Second[k][l] += o.Second[k][l]
		}
	}
	r.Losses, r.Whole, r.Most = r.Losses+o.Losses, r.Whole+o.Whole, max(r.Most, o.Most)
	r.Reds = append(r.Reds, o.Reds...)
}

// Print writes the counts, and the red cases, the shortest first.
func (r *Report) Print(w io.Writer) {
	labels := map[string]bool{}
	for _, c := range r.Calls {
		labels[string(c.Label)] = true
	}
	fmt.Fprintf(w, "workload: %d disk calls under %d labels\n", len(r.Calls), len(labels))
	fmt.Fprintf(w, "%-22s %8s", "first fault", "alone")
	for k := range kinds {
		fmt.Fprintf(w, " %20s", "+"+k.String())
	}
	fmt.Fprintln(w)
	for k := range kinds {
		fmt.Fprintf(w, "%-22s %8d", k, r.First[k])
		for l := range kinds {
			fmt.Fprintf(w, " %20d", r.Second[k][l])
		}
		fmt.Fprintln(w)
	}
	fmt.Fprintf(w, "power losses: %d points, %d with every legal image, at most %d images\n", r.Losses, r.Whole, r.Most)
	fmt.Fprintf(w, "cases: %d, red: %d\n", r.Cases, len(r.Reds))
	slices.SortStableFunc(r.Reds, func(a, b Red) int { return len(a.Points) - len(b.Points) })
	for _, red := range r.Reds {
		fmt.Fprintln(w, red)
	}
}
