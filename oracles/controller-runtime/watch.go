package main

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/discovery"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Before every revision of interest; forgotten once the server was asked to forget.
const forgottenRevision = "1"

// runWatch follows objects through events, bookmarks and the loss of history.
func runWatch(ctx context.Context, w *world) error {
	if err := w.watchEvents(ctx); err != nil {
		return err
	}
	if err := w.watchInitialEvents(ctx); err != nil {
		return err
	}
	hasForgotten, err := w.forgetHistory(ctx)
	if err != nil || !hasForgotten {
		return err
	}
	w.watchTooOld(ctx)
	return w.cacheAcrossGone(ctx)
}

func (w *world) watch(ctx context.Context, options metav1.ListOptions, how ...client.ListOption) (watch.Interface, error) {
	how = append(how, client.InNamespace(w.namespace), &client.ListOptions{Raw: &options})
	return w.client.Watch(ctx, &corev1.ConfigMapList{}, how...)
}

type event struct {
	Type   watch.EventType `json:"type"`
	Object any             `json:"object"`
}

// collect takes events until one satisfies `last`, or until the watch ends.
func collect(ctx context.Context, from watch.Interface, last func(watch.Event) bool) []event {
	defer from.Stop()
	found := []event{}
	for {
		select {
		case got, open := <-from.ResultChan():
			if !open {
				return append(found, event{Type: "CLOSED"})
			}
			if object, is := got.Object.(client.Object); is && object.GetName() == "kube-root-ca.crt" {
				continue
			}
			found = append(found, event{got.Type, plain(withoutLuck(got))})
			if last(got) {
				return found
			}
		case <-ctx.Done():
			return append(found, event{Type: "TIMEOUT"})
		}
	}
}

// withoutLuck forgets the revision of a bookmark, which is that of whatever was written last by anybody.
func withoutLuck(event watch.Event) any {
	object, is := event.Object.(client.Object)
	if !is || event.Type != watch.Bookmark {
		return event.Object
	}
	copied := object.DeepCopyObject().(client.Object)
	if copied.GetResourceVersion() != "" {
		copied.SetResourceVersion("a revision")
	}
	return copied
}

func isBookmark(event watch.Event) bool { return event.Type == watch.Bookmark }

// watchEvents also sees a bookmark: servers send one shortly before the time of a watch is over.
func (w *world) watchEvents(ctx context.Context) error {
	var list corev1.ConfigMapList
	if err := w.client.List(ctx, &list, client.InNamespace(w.namespace)); err != nil {
		return err
	}
	seconds := int64(6)
	from := metav1.ListOptions{ResourceVersion: list.ResourceVersion, AllowWatchBookmarks: true, TimeoutSeconds: &seconds}
	watching, err := w.watch(ctx, from)
	if err != nil {
		return err
	}
	labelled, err := w.watch(ctx, metav1.ListOptions{ResourceVersion: list.ResourceVersion, TimeoutSeconds: &seconds}, client.MatchingLabels{"on": "yes"})
	if err != nil {
		return err
	}
	object := w.configMap("seen", map[string]string{"a": "1"})
	if err := w.client.Create(ctx, object); err != nil {
		return err
	}
	for _, patch := range []string{`{"metadata":{"labels":{"on":"yes"}}}`, `{"data":{"a":"2"}}`, `{"metadata":{"labels":{"on":"no"}}}`} {
		if err := w.client.Patch(ctx, object, merge(patch)); err != nil {
			return err
		}
	}
	if err := w.client.Delete(ctx, object); err != nil {
		return err
	}
	events := collect(ctx, watching, isBookmark)
	w.note("events", events, nil)
	w.note("events of a label", collect(ctx, labelled, func(watch.Event) bool { return false }), nil)
	return nil
}

