package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/lemonberrylabs/gcw-emulator/pkg/runtime"
	"github.com/lemonberrylabs/gcw-emulator/pkg/types"
)

// failure is Execution.Error.
type failure struct {
	Payload    string     `json:"payload"`
	Context    string     `json:"context"`
	StackTrace stackTrace `json:"stackTrace"`
}

type stackTrace struct {
	Elements []*step `json:"elements"`
}

// raised is what `raise` was given, beside what the engine makes of it: it knows only message, code and tags.
type raised struct {
	engine *types.WorkflowError
	value  types.Value
	at     *step
}

// run is the life of an execution.
func (e *execution) run(life context.Context, argument types.Value) {
	defer e.cancel()
	value, err := runtime.NewEngine(e.workflow.parsed, e.functions(life)).Execute(life, argument)
	var result []byte
	if err == nil {
		result, err = value.MarshalJSON()
	}
	e.server.mu.Lock()
	defer e.server.mu.Unlock()
	if e.state != stateActive {
		return
	}
	if err != nil {
		e.failure = e.toFailure(err)
		e.end(stateFailed)
		return
	}
	text := string(result)
	e.result = &text
	e.end(stateSucceeded)
}

// enter notes that a branch has come to a step.
func (e *execution) enter(args []types.Value) (types.Value, error) {
	own, creator := goroutine()
	e.server.mu.Lock()
	defer e.server.mu.Unlock()
	e.steps.enter(stepOf(args), own, creator)
	return types.Null, nil
}

// leave notes that a branch has come to its end, or has failed. Where that is caught it enters its next step.
func (e *execution) leave() {
	own, _ := goroutine()
	e.server.mu.Lock()
	defer e.server.mu.Unlock()
	e.steps.leave(own)
}

func stepOf(args []types.Value) *step {
	routine, _ := argument(args, "routine")
	name, _ := argument(args, "step")
	return &step{routine.AsString(), name.AsString()}
}

// raise is what became of a `raise` step. Fields that the engine does not know reach an `except` all the same.
func (e *execution) raise(args []types.Value) (types.Value, error) {
	value, _ := argument(args, "value")
	made := &types.WorkflowError{Message: value.String()}
	if value.Type() == types.TypeMap {
		made = types.ErrorFromValue(value)
		made.Extra = map[string]types.Value{}
		for _, key := range value.AsMap().Keys() {
			if key != "message" && key != "code" && key != "tags" {
				made.Extra[key], _ = value.AsMap().Get(key)
			}
		}
	}
	e.server.mu.Lock()
	defer e.server.mu.Unlock()
	e.raised = append(e.raised, raised{made, value, stepOf(args)})
	return types.Null, made
}

// toFailure: the lock is held.
func (e *execution) toFailure(err error) *failure {
	at := e.steps.last
	value := systemError(err)
	var of *types.WorkflowError
	if errors.As(err, &of) {
		value = of.ToValue()
		if of.Code == 0 {
			value.AsMap().Delete("code")
		}
	}
	context := err.Error()
	if of != nil {
		context = of.Message
	}
	for _, one := range e.raised {
		if one.engine == of {
			value, at = one.value, one.at
			context = "RuntimeError: " + value.String()
		}
	}
	payload, marshalErr := value.MarshalJSON()
	if marshalErr != nil {
		payload = []byte("null")
	}
	trace := stackTrace{}
	if at != nil {
		context += fmt.Sprintf("\nin step %q, routine %q", at.Step, at.Routine)
		trace.Elements = []*step{at}
	}
	return &failure{string(payload), context, trace}
}

func systemError(err error) types.Value {
	return types.NewSystemError(err.Error()).ToValue()
}
