package main

import (
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"sort"
	"strings"
	"time"

	"github.com/lemonberrylabs/gcw-emulator/pkg/ast"
	"github.com/lemonberrylabs/gcw-emulator/pkg/parser"
)

// workflow is a deployed one. There is one revision: what is deployed stays.
type workflow struct {
	Name               string            `json:"name"`
	Description        string            `json:"description,omitempty"`
	State              string            `json:"state"`
	RevisionID         string            `json:"revisionId"`
	CreateTime         string            `json:"createTime"`
	UpdateTime         string            `json:"updateTime"`
	RevisionCreateTime string            `json:"revisionCreateTime"`
	Labels             map[string]string `json:"labels,omitempty"`
	SourceContents     string            `json:"sourceContents"`

	parsed *ast.Workflow
	// executions in the order of their creation.
	executions []*execution
}

// Letters, digits, underscores and dashes, 64 at most, beginning with a letter: Workflows API, projects.locations.workflows.create.
var workflowID = regexp.MustCompile(`^[A-Za-z]([A-Za-z0-9_-]{0,62}[A-Za-z0-9])?$`)

// Documented of Workflow.labels and Execution.labels; international characters are allowed.
var (
	labelKey   = regexp.MustCompile(`^[\p{Ll}\p{Lo}][\p{Ll}\p{Lo}\p{N}_-]{0,62}$`)
	labelValue = regexp.MustCompile(`^[\p{Ll}\p{Lo}\p{N}_-]{0,63}$`)
)

const maxLabels = 64

func checkLabels(labels map[string]string) error {
	if len(labels) > maxLabels {
		return invalid("%d labels, at most %d are allowed", len(labels), maxLabels)
	}
	for key, value := range labels {
		if !labelKey.MatchString(key) || !labelValue.MatchString(value) {
			return invalid("label %q = %q is not allowed", key, value)
		}
	}
	return nil
}

func (s *server) createWorkflow(request *http.Request) (any, error) {
	if err := only(request, "workflowId"); err != nil {
		return nil, err
	}
	var body struct {
		Name, Description, SourceContents string
		Labels                            map[string]string
		ServiceAccount, CallLogLevel      any
	}
	if err := read(request, &body); err != nil {
		return nil, err
	}
	id := request.URL.Query().Get("workflowId")
	if !workflowID.MatchString(id) {
		return nil, invalid("workflowId is %q", id)
	}
	if err := checkLabels(body.Labels); err != nil {
		return nil, err
	}
	parsed, err := parser.Parse([]byte(body.SourceContents))
	if err != nil {
		return nil, invalid("%v", err)
	}
	instrument(parsed)
	s.mu.Lock()
	defer s.mu.Unlock()
	name := locationName(request) + "/workflows/" + id
	if s.workflows[name] != nil {
		return nil, &apiError{http.StatusConflict, "ALREADY_EXISTS", fmt.Sprintf("workflow %q already exists", name)}
	}
	s.revisions++
	now := timestamp(time.Now())
	made := &workflow{
		Name: name, Description: body.Description, State: "ACTIVE",
		RevisionID: fmt.Sprintf("%06d-%s", s.revisions, randomHex(2)[:3]),
		CreateTime: now, UpdateTime: now, RevisionCreateTime: now,
		Labels: body.Labels, SourceContents: body.SourceContents, parsed: parsed,
	}
	s.workflows[name] = made
	return done(request, "google.cloud.workflows.v1.Workflow", made), nil
}

// done is the long-running operation of a change that was made at once.
func done(request *http.Request, kind string, response any) map[string]any {
	return map[string]any{
		"name":     locationName(request) + "/operations/operation-" + randomHex(8),
		"metadata": map[string]any{"@type": "type.googleapis.com/google.cloud.workflows.v1.OperationMetadata"},
		"done":     true,
		"response": typed{kind, response},
	}
}

// getOperation has nothing to tell: whoever started an operation was told its end.
func (s *server) getOperation(request *http.Request) (any, error) {
	return nil, notFound("operation %q was done at once", request.PathValue("id"))
}

func (s *server) getWorkflow(request *http.Request) (any, error) {
	if err := only(request, "revisionId"); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.findWorkflow(workflowName(request))
}

func (s *server) findWorkflow(name string) (*workflow, error) {
	found := s.workflows[name]
	if found == nil {
		return nil, notFound("Workflow %q does not exist", name)
	}
	return found, nil
}

// listWorkflows answers in the order of names; Google does not document its own.
func (s *server) listWorkflows(request *http.Request) (any, error) {
	if err := only(request, "pageSize", "pageToken"); err != nil {
		return nil, err
	}
	// "Clients may request up to 1000", 500 unless they do: Workflows API, ListWorkflowsRequest.
	size, err := pageSize(request, 500, 1000)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	after := request.URL.Query().Get("pageToken")
	page := []*workflow{}
	for name, one := range s.workflows {
		if strings.HasPrefix(name, locationName(request)+"/workflows/") && name > after {
			page = append(page, one)
		}
	}
	sort.Slice(page, func(i, j int) bool { return page[i].Name < page[j].Name })
	answer := map[string]any{}
	if len(page) > size {
		page, answer["nextPageToken"] = page[:size], page[size-1].Name
	}
	if len(page) > 0 {
		answer["workflows"] = page
	}
	return answer, nil
}

// deleteWorkflow "also cancels and deletes all running executions of the workflow" (Workflows API). Those that ended go too
// here: with their workflow gone nobody can list them.
func (s *server) deleteWorkflow(request *http.Request) (any, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	found, err := s.findWorkflow(workflowName(request))
	if err != nil {
		return nil, err
	}
	delete(s.workflows, found.Name)
	for _, one := range found.executions {
		one.end(stateCancelled)
		delete(s.executions, one.name)
	}
	return done(request, "google.protobuf.Empty", struct{}{}), nil
}

func randomHex(bytes int) string {
	random := make([]byte, bytes)
	// Never fails on what Go runs on.
	_, _ = rand.Read(random)
	return hex.EncodeToString(random)
}

// typed is a message in a google.protobuf.Any.
type typed struct {
	kind    string
	message any
}

func (t typed) MarshalJSON() ([]byte, error) {
	text, err := json.Marshal(t.message)
	if err != nil {
		return nil, err
	}
	fields := map[string]any{}
	if err := json.Unmarshal(text, &fields); err != nil {
		return nil, err
	}
	fields["@type"] = "type.googleapis.com/" + t.kind
	return json.Marshal(fields)
}