func (w *world) watchInitialEvents(ctx context.Context) error {
	for _, name := range []string{"first", "second"} {
		if err := w.client.Create(ctx, w.configMap(name, nil)); err != nil {
			return err
		}
	}
	yes := true
	watching, err := w.watch(ctx, metav1.ListOptions{
		SendInitialEvents: &yes, AllowWatchBookmarks: true, ResourceVersionMatch: metav1.ResourceVersionMatchNotOlderThan,
	})
	if err != nil {
		return err
	}
	w.note("initial events and their end", collect(ctx, watching, isBookmark), nil)
	return nil
}

// forgetHistory asks for compaction where that can be asked for, and says whether it was done. kube-apiserver has no
// such path, and a young one remembers everything.
func (w *world) forgetHistory(ctx context.Context) (bool, error) {
	direct, err := discovery.NewDiscoveryClientForConfig(w.config)
	if err != nil {
		return false, err
	}
	var list corev1.ConfigMapList
	if err := w.client.List(ctx, &list, client.InNamespace(w.namespace)); err != nil {
		return false, err
	}
	result := direct.RESTClient().Post().AbsPath("/debug/slipway/compact").Param("revision", list.ResourceVersion).Do(ctx)
	if err := result.Error(); apierrors.IsNotFound(err) {
		return false, nil
	} else if err != nil {
		return false, fmt.Errorf("compaction: %w", err)
	}
	return true, nil
}

func (w *world) watchTooOld(ctx context.Context) {
	watching, err := w.watch(ctx, metav1.ListOptions{ResourceVersion: forgottenRevision})
	if err != nil {
		w.note("a watch from a forgotten revision", nil, err)
		return
	}
	w.note("a watch from a forgotten revision", collect(ctx, watching, func(watch.Event) bool { return false }), nil)
}

// cacheAcrossGone breaks the watch of a cache and sends its next one to a forgotten revision: the cache must list
// again and go on.
func (w *world) cacheAcrossGone(ctx context.Context) error {
	var gone, connections atomic.Int32
	watchContext, breakWatch := context.WithCancel(ctx)
	defer breakWatch()
	w.wire.intercept(func(request *http.Request) {
		query := request.URL.Query()
		isWatch := query.Get("watch") != "" && strings.HasSuffix(request.URL.Path, "/configmaps")
		if !isWatch {
			return
		}
		switch connections.Add(1) {
		case 1:
			*request = *request.WithContext(either(request.Context(), watchContext))
		case 2:
			gone.Add(1)
			query = map[string][]string{"watch": {"true"}, "resourceVersion": {forgottenRevision}}
			request.URL.RawQuery = query.Encode()
		}
	})
	defer w.wire.intercept(nil)
	reader, err := w.startCache(ctx, &corev1.ConfigMap{})
	if err != nil {
		return err
	}
	sees := func(name string) func(context.Context) bool {
		return func(ctx context.Context) bool {
			return reader.Get(ctx, client.ObjectKey{Namespace: w.namespace, Name: name}, &corev1.ConfigMap{}) == nil
		}
	}
	if err := w.until(ctx, "the cache has its first watch", func(context.Context) bool { return connections.Load() > 0 }); err != nil {
		return err
	}
	if err := w.client.Create(ctx, w.configMap("before", nil)); err != nil {
		return err
	}
	if err := w.until(ctx, "the cache sees an event", sees("before")); err != nil {
		return err
	}
	breakWatch()
	started := time.Now()
	if err := w.until(ctx, "the watch was sent to a forgotten revision", func(context.Context) bool { return gone.Load() > 0 }); err != nil {
		return err
	}
	if err := w.client.Create(ctx, w.configMap("after", nil)); err != nil {
		return err
	}
	if err := w.until(ctx, "the cache goes on after 410", sees("after")); err != nil {
		return err
	}
	w.took("recovery from 410", started)
	w.note("the cache goes on after 410", true, nil)
	return nil
}

// either ends when one of both ends.
func either(one, other context.Context) context.Context {
	both, cancel := context.WithCancel(one)
	context.AfterFunc(other, cancel)
	return both
}
