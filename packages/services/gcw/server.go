package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"sync"
	"time"
)

// maxBodyBytes is more than any documented limit of a request.
const maxBodyBytes = 4 << 20

// server holds every workflow and execution. One lock for all of it: what happens under it is short.
type server struct {
	url        string
	mu         sync.Mutex
	workflows  map[string]*workflow
	executions map[string]*execution
	revisions  int
}

func newServer(url string) *server {
	return &server{url: url, workflows: map[string]*workflow{}, executions: map[string]*execution{}}
}

// apiError is an answer that is not OK, in the shape of google.rpc.Status as REST has it.
type apiError struct {
	code    int
	status  string
	message string
}

func (e *apiError) Error() string { return e.message }

func invalid(format string, values ...any) error {
	return &apiError{http.StatusBadRequest, "INVALID_ARGUMENT", fmt.Sprintf(format, values...)}
}

func notFound(format string, values ...any) error {
	return &apiError{http.StatusNotFound, "NOT_FOUND", fmt.Sprintf(format, values...)}
}

// routes are the paths of the google.api.http annotations in workflows.proto and executions.proto, and those of callbacks
// in the discovery document of workflowexecutions v1.
func (s *server) routes() http.Handler {
	const (
		location  = "/v1/projects/{project}/locations/{location}"
		flow      = location + "/workflows/{workflow}"
		execution = flow + "/executions/{execution}"
	)
	mux := http.NewServeMux()
	for pattern, handle := range map[string]func(*http.Request) (any, error){
		"POST " + location + "/workflows":      s.createWorkflow,
		"GET " + location + "/workflows":       s.listWorkflows,
		"GET " + flow:                          s.getWorkflow,
		"DELETE " + flow:                       s.deleteWorkflow,
		"GET " + location + "/operations/{id}": s.getOperation,
		"POST " + flow + "/executions":         s.createExecution,
		"GET " + flow + "/executions":          s.listExecutions,
		"GET " + execution:                     s.getExecution,
		"POST " + execution:                    s.cancelExecution,
		"GET " + execution + "/callbacks":      s.listCallbacks,
		execution + "/callbacks/{callback}":    s.deliver,
	} {
		mux.HandleFunc(pattern, func(writer http.ResponseWriter, request *http.Request) {
			request.Body = http.MaxBytesReader(writer, request.Body, maxBodyBytes)
			answer, err := handle(request)
			write(writer, answer, err)
		})
	}
	mux.HandleFunc("/", func(writer http.ResponseWriter, request *http.Request) {
		write(writer, nil, notFound("there is no %s %s here", request.Method, request.URL.Path))
	})
	return mux
}

func write(writer http.ResponseWriter, answer any, err error) {
	code := http.StatusOK
	if err != nil {
		refusal, ok := err.(*apiError)
		if !ok {
			refusal = &apiError{http.StatusInternalServerError, "INTERNAL", err.Error()}
		}
		code = refusal.code
		answer = map[string]any{"error": map[string]any{
			"code": refusal.code, "message": refusal.message, "status": refusal.status,
		}}
	}
	writer.Header().Set("Content-Type", "application/json; charset=UTF-8")
	writer.WriteHeader(code)
	if answer == nil {
		return
	}
	// An encoding error can only be the connection's, whose client will notice.
	_ = json.NewEncoder(writer).Encode(answer)
}

// read takes a JSON body and, like Google, refuses fields that it does not know.
func read(request *http.Request, into any) error {
	body, err := io.ReadAll(request.Body)
	if err != nil {
		return invalid("the request could not be read: %v", err)
	}
	decoder := json.NewDecoder(bytes.NewReader(body))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(into); err != nil && err != io.EOF {
		return invalid("Invalid JSON payload received. %v", err)
	}
	return nil
}

// only refuses query parameters that mean something to Google and nothing here. Those with a $ are of every Google API.
func only(request *http.Request, known ...string) error {
	for name := range request.URL.Query() {
		isKnown := name[0] == '$'
		for _, one := range known {
			isKnown = isKnown || name == one
		}
		if !isKnown {
			return invalid("there is no %q here", name)
		}
	}
	return nil
}

// pageSize is what was asked for, coerced to what is allowed.
func pageSize(request *http.Request, unset, most int) (int, error) {
	text := request.URL.Query().Get("pageSize")
	if text == "" {
		return unset, nil
	}
	size, err := strconv.Atoi(text)
	switch {
	case err != nil || size < 0:
		return 0, invalid("pageSize is %q", text)
	case size == 0:
		return unset, nil
	case size > most:
		return most, nil
	}
	return size, nil
}

func timestamp(at time.Time) string { return at.UTC().Format(time.RFC3339Nano) }

func locationName(request *http.Request) string {
	return "projects/" + request.PathValue("project") + "/locations/" + request.PathValue("location")
}

func workflowName(request *http.Request) string {
	return locationName(request) + "/workflows/" + request.PathValue("workflow")
}
