package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// result is what a subcommand prints. Steps are compared between servers, measurements are only shown.
type result struct {
	Steps []step `json:"steps"`
	// What was sent: media types of bodies per method and kind of resource.
	Sent     []string           `json:"sent"`
	Seconds  map[string]float64 `json:"seconds,omitempty"`
	Warnings []string           `json:"warnings,omitempty"`
}

type step struct {
	Name  string         `json:"name"`
	Value any            `json:"value,omitempty"`
	Error *metav1.Status `json:"error,omitempty"`
	// An error that is no answer of the server.
	Failure string `json:"failure,omitempty"`
}

type recorder struct {
	lock   sync.Mutex
	result result
}

// note records what a step gave: a value, or the answer by which the server refused.
func (r *recorder) note(name string, value any, err error) {
	r.lock.Lock()
	defer r.lock.Unlock()
	entry := step{Name: name}
	var status apierrors.APIStatus
	switch {
	case err == nil:
		entry.Value = plain(value)
	case errors.As(err, &status):
		found := status.Status()
		entry.Error = &found
	default:
		entry.Failure = err.Error()
	}
	r.result.Steps = append(r.result.Steps, entry)
}

func (r *recorder) took(name string, since time.Time) {
	r.lock.Lock()
	defer r.lock.Unlock()
	if r.result.Seconds == nil {
		r.result.Seconds = map[string]float64{}
	}
	r.result.Seconds[name] = time.Since(since).Seconds()
}

// plain is the value as it is now: objects are used again for the next request.
func plain(value any) any {
	data, err := json.Marshal(value)
	if err != nil {
		return fmt.Sprintf("not JSON: %v", err)
	}
	return json.RawMessage(data)
}
