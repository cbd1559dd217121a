package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"sync"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	cloudprovider "k8s.io/cloud-provider"
	"k8s.io/cloud-provider/api"
)

const providerName = "fake"

// cloud says what the world is in the words of the framework. Every call is counted, and takes at least the delay.
type cloud struct {
	world world
	calls *tally
	delay time.Duration
}

var (
	_ cloudprovider.Interface    = (*cloud)(nil)
	_ cloudprovider.InstancesV2  = (*cloud)(nil)
	_ cloudprovider.LoadBalancer = (*cloud)(nil)
	_ cloudprovider.Routes       = (*cloud)(nil)
)

func (c *cloud) Initialize(cloudprovider.ControllerClientBuilder, <-chan struct{}) {}
func (c *cloud) ProviderName() string                                              { return providerName }
func (c *cloud) HasClusterID() bool                                                { return true }
func (c *cloud) InstancesV2() (cloudprovider.InstancesV2, bool)                    { return c, true }
func (c *cloud) LoadBalancer() (cloudprovider.LoadBalancer, bool)                  { return c, true }
func (c *cloud) Routes() (cloudprovider.Routes, bool)                              { return c, true }
func (c *cloud) Instances() (cloudprovider.Instances, bool)                        { return nil, false }
func (c *cloud) Zones() (cloudprovider.Zones, bool)                                { return nil, false }
func (c *cloud) Clusters() (cloudprovider.Clusters, bool)                          { return nil, false }

