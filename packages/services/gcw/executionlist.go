package main

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"strconv"
	"strings"
)

// listExecutions: newest first; a page token goes with the request that it was given to, but for its page size.
func (s *server) listExecutions(request *http.Request) (any, error) {
	if err := only(request, "pageSize", "pageToken", "view", "filter"); err != nil {
		return nil, err
	}
	full, err := isFull(request, false)
	if err != nil {
		return nil, err
	}
	most := map[bool]int{true: 100, false: 1000}[full]
	size, err := pageSize(request, 100, most)
	if err != nil {
		return nil, err
	}
	query := request.URL.Query()
	matches, err := parseFilter(query.Get("filter"))
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	of, err := s.findWorkflow(workflowName(request))
	if err != nil {
		return nil, err
	}
	asked := fmt.Sprintf(" %t %s", full, query.Get("filter"))
	next, err := parsePageToken(query.Get("pageToken"), asked, len(of.executions))
	if err != nil {
		return nil, err
	}
	page := []any{}
	answer := map[string]any{}
	for ; next > 0; next-- {
		one := of.executions[next-1]
		if !matches(one) {
			continue
		}
		if len(page) == size {
			answer["nextPageToken"] = base64.RawURLEncoding.EncodeToString([]byte(strconv.Itoa(next) + asked))
			break
		}
		page = append(page, one.view(full))
	}
	// JSON of protocol buffers has nothing of what is empty.
	if len(page) > 0 {
		answer["executions"] = page
	}
	return answer, nil
}

// parsePageToken tells how many of the oldest executions have not been on a page yet.
func parsePageToken(token, asked string, all int) (int, error) {
	if token == "" {
		return all, nil
	}
	text, err := base64.RawURLEncoding.DecodeString(token)
	left, rest, _ := strings.Cut(string(text), " ")
	next, numberErr := strconv.Atoi(left)
	if err != nil || numberErr != nil || " "+rest != asked || next < 1 || next > all {
		return 0, invalid("pageToken does not go with this request")
	}
	return next, nil
}
