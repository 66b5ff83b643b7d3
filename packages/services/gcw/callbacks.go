package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"sort"
	"strconv"
	"strings"
	"time"

	"github.com/lemonberrylabs/gcw-emulator/pkg/types"
)

// callback is an endpoint of an execution.
type callback struct {
	id     string
	method string
	// waiters are steps that await it.
	waiters int
	// payload is what was sent and not yet taken by a step: one at most.
	payload chan payload
	// unread is the text of what is in payload. It is here to be shown.
	unread []string
}

type payload struct {
	request types.Value
	text    string
}

// awaitSeconds is documented for events.await_callback.
const awaitSeconds = 43_200

var callbackMethods = map[string]bool{
	"GET": true, "HEAD": true, "POST": true, "PUT": true, "DELETE": true, "OPTIONS": true, "PATCH": true,
}

// createCallback is events.create_callback_endpoint.
func (e *execution) createCallback(args []types.Value) (types.Value, error) {
	method := "POST"
	if given, ok := argument(args, "http_callback_method"); ok {
		method = given.AsString()
	}
	if !callbackMethods[method] {
		return types.Null, types.NewValueError(fmt.Sprintf("http_callback_method is %q", method))
	}
	e.server.mu.Lock()
	defer e.server.mu.Unlock()
	made := &callback{id: randomHex(16), method: method, payload: make(chan payload, 1)}
	e.callbacks[made.id] = made
	details := types.NewOrderedMap()
	details.Set("url", types.NewString(e.server.url+"/v1/"+e.name+"/callbacks/"+made.id))
	return types.NewMap(details), nil
}

// awaitCallback is events.await_callback. A payload that came before is taken at once.
func (e *execution) awaitCallback(life context.Context, args []types.Value) (types.Value, error) {
	details, _ := argument(args, "callback")
	if details.Type() != types.TypeMap {
		return types.Null, types.NewTypeError("callback is not what events.create_callback_endpoint gives")
	}
	url, _ := details.AsMap().Get("url")
	limit := float64(awaitSeconds)
	if given, ok := argument(args, "timeout"); ok {
		number, isNumber := given.AsNumber()
		if !isNumber || number < 0 {
			return types.Null, types.NewValueError("timeout is no number of seconds")
		}
		limit = number
	}
	id := url.AsString()[strings.LastIndex(url.AsString(), "/")+1:]
	e.server.mu.Lock()
	awaited := e.callbacks[id]
	if awaited == nil {
		e.server.mu.Unlock()
		return types.Null, types.NewValueError("callback belongs to no endpoint of this execution")
	}
	awaited.waiters++
	e.server.mu.Unlock()
	defer func() {
		e.server.mu.Lock()
		awaited.waiters--
		e.server.mu.Unlock()
	}()
	timer := time.NewTimer(seconds(limit))
	defer timer.Stop()
	select {
	case taken := <-awaited.payload:
		e.server.mu.Lock()
		awaited.unread = nil
		e.server.mu.Unlock()
		return taken.request, nil
	case <-life.Done():
		return types.Null, life.Err()
	case <-timer.C:
		return types.Null, types.NewTimeoutError("no callback came in time")
	}
}

// listCallbacks: "a list of active callbacks that belong to the execution", ordered by callback ID. The name has /callback/
// where the URL has /callbacks/: both as in the discovery document.
func (s *server) listCallbacks(request *http.Request) (any, error) {
	if err := only(request, "pageSize", "pageToken"); err != nil {
		return nil, err
	}
	// "The default value is 100", and values greater than that are coerced down to it.
	size, err := pageSize(request, 100, 100)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	of, err := s.findExecution(request, request.PathValue("execution"))
	if err != nil {
		return nil, err
	}
	ids := []string{}
	for id := range of.callbacks {
		if id > request.URL.Query().Get("pageToken") && of.state == stateActive {
			ids = append(ids, id)
		}
	}
	sort.Strings(ids)
	answer := map[string]any{}
	if len(ids) > size {
		ids, answer["nextPageToken"] = ids[:size], ids[size-1]
	}
	page := []any{}
	for _, id := range ids {
		one := of.callbacks[id]
		shown := map[string]any{"name": of.name + "/callback/" + id, "method": one.method}
		// As JSON has a message of protocol buffers: 64-bit integers in quotes, nothing of what is empty.
		if one.waiters > 0 {
			shown["waiters"] = strconv.Itoa(one.waiters)
		}
		if len(one.unread) > 0 {
			shown["availablePayloads"] = one.unread
		}
		page = append(page, shown)
	}
	if len(page) > 0 {
		answer["callbacks"] = page
	}
	return answer, nil
}

// deliver is a request to a callback's URL. Documented: 404 once the execution has ended, 429 while a payload waits to be
// read, an access token is needed, an empty answer. Assumed: 405 for another method.
func (s *server) deliver(request *http.Request) (any, error) {
	if token, ok := strings.CutPrefix(request.Header.Get("Authorization"), "Bearer "); !ok || token == "" {
		return nil, &apiError{http.StatusUnauthorized, "UNAUTHENTICATED", "Request is missing required authentication credential."}
	}
	body, err := io.ReadAll(request.Body)
	if err != nil {
		return nil, invalid("the request could not be read: %v", err)
	}
	sent := payload{request: received(request, body), text: string(body)}
	s.mu.Lock()
	defer s.mu.Unlock()
	of, err := s.findExecution(request, request.PathValue("execution"))
	if err != nil {
		return nil, err
	}
	to := of.callbacks[request.PathValue("callback")]
	if to == nil || of.state != stateActive {
		return nil, notFound("callback %q does not exist", request.PathValue("callback"))
	}
	if request.Method != to.method {
		return nil, &apiError{http.StatusMethodNotAllowed, "INVALID_ARGUMENT", "the callback expects " + to.method}
	}
	if len(to.unread) > 0 {
		return nil, &apiError{http.StatusTooManyRequests, "RESOURCE_EXHAUSTED", "a payload of this callback has not been read"}
	}
	to.payload <- sent
	to.unread = []string{sent.text}
	return nil, nil
}

// received is what a step gets of a request.
func received(request *http.Request, body []byte) types.Value {
	headers := types.NewOrderedMap()
	names := []string{}
	for name := range request.Header {
		names = append(names, name)
	}
	sort.Strings(names)
	for _, name := range names {
		if name != "Authorization" {
			headers.Set(name, types.NewString(request.Header.Get(name)))
		}
	}
	query := types.NewOrderedMap()
	for name := range request.URL.Query() {
		query.Set(name, types.NewString(request.URL.Query().Get(name)))
	}
	content := types.NewString(string(body))
	if len(body) == 0 {
		content = types.Null
	} else if strings.Contains(request.Header.Get("Content-Type"), "json") && json.Valid(body) {
		// Valid, so there is no error to have.
		content, _ = parseJSON(string(body))
	}
	of := types.NewOrderedMap()
	of.Set("body", content)
	of.Set("headers", types.NewMap(headers))
	of.Set("method", types.NewString(request.Method))
	of.Set("query", types.NewMap(query))
	of.Set("url", types.NewString(request.URL.RequestURI()))
	all := types.NewOrderedMap()
	all.Set("http_request", types.NewMap(of))
	all.Set("received_time", types.NewString(timestamp(time.Now())))
	all.Set("type", types.NewString("HTTP"))
	return types.NewMap(all)
}
