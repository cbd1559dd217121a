package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"

	v1 "k8s.io/api/core/v1"
	cloudprovider "k8s.io/cloud-provider"
)

// world is what there is in the cloud, in the words of our own capabilities.
type world interface {
	describe(ctx context.Context, node machine) (observation, error)
	find(ctx context.Context, name string) (found, error)
	ensure(ctx context.Context, plan plan) (outcome, error)
	setBackends(ctx context.Context, plan plan) (string, error)
	remove(ctx context.Context, name string) error
	listRoutes(ctx context.Context) ([]route, error)
	createRoute(ctx context.Context, route route) error
	removeRoute(ctx context.Context, route route) error
}

type machine struct {
	NodeName   string `json:"nodeName"`
	ProviderID string `json:"providerID,omitempty"`
}

type address struct {
	Type    string `json:"type"`
	Address string `json:"address"`
}

type observation struct {
	State        string            `json:"state"`
	Power        string            `json:"power,omitempty"`
	ProviderID   string            `json:"providerID,omitempty"`
	InstanceType string            `json:"instanceType,omitempty"`
	Addresses    []address         `json:"addresses,omitempty"`
	Zone         string            `json:"zone,omitempty"`
	Region       string            `json:"region,omitempty"`
	Labels       map[string]string `json:"labels,omitempty"`
}

type port struct {
	Name     string `json:"name,omitempty"`
	Protocol string `json:"protocol"`
	Port     int32  `json:"port"`
	NodePort int32  `json:"nodePort"`
}

type plan struct {
	Name string `json:"name"`
	// Service is namespace and name.
	Service  string    `json:"service,omitempty"`
	Ports    []port    `json:"ports,omitempty"`
	Backends []machine `json:"backends"`
}

type found struct {
	Ingress []v1.LoadBalancerIngress `json:"ingress,omitempty"`
	Exists  bool                     `json:"exists"`
}

type outcome struct {
	Kind         string                   `json:"kind"`
	Ingress      []v1.LoadBalancerIngress `json:"ingress,omitempty"`
	RetryAfterMs int64                    `json:"retryAfterMs,omitempty"`
	Why          string                   `json:"why,omitempty"`
}

type route struct {
	Name            string `json:"name,omitempty"`
	NameHint        string `json:"nameHint,omitempty"`
	TargetNode      string `json:"targetNode"`
	DestinationCIDR string `json:"destinationCIDR"`
	Blackhole       bool   `json:"blackhole,omitempty"`
}

// settings come from the file of --cloud-config.
type settings struct {
	// URL of a world that somebody else keeps; without it the world is ours and always well.
	URL     string `json:"url"`
	DelayMs int64  `json:"delayMs"`
}

func factory(calls *tally) cloudprovider.Factory {
	return func(file io.Reader) (cloudprovider.Interface, error) {
		var chosen settings
		if file != nil {
			if err := json.NewDecoder(file).Decode(&chosen); err != nil {
				return nil, fmt.Errorf("cloud configuration: %w", err)
			}
		}
		var there world = newWellWorld()
		if chosen.URL != "" {
			there = remoteWorld{url: chosen.URL}
		}
		return &cloud{there, calls, time.Duration(chosen.DelayMs) * time.Millisecond}, nil
	}
}

// remoteWorld asks a server for everything: one POST per question, the answer in JSON.
type remoteWorld struct {
	url string
}

func ask[A any](ctx context.Context, url string, method string, question any) (A, error) {
	var answer A
	text, err := json.Marshal(question)
	if err != nil {
		return answer, err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, url+"/"+method, bytes.NewReader(text))
	if err != nil {
		return answer, err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return answer, err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return answer, err
	}
	if response.StatusCode != http.StatusOK {
		// The text is what the cloud says, and all of it: events show it.
		return answer, fmt.Errorf("%s", body)
	}
	return answer, json.Unmarshal(body, &answer)
}

func (w remoteWorld) describe(ctx context.Context, node machine) (observation, error) {
	return ask[observation](ctx, w.url, "instances.describe", node)
}

func (w remoteWorld) find(ctx context.Context, name string) (found, error) {
	return ask[found](ctx, w.url, "loadBalancers.find", plan{Name: name})
}

func (w remoteWorld) ensure(ctx context.Context, plan plan) (outcome, error) {
	return ask[outcome](ctx, w.url, "loadBalancers.ensure", plan)
}

func (w remoteWorld) setBackends(ctx context.Context, plan plan) (string, error) {
	return ask[string](ctx, w.url, "loadBalancers.setBackends", plan)
}

func (w remoteWorld) remove(ctx context.Context, name string) error {
	_, err := ask[any](ctx, w.url, "loadBalancers.remove", plan{Name: name})
	return err
}

func (w remoteWorld) listRoutes(ctx context.Context) ([]route, error) {
	return ask[[]route](ctx, w.url, "routes.list", nil)
}

func (w remoteWorld) createRoute(ctx context.Context, route route) error {
	_, err := ask[any](ctx, w.url, "routes.create", route)
	return err
}

func (w remoteWorld) removeRoute(ctx context.Context, route route) error {
	_, err := ask[any](ctx, w.url, "routes.remove", route)
	return err
}

// wellWorld has a machine for every node and makes whatever is asked for.
type wellWorld struct {
	lock      sync.Mutex
	balancers map[string]bool
	routes    map[string]route
}

func newWellWorld() *wellWorld {
	return &wellWorld{balancers: map[string]bool{}, routes: map[string]route{}}
}

var wellIngress = []v1.LoadBalancerIngress{{IP: "203.0.113.1"}}

func (w *wellWorld) describe(_ context.Context, node machine) (observation, error) {
	return observation{
		State:        "present",
		Power:        "on",
		ProviderID:   providerName + "://" + node.NodeName,
		InstanceType: "fake.large",
		Zone:         "fake-1a",
		Region:       "fake-1",
		Addresses:    []address{{"InternalIP", "10.0.0.1"}, {"Hostname", node.NodeName}},
	}, nil
}

func (w *wellWorld) find(_ context.Context, name string) (found, error) {
	w.lock.Lock()
	defer w.lock.Unlock()
	return found{wellIngress, w.balancers[name]}, nil
}

func (w *wellWorld) ensure(_ context.Context, plan plan) (outcome, error) {
	w.lock.Lock()
	defer w.lock.Unlock()
	w.balancers[plan.Name] = true
	return outcome{Kind: "ready", Ingress: wellIngress}, nil
}

func (w *wellWorld) setBackends(_ context.Context, plan plan) (string, error) {
	w.lock.Lock()
	defer w.lock.Unlock()
	if !w.balancers[plan.Name] {
		return "gone", nil
	}
	return "updated", nil
}

func (w *wellWorld) remove(_ context.Context, name string) error {
	w.lock.Lock()
	defer w.lock.Unlock()
	delete(w.balancers, name)
	return nil
}

func (w *wellWorld) listRoutes(context.Context) ([]route, error) {
	w.lock.Lock()
	defer w.lock.Unlock()
	var all []route
	for _, route := range w.routes {
		all = append(all, route)
	}
	return all, nil
}

func (w *wellWorld) createRoute(_ context.Context, route route) error {
	w.lock.Lock()
	defer w.lock.Unlock()
	route.Name = route.NameHint + "-" + route.DestinationCIDR
	w.routes[route.Name] = route
	return nil
}

func (w *wellWorld) removeRoute(_ context.Context, route route) error {
	w.lock.Lock()
	defer w.lock.Unlock()
	delete(w.routes, route.Name)
	return nil
}
