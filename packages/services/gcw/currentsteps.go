package main

import (
	"regexp"
	"runtime"
	"sort"
	"strconv"
)

// currentSteps tells where an execution is, in each of its branches. The engine runs every branch in a goroutine of its own
// and tells nobody which, so that goroutines are known by their stack traces. Guarded by the server's lock.
type currentSteps struct {
	last *step
	// threads by the goroutine.
	threads map[int]thread
}

type thread struct {
	step *step
	// parent is the goroutine that waits for this one's end.
	parent int
}

// The trace of a goroutine begins with its own number and ends with that of its creator.
var (
	ownNumber     = regexp.MustCompile(`^goroutine (\d+) `)
	creatorNumber = regexp.MustCompile(`in goroutine (\d+)\n[^\n]*\n?$`)
)

// maxTraceBytes is more than the trace of the deepest nesting that the engine allows.
const maxTraceBytes = 64 << 10

func goroutine() (own, creator int) {
	trace := make([]byte, maxTraceBytes)
	trace = trace[:runtime.Stack(trace, false)]
	return number(ownNumber, trace), number(creatorNumber, trace)
}

func number(pattern *regexp.Regexp, trace []byte) int {
	match := pattern.FindSubmatch(trace)
	if match == nil {
		return 0
	}
	// Digits, so that there is no error to have.
	found, _ := strconv.Atoi(string(match[1]))
	return found
}

// enter: the branches of a thread that goes on have ended.
func (c *currentSteps) enter(at *step, own, creator int) {
	c.leave(own)
	c.threads[own] = thread{at, creator}
	c.last = at
}

// leave ends a thread, and those that it waits for.
func (c *currentSteps) leave(own int) {
	delete(c.threads, own)
	for other, one := range c.threads {
		if one.parent == own {
			c.leave(other)
		}
	}
}

// running lists the innermost steps; one that waits for branches is none.
func (c *currentSteps) running() []*step {
	waits := map[int]bool{}
	numbers := []int{}
	for _, one := range c.threads {
		waits[one.parent] = true
	}
	for own := range c.threads {
		if !waits[own] {
			numbers = append(numbers, own)
		}
	}
	sort.Ints(numbers)
	steps := []*step{}
	for _, own := range numbers {
		steps = append(steps, c.threads[own].step)
	}
	return steps
}
