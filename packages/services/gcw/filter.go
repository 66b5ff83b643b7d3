package main

import (
	"regexp"
	"strings"
	"time"
)

// A filter is of AIP-160, as far as it is used: comparisons of the fields below, AND, OR and parentheses. Whatever else is
// written is refused, since a filter that is not understood must not look like one that matches.
//
//	labels."mcp_run":"mcp-1f" AND (state="ACTIVE" OR createTime>="2026-01-01T00:00:00Z")
type predicate func(*execution) bool

var filterToken = regexp.MustCompile(`^\s*("(?:[^"\\]|\\.)*"|[()]|>=|<=|!=|[=<>:]|[^\s()"=<>!:]+)`)

type filterParser struct {
	text  string
	token string
}

func (p *filterParser) advance() error {
	match := filterToken.FindStringSubmatch(p.text)
	if match == nil {
		if strings.TrimSpace(p.text) != "" {
			return invalid("filter: %q is not understood", p.text)
		}
		p.token, p.text = "", ""
		return nil
	}
	p.token, p.text = match[1], p.text[len(match[0]):]
	return nil
}

func parseFilter(text string) (predicate, error) {
	parser := &filterParser{text: text}
	if err := parser.advance(); err != nil {
		return nil, err
	}
	if parser.token == "" {
		return func(*execution) bool { return true }, nil
	}
	matches, err := parser.all()
	if err != nil {
		return nil, err
	}
	if parser.token != "" {
		return nil, invalid("filter: %q is not understood", parser.token)
	}
	return matches, nil
}

// all: in AIP-160 OR binds tighter than AND.
func (p *filterParser) all() (predicate, error) {
	return p.chain("AND", p.any, func(one, other bool) bool { return one && other })
}

func (p *filterParser) any() (predicate, error) {
	return p.chain("OR", p.term, func(one, other bool) bool { return one || other })
}

func (p *filterParser) chain(word string, part func() (predicate, error), join func(one, other bool) bool) (predicate, error) {
	first, err := part()
	if err != nil {
		return nil, err
	}
	for p.token == word {
		if err := p.advance(); err != nil {
			return nil, err
		}
		second, err := part()
		if err != nil {
			return nil, err
		}
		before := first
		first = func(e *execution) bool { return join(before(e), second(e)) }
	}
	return first, nil
}

func (p *filterParser) term() (predicate, error) {
	if p.token != "(" {
		return p.comparison()
	}
	if err := p.advance(); err != nil {
		return nil, err
	}
	inner, err := p.all()
	if err != nil {
		return nil, err
	}
	if p.token != ")" {
		return nil, invalid("filter: a ) is missing")
	}
	return inner, p.advance()
}

func (p *filterParser) comparison() (predicate, error) {
	words := []string{}
	for len(words) < 3 {
		if p.token == "" || strings.Contains("()", p.token) {
			return nil, invalid("filter: a comparison ends too soon")
		}
		words = append(words, p.token)
		if err := p.advance(); err != nil {
			return nil, err
		}
		// A key may be in quotes.
		if len(words) == 1 && words[0] == "labels." {
			words[0] += unquote(p.token)
			if err := p.advance(); err != nil {
				return nil, err
			}
		}
	}
	field, operator, value := words[0], words[1], unquote(words[2])
	if field == "createTime" || field == "startTime" {
		return compareTime(operator, value)
	}
	var read func(*execution) (string, bool)
	switch key, isLabel := strings.CutPrefix(field, "labels."); {
	case isLabel:
		read = func(e *execution) (string, bool) { text, has := e.labels[key]; return text, has }
	case field == "state":
		read = func(e *execution) (string, bool) { return e.state, true }
	case field == "executionId":
		read = func(e *execution) (string, bool) { return e.id, true }
	case field == "workflowRevisionId":
		read = func(e *execution) (string, bool) { return e.workflow.RevisionID, true }
	default:
		return nil, invalid("filter: there is no field %q", field)
	}
	if operator != "=" && operator != "!=" && operator != ":" {
		return nil, invalid("filter: %s %s is not understood", field, operator)
	}
	return func(e *execution) bool {
		text, has := read(e)
		return has && (text == value) == (operator != "!=")
	}, nil
}

func unquote(token string) string {
	return strings.ReplaceAll(strings.Trim(token, `"`), `\"`, `"`)
}

func compareTime(operator, value string) (predicate, error) {
	than, err := time.Parse(time.RFC3339Nano, value)
	if err != nil {
		if than, err = time.Parse(time.DateOnly, value); err != nil {
			return nil, invalid("filter: %q is no time", value)
		}
	}
	holds := map[string]func(order int) bool{
		"=":  func(order int) bool { return order == 0 },
		"<":  func(order int) bool { return order < 0 },
		"<=": func(order int) bool { return order <= 0 },
		">":  func(order int) bool { return order > 0 },
		">=": func(order int) bool { return order >= 0 },
	}[operator]
	if holds == nil {
		return nil, invalid("filter: a time %s is not understood", operator)
	}
	return func(e *execution) bool { return holds(e.createdAt.Compare(than)) }, nil
}