func (c *cloud) begin(ctx context.Context, method string) error {
	c.calls.add(method)
	if c.delay == 0 {
		return nil
	}
	select {
	case <-time.After(c.delay):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (c *cloud) observe(ctx context.Context, method string, node *v1.Node) (observation, error) {
	if err := c.begin(ctx, method); err != nil {
		return observation{}, err
	}
	return c.world.describe(ctx, machineOf(node))
}

func (c *cloud) InstanceExists(ctx context.Context, node *v1.Node) (bool, error) {
	seen, err := c.observe(ctx, "InstanceExists", node)
	// What is not ours may exist for somebody else.
	return seen.State != "absent", err
}

func (c *cloud) InstanceShutdown(ctx context.Context, node *v1.Node) (bool, error) {
	seen, err := c.observe(ctx, "InstanceShutdown", node)
	return seen.Power == "off", err
}

func (c *cloud) InstanceMetadata(ctx context.Context, node *v1.Node) (*cloudprovider.InstanceMetadata, error) {
	seen, err := c.observe(ctx, "InstanceMetadata", node)
	if err != nil {
		return nil, err
	}
	switch seen.State {
	case "absent":
		return nil, cloudprovider.InstanceNotFound
	case "unmanaged":
		return nil, nil
	}
	return &cloudprovider.InstanceMetadata{
		ProviderID:       seen.ProviderID,
		InstanceType:     seen.InstanceType,
		NodeAddresses:    nodeAddresses(seen.Addresses),
		Zone:             seen.Zone,
		Region:           seen.Region,
		AdditionalLabels: seen.Labels,
	}, nil
}

func (c *cloud) GetLoadBalancerName(_ context.Context, _ string, service *v1.Service) string {
	return cloudprovider.DefaultLoadBalancerName(service)
}

func (c *cloud) GetLoadBalancer(ctx context.Context, _ string, service *v1.Service) (*v1.LoadBalancerStatus, bool, error) {
	if err := c.begin(ctx, "GetLoadBalancer"); err != nil {
		return nil, false, err
	}
	there, err := c.world.find(ctx, cloudprovider.DefaultLoadBalancerName(service))
	return &v1.LoadBalancerStatus{Ingress: there.Ingress}, there.Exists, err
}

func (c *cloud) EnsureLoadBalancer(ctx context.Context, _ string, service *v1.Service, nodes []*v1.Node) (*v1.LoadBalancerStatus, error) {
	if err := c.begin(ctx, "EnsureLoadBalancer"); err != nil {
		return nil, err
	}
	made, err := c.world.ensure(ctx, planOf(service, nodes))
	if err != nil {
		return nil, err
	}
	switch made.Kind {
	case "ready":
		return &v1.LoadBalancerStatus{Ingress: made.Ingress}, nil
	case "pending":
		return nil, api.NewRetryError(made.Why, time.Duration(made.RetryAfterMs)*time.Millisecond)
	case "elsewhere":
		return nil, cloudprovider.ImplementedElsewhere
	}
	return nil, fmt.Errorf("the world answered %q", made.Kind)
}

func (c *cloud) UpdateLoadBalancer(ctx context.Context, _ string, service *v1.Service, nodes []*v1.Node) error {
	if err := c.begin(ctx, "UpdateLoadBalancer"); err != nil {
		return err
	}
	answer, err := c.world.setBackends(ctx, planOf(service, nodes))
	switch {
	case err != nil:
		return err
	case answer == "gone":
		return errors.New("there is no such load balancer")
	case answer == "elsewhere":
		return cloudprovider.ImplementedElsewhere
	}
	return nil
}

func (c *cloud) EnsureLoadBalancerDeleted(ctx context.Context, _ string, service *v1.Service) error {
	if err := c.begin(ctx, "EnsureLoadBalancerDeleted"); err != nil {
		return err
	}
	return c.world.remove(ctx, cloudprovider.DefaultLoadBalancerName(service))
}

func (c *cloud) ListRoutes(ctx context.Context, _ string) ([]*cloudprovider.Route, error) {
	if err := c.begin(ctx, "ListRoutes"); err != nil {
		return nil, err
	}
	listed, err := c.world.listRoutes(ctx)
	var all []*cloudprovider.Route
	for _, one := range listed {
		all = append(all, &cloudprovider.Route{
			Name:            one.Name,
			TargetNode:      types.NodeName(one.TargetNode),
			DestinationCIDR: one.DestinationCIDR,
			Blackhole:       one.Blackhole,
		})
	}
	return all, err
}

func (c *cloud) CreateRoute(ctx context.Context, _ string, nameHint string, wanted *cloudprovider.Route) error {
	if err := c.begin(ctx, "CreateRoute"); err != nil {
		return err
	}
	made := routeOf(wanted)
	made.NameHint = nameHint
	return c.world.createRoute(ctx, made)
}

func (c *cloud) DeleteRoute(ctx context.Context, _ string, unwanted *cloudprovider.Route) error {
	if err := c.begin(ctx, "DeleteRoute"); err != nil {
		return err
	}
	return c.world.removeRoute(ctx, routeOf(unwanted))
}

func machineOf(node *v1.Node) machine {
	return machine{node.Name, node.Spec.ProviderID}
}

func planOf(service *v1.Service, nodes []*v1.Node) plan {
	wanted := plan{
		Name:     cloudprovider.DefaultLoadBalancerName(service),
		Service:  service.Namespace + "/" + service.Name,
		Backends: []machine{},
	}
	for _, one := range service.Spec.Ports {
		wanted.Ports = append(wanted.Ports, port{one.Name, string(one.Protocol), one.Port, one.NodePort})
	}
	for _, node := range nodes {
		wanted.Backends = append(wanted.Backends, machineOf(node))
	}
	return wanted
}

func routeOf(given *cloudprovider.Route) route {
	return route{
		Name:            given.Name,
		TargetNode:      string(given.TargetNode),
		DestinationCIDR: given.DestinationCIDR,
		Blackhole:       given.Blackhole,
	}
}

func nodeAddresses(given []address) []v1.NodeAddress {
	var all []v1.NodeAddress
	for _, one := range given {
		all = append(all, v1.NodeAddress{Type: v1.NodeAddressType(one.Type), Address: one.Address})
	}
	return all
}

// tally counts calls by method.
type tally struct {
	lock  sync.Mutex
	count map[string]int
}

func newTally() *tally { return &tally{count: map[string]int{}} }

func (t *tally) add(method string) {
	t.lock.Lock()
	defer t.lock.Unlock()
	t.count[method]++
}

func (t *tally) counts() map[string]int {
	t.lock.Lock()
	defer t.lock.Unlock()
	return maps.Clone(t.count)
}
