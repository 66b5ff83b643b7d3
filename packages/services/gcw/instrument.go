package main

import (
	"github.com/lemonberrylabs/gcw-emulator/pkg/ast"
)

// Functions that no workflow can name: a call in YAML has no spaces.
const (
	enterFunction = "enter step"
	leaveFunction = "leave branch"
	raiseFunction = "raise error"
)

// inlineStep is how the engine names the step of a `try` that has no list of steps.
const inlineStep = "try_inline"

// instrument rewrites a workflow that was just parsed so that the engine tells what it does not tell by itself: before each
// step comes one of ours, under the step's name so that `next` leads to it, which says where the execution is; and what is
// raised goes through a function of ours, since the engine keeps only some of its fields. Each step costs two of the 100,000
// that the engine allows.
func instrument(workflow *ast.Workflow) {
	for _, routine := range workflow.Subworkflows {
		routine.Steps = instrumented(routine.Name, routine.Steps)
	}
	workflow.Main.Steps = instrumented(workflow.Main.Name, workflow.Main.Steps)
}

func instrumented(routine string, steps []*ast.Step) []*ast.Step {
	all := []*ast.Step{}
	for _, one := range steps {
		at := map[string]any{"routine": routine, "step": one.Name}
		if one.Name != inlineStep {
			all = append(all, &ast.Step{Name: one.Name, Call: &ast.CallExpr{Function: enterFunction, Args: at}})
			one.Name += " itself"
		}
		instrumentInside(routine, one)
		if one.Raise != nil {
			one.Call, one.Raise = raising(at, one.Raise), nil
		}
		for index := range one.Switch {
			condition := &one.Switch[index]
			condition.Steps = instrumentedOrNil(routine, condition.Steps)
			if condition.Raise != nil {
				condition.Steps = append(condition.Steps, &ast.Step{Name: "raise", Call: raising(at, condition.Raise)})
				condition.Raise = nil
			}
		}
		all = append(all, one)
	}
	return all
}

// instrumentInside sees to the steps that a step holds.
func instrumentInside(routine string, one *ast.Step) {
	one.Steps = instrumentedOrNil(routine, one.Steps)
	if one.For != nil {
		one.For.Steps = instrumented(routine, one.For.Steps)
	}
	if one.Try != nil {
		one.Try.Try = instrumented(routine, one.Try.Try)
		if one.Try.Except != nil {
			one.Try.Except.Steps = instrumented(routine, one.Try.Except.Steps)
		}
	}
	if one.Parallel == nil {
		return
	}
	for _, branch := range one.Parallel.Branches {
		branch.Steps = append(instrumented(routine, branch.Steps), leaving())
	}
	if one.Parallel.For != nil {
		one.Parallel.For.Steps = append(instrumented(routine, one.Parallel.For.Steps), leaving())
	}
	// Google's only policy; the engine has another by default. In a parallel `for` it would take this one for leave to forget
	// errors.
	if one.Parallel.Branches != nil {
		one.Parallel.ExceptionPolicy = "continueAll"
	}
}

// instrumentedOrNil leaves absent what is absent, which means something to the engine.
func instrumentedOrNil(routine string, steps []*ast.Step) []*ast.Step {
	if steps == nil {
		return nil
	}
	return instrumented(routine, steps)
}

// leaving is where a branch ends that neither returns nor fails.
func leaving() *ast.Step {
	return &ast.Step{Name: leaveFunction, Call: &ast.CallExpr{Function: leaveFunction}}
}

func raising(at map[string]any, what any) *ast.CallExpr {
	return &ast.CallExpr{
		Function: raiseFunction,
		Args:     map[string]any{"routine": at["routine"], "step": at["step"], "value": what},
	}
}
