package main

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
)

const election = "hand-over"

// runLease lets two managers compete: the first leads, goes, and the second takes over.
func runLease(ctx context.Context, w *world) error {
	first, err := w.candidate(ctx)
	if err != nil {
		return err
	}
	if err := w.until(ctx, "the first leads", first.leads); err != nil {
		return err
	}
	w.noteLease(ctx, "the first leads")
	second, err := w.candidate(ctx)
	if err != nil {
		return err
	}
	holder := w.holder(ctx)
	if err := w.until(ctx, "the first has renewed", w.hasRenewed(ctx)); err != nil {
		return err
	}
	w.note("the second waits", !second.leads(ctx) && w.holder(ctx) == holder, nil)
	started := time.Now()
	first.stop()
	if err := w.until(ctx, "the second leads", second.leads); err != nil {
		return err
	}
	w.took("hand-over", started)
	w.noteLease(ctx, "the second leads")
	w.note("it is another one", w.holder(ctx) != holder, nil)
	second.stop()
	if err := w.until(ctx, "the lease is given up", func(ctx context.Context) bool { return w.holder(ctx) == "" }); err != nil {
		return err
	}
	w.noteLease(ctx, "nobody leads")
	return w.noteEvents(ctx)
}

type candidate struct {
	isLeader atomic.Bool
	stop     context.CancelFunc
}

func (c *candidate) leads(context.Context) bool { return c.isLeader.Load() }

func (w *world) candidate(ctx context.Context) (*candidate, error) {
	duration, deadline, period := 6*time.Second, 4*time.Second, 500*time.Millisecond
	running, err := manager.New(w.config, manager.Options{
		Scheme: w.scheme, Metrics: metricsserver.Options{BindAddress: "0"},
		LeaderElection: true, LeaderElectionID: election, LeaderElectionNamespace: w.namespace,
		LeaderElectionReleaseOnCancel: true, LeaseDuration: &duration, RenewDeadline: &deadline, RetryPeriod: &period,
	})
	if err != nil {
		return nil, err
	}
	ctx, stop := context.WithCancel(ctx)
	made := &candidate{stop: stop}
	go func() { _ = running.Start(ctx) }()
	go func() {
		<-running.Elected()
		made.isLeader.Store(true)
	}()
	return made, nil
}

func (w *world) lease(ctx context.Context) (*coordinationv1.Lease, error) {
	lease := &coordinationv1.Lease{}
	err := w.client.Get(ctx, client.ObjectKey{Namespace: w.namespace, Name: election}, lease)
	return lease, err
}

func (w *world) holder(ctx context.Context) string {
	lease, err := w.lease(ctx)
	if err != nil || lease.Spec.HolderIdentity == nil {
		return fmt.Sprint(err)
	}
	return *lease.Spec.HolderIdentity
}

func (w *world) hasRenewed(ctx context.Context) func(context.Context) bool {
	before, _ := w.lease(ctx)
	return func(ctx context.Context) bool {
		now, err := w.lease(ctx)
		return err == nil && now.ResourceVersion != before.ResourceVersion
	}
}

// noteLease leaves out what depends on when it is looked at: how often the lease was renewed.
func (w *world) noteLease(ctx context.Context, when string) {
	lease, err := w.lease(ctx)
	lease.ResourceVersion = ""
	if lease.Spec.HolderIdentity != nil && *lease.Spec.HolderIdentity != "" {
		*lease.Spec.HolderIdentity = "<host>_<uuid>"
	}
	w.note(when, lease, err)
}

func (w *world) noteEvents(ctx context.Context) error {
	var events corev1.EventList
	count := func(ctx context.Context) bool {
		err := w.client.List(ctx, &events, client.InNamespace(w.namespace))
		return err == nil && len(events.Items) >= 2
	}
	if err := w.until(ctx, "both elections are events", count); err != nil {
		return err
	}
	var reasons []string
	for _, event := range events.Items {
		reasons = append(reasons, fmt.Sprint(event.Type, " ", event.Reason, " ", event.InvolvedObject.Kind, "/", event.InvolvedObject.Name))
	}
	w.note("events", reasons, nil)
	return nil
}
