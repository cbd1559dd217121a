package main

import (
	"context"
	"fmt"
	"sync/atomic"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	genericevent "sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"
)

func (w *world) manager() (manager.Manager, error) {
	return ctrl.NewManager(w.config, ctrl.Options{
		Scheme: w.scheme, Metrics: metricsserver.Options{BindAddress: "0"},
		Cache: cache.Options{
			DefaultNamespaces: map[string]cache.Config{w.namespace: {}},
			DefaultTransform:  cache.TransformStripManagedFields(),
		},
	})
}

// runBenchLatency reconciles ConfigMaps and notes when the mark in each arrives at its reconcile.
func runBenchLatency(ctx context.Context, w *world) error {
	running, err := w.manager()
	if err != nil {
		return err
	}
	reached := newArrivals()
	err = ctrl.NewControllerManagedBy(running).For(&corev1.ConfigMap{}).Complete(
		reconcile.Func(func(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
			found := &corev1.ConfigMap{}
			if err := running.GetClient().Get(ctx, request.NamespacedName, found); err != nil {
				return reconcile.Result{}, client.IgnoreNotFound(err)
			}
			reached.note(found.Data["mark"])
			return reconcile.Result{}, nil
		}))
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	go func() { _ = running.Start(ctx) }()
	if !running.GetCache().WaitForCacheSync(ctx) {
		return fmt.Errorf("the cache did not sync")
	}
	watch := reached.start()
	say("ready")
	untilInputEnds()
	say(reached.figures(watch))
	return nil
}

// runBenchNoop hands a controller keys from a channel and reconciles them without doing anything.
func runBenchNoop(ctx context.Context, w *world) error {
	running, err := w.manager()
	if err != nil {
		return err
	}
	var done atomic.Int64
	finished := make(chan struct{})
	keys := make(chan genericevent.GenericEvent, 1024)
	made, err := controller.New("noop", running, controller.Options{
		Reconciler: reconcile.Func(func(context.Context, reconcile.Request) (reconcile.Result, error) {
			if done.Add(1) == int64(w.count) {
				close(finished)
			}
			return reconcile.Result{}, nil
		}),
	})
	if err != nil {
		return err
	}
	if err := made.Watch(source.Channel(keys, &handler.EnqueueRequestForObject{})); err != nil {
		return err
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	go func() { _ = running.Start(ctx) }()
	<-running.Elected()
	watch := startWatch()
	for at := range w.count {
		keys <- genericevent.GenericEvent{Object: &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{
			Namespace: w.namespace, Name: fmt.Sprintf("key-%d", at),
		}}}
	}
	<-finished
	say(watch.figures(w.count))
	return nil
}
