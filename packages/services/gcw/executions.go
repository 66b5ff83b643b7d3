package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/lemonberrylabs/gcw-emulator/pkg/types"
)

const (
	stateActive    = "ACTIVE"
	stateSucceeded = "SUCCEEDED"
	stateFailed    = "FAILED"
	stateCancelled = "CANCELLED"
)

// maxArgumentBytes: "The size limit is 32KB", executions.proto.
const maxArgumentBytes = 32 << 10

// execution is guarded by the server's lock, but for what never changes.
type execution struct {
	name      string
	id        string
	server    *server
	workflow  *workflow
	argument  *string
	labels    map[string]string
	createdAt time.Time
	cancel    context.CancelFunc

	state     string
	endedAt   time.Time
	result    *string
	failure   *failure
	steps     currentSteps
	raised    []raised
	callbacks map[string]*callback
}

// step is where an execution is.
type step struct {
	Routine string `json:"routine"`
	Step    string `json:"step"`
}

func (s *server) createExecution(request *http.Request) (any, error) {
	if err := only(request); err != nil {
		return nil, err
	}
	var body struct {
		Name                                     string
		Argument                                 *string
		Labels                                   map[string]string
		CallLogLevel, ExecutionHistoryLevel      any
		DisableConcurrencyQuotaOverflowBuffering bool
	}
	if err := read(request, &body); err != nil {
		return nil, err
	}
	argument, err := parseArgument(body.Argument)
	if err != nil {
		return nil, err
	}
	if err := checkLabels(body.Labels); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	of, err := s.findWorkflow(workflowName(request))
	if err != nil {
		return nil, err
	}
	random := randomHex(16)
	id := strings.Join([]string{random[:8], random[8:12], random[12:16], random[16:20], random[20:]}, "-")
	life, cancel := context.WithCancel(context.Background())
	made := &execution{
		name: of.Name + "/executions/" + id, id: id, server: s, workflow: of,
		argument: body.Argument, labels: merge(of.Labels, body.Labels),
		createdAt: time.Now(), cancel: cancel, state: stateActive, callbacks: map[string]*callback{},
		steps: currentSteps{threads: map[int]thread{}},
	}
	s.executions[made.name] = made
	of.executions = append(of.executions, made)
	go made.run(life, argument)
	return made.view(true), nil
}

func parseArgument(text *string) (types.Value, error) {
	if text == nil || *text == "" {
		return types.Null, nil
	}
	if len(*text) > maxArgumentBytes {
		return types.Null, invalid("argument has %d bytes, at most %d are allowed", len(*text), maxArgumentBytes)
	}
	value, err := parseJSON(*text)
	if err != nil {
		return types.Null, invalid("argument is not JSON: %v", err)
	}
	return value, nil
}

// parseJSON keeps integers that a float would change.
func parseJSON(text string) (types.Value, error) {
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.UseNumber()
	var value any
	if err := decoder.Decode(&value); err != nil {
		return types.Null, err
	}
	if decoder.More() {
		return types.Null, fmt.Errorf("more than one value")
	}
	return types.ValueFromJSON(value), nil
}

// merge: "labels are inherited from the workflow but are overridden by any labels associated with the execution".
func merge(inherited, own map[string]string) map[string]string {
	all := map[string]string{}
	for key, value := range inherited {
		all[key] = value
	}
	for key, value := range own {
		all[key] = value
	}
	return all
}

// end is the first one only. The lock is held.
func (e *execution) end(state string) {
	if e.state != stateActive {
		return
	}
	e.state = state
	e.endedAt = time.Now()
	e.cancel()
}

// view is the resource; BASIC "includes only basic metadata": name, start_time, end_time, duration, state and
// workflow_revision_id (executions.proto). The lock is held.
func (e *execution) view(full bool) map[string]any {
	until := time.Now()
	shown := map[string]any{
		"name": e.name, "startTime": timestamp(e.createdAt), "state": e.state, "workflowRevisionId": e.workflow.RevisionID,
	}
	if e.state != stateActive {
		until = e.endedAt
		shown["endTime"] = timestamp(e.endedAt)
	}
	shown["duration"] = duration(until.Sub(e.createdAt))
	if !full {
		return shown
	}
	shown["createTime"] = timestamp(e.createdAt)
	if len(e.labels) > 0 {
		shown["labels"] = e.labels
	}
	if e.argument != nil {
		shown["argument"] = *e.argument
	}
	if e.result != nil {
		shown["result"] = *e.result
	}
	if e.failure != nil {
		shown["error"] = e.failure
	}
	if e.steps.last != nil {
		shown["status"] = map[string]any{"currentSteps": e.currentSteps()}
	}
	return shown
}

// currentSteps: "if the workflow has succeeded or failed, this is the last attempted or executed step" (executions.proto).
// That there is one for each branch while it runs is assumed.
func (e *execution) currentSteps() []*step {
	if running := e.steps.running(); e.state == stateActive && len(running) > 0 {
		return running
	}
	return []*step{e.steps.last}
}

// duration as google.protobuf.Duration has it in JSON.
func duration(length time.Duration) string {
	return fmt.Sprintf("%d.%09ds", length/time.Second, length%time.Second)
}

func (s *server) getExecution(request *http.Request) (any, error) {
	if err := only(request, "view"); err != nil {
		return nil, err
	}
	full, err := isFull(request, true)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	found, err := s.findExecution(request, request.PathValue("execution"))
	if err != nil {
		return nil, err
	}
	return found.view(full), nil
}

func (s *server) findExecution(request *http.Request, id string) (*execution, error) {
	name := workflowName(request) + "/executions/" + id
	found := s.executions[name]
	if found == nil {
		return nil, notFound("Execution %q does not exist", name)
	}
	return found, nil
}

// isFull reads an ExecutionView, by its name or, as clients with enum-encoding=int send it, its number.
func isFull(request *http.Request, unset bool) (bool, error) {
	switch view := request.URL.Query().Get("view"); view {
	case "", "EXECUTION_VIEW_UNSPECIFIED", "0":
		return unset, nil
	case "BASIC", "1":
		return false, nil
	case "FULL", "2":
		return true, nil
	default:
		return false, invalid("view is %q", view)
	}
}

// cancelExecution also sees what is no method of an execution.
func (s *server) cancelExecution(request *http.Request) (any, error) {
	id, isCancel := strings.CutSuffix(request.PathValue("execution"), ":cancel")
	if !isCancel {
		return nil, notFound("there is no %s %s here", request.Method, request.URL.Path)
	}
	if err := read(request, &struct{ Name string }{}); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	found, err := s.findExecution(request, id)
	if err != nil {
		return nil, err
	}
	if found.state != stateActive {
		return nil, &apiError{http.StatusBadRequest, "FAILED_PRECONDITION",
			fmt.Sprintf("Execution %q has ended: %s", found.name, found.state)}
	}
	found.end(stateCancelled)
	return found.view(true), nil
}
