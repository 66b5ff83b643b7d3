package main

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/lemonberrylabs/gcw-emulator/pkg/stdlib"
	"github.com/lemonberrylabs/gcw-emulator/pkg/types"
)

// functions are what a workflow can call: the engine's, but for those that belong to one execution, those that must end
// with it, and those that the engine shortens (it sleeps for a second at most).
type functions struct {
	engine    *stdlib.Registry
	execution *execution
}

func (e *execution) functions(life context.Context) *functions {
	registry := stdlib.NewRegistry()
	registry.RegisterHTTP(&http.Client{Transport: ending{life}, Timeout: stdlib.DefaultHTTPTimeout})
	registry.Register("events.create_callback_endpoint", e.createCallback)
	registry.Register("events.await_callback", func(args []types.Value) (types.Value, error) {
		return e.awaitCallback(life, args)
	})
	registry.Register("sys.get_env", e.environment)
	registry.Register("sys.sleep", func(args []types.Value) (types.Value, error) {
		length, ok := argument(args, "seconds")
		number, isNumber := length.AsNumber()
		if !ok || !isNumber || number < 0 {
			return types.Null, types.NewTypeError("seconds must be a number, not negative")
		}
		return types.Null, sleep(life, seconds(number))
	})
	registry.Register("sys.sleep_until", func(args []types.Value) (types.Value, error) {
		at, _ := argument(args, "time")
		until, err := time.Parse(time.RFC3339Nano, at.AsString())
		if err != nil {
			return types.Null, types.NewValueError("time is no time of ISO 8601")
		}
		return types.Null, sleep(life, time.Until(until))
	})
	registry.Register(enterFunction, e.enter)
	registry.Register(leaveFunction, func([]types.Value) (types.Value, error) {
		e.leave()
		return types.Null, nil
	})
	registry.Register(raiseFunction, e.raise)
	return &functions{registry, e}
}

// CallFunction also does for http.* what the engine leaves out: a call with `auth` carries a token.
func (f *functions) CallFunction(name string, args []types.Value) (types.Value, error) {
	if _, ok := argument(args, "auth"); ok && strings.HasPrefix(name, "http.") {
		headers := types.NewOrderedMap()
		if given, ok := argument(args, "headers"); ok && given.Type() == types.TypeMap {
			headers = given.AsMap().Clone()
		}
		headers.Set("Authorization", types.NewString("Bearer gcw"))
		args[0].AsMap().Set("headers", types.NewMap(headers))
	}
	result, err := f.engine.CallFunction(name, args)
	if err != nil {
		f.execution.leave()
	}
	return result, err
}

// argument by its name, or the only one, which an expression gives without its name.
func argument(args []types.Value, name string) (types.Value, bool) {
	if len(args) == 0 {
		return types.Null, false
	}
	if args[0].Type() != types.TypeMap {
		return args[0], true
	}
	return args[0].AsMap().Get(name)
}

// environment is that of the execution, never this process's own.
func (e *execution) environment(args []types.Value) (types.Value, error) {
	name, _ := argument(args, "name")
	parts := strings.Split(e.name, "/")
	value, ok := map[string]string{
		"GOOGLE_CLOUD_PROJECT_ID":                 parts[1],
		"GOOGLE_CLOUD_PROJECT_NUMBER":             "0",
		"GOOGLE_CLOUD_LOCATION":                   parts[3],
		"GOOGLE_CLOUD_WORKFLOW_ID":                parts[5],
		"GOOGLE_CLOUD_WORKFLOW_REVISION_ID":       e.workflow.RevisionID,
		"GOOGLE_CLOUD_WORKFLOW_EXECUTION_ID":      e.id,
		"GOOGLE_CLOUD_WORKFLOW_EXECUTION_ATTEMPT": "1",
		"GOOGLE_CLOUD_SERVICE_ACCOUNT_NAME":       "gcw@" + parts[1] + ".iam.gserviceaccount.com",
	}[name.AsString()]
	if !ok {
		return types.Null, types.NewKeyError(fmt.Sprintf("environment variable %q not found", name.AsString()))
	}
	return types.NewString(value), nil
}

func seconds(number float64) time.Duration { return time.Duration(number * float64(time.Second)) }

func sleep(life context.Context, length time.Duration) error {
	timer := time.NewTimer(length)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-life.Done():
		return life.Err()
	}
}

// ending lets requests end with the execution that makes them.
type ending struct{ life context.Context }

func (t ending) RoundTrip(request *http.Request) (*http.Response, error) {
	merged, cancel := context.WithCancel(request.Context())
	context.AfterFunc(t.life, cancel)
	return http.DefaultTransport.RoundTrip(request.WithContext(merged))
}
