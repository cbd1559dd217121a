package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

const writersAtOnce = 8

// runCache fills a namespace with N ConfigMaps and N custom objects, syncs a cache with them and lets it follow
// changes. KUBE_FEATURE_WatchListClient decides whether it lists and watches, or only watches.
func runCache(ctx context.Context, w *world) error {
	if err := w.defineGadgets(ctx); err != nil {
		return err
	}
	started := time.Now()
	if err := w.fill(ctx); err != nil {
		return err
	}
	w.took("fill", started)
	var asked requests
	w.wire.intercept(asked.note)
	started = time.Now()
	reader, err := w.startCache(ctx, &corev1.ConfigMap{}, w.gadget("", nil))
	if err != nil {
		return err
	}
	w.took("sync", started)
	w.wire.intercept(nil)
	w.note("requests", asked.sorted(), nil)
	w.noteCached(ctx, reader, "synced")
	if err := w.change(ctx); err != nil {
		return err
	}
	err = w.until(ctx, "the cache has seen the changes", func(ctx context.Context) bool {
		return w.hasSeenChanges(ctx, reader)
	})
	if err != nil {
		return err
	}
	w.noteCached(ctx, reader, "changed")
	found := &corev1.ConfigMap{}
	err = reader.Get(ctx, client.ObjectKey{Namespace: w.namespace, Name: name(0)}, found)
	w.note("a ConfigMap", found, err)
	gadget := w.gadget("", nil)
	err = reader.Get(ctx, client.ObjectKey{Namespace: w.namespace, Name: name(0)}, gadget)
	w.note("a Gadget", gadget, err)
	return nil
}

func name(at int) string { return fmt.Sprintf("item-%06d", at) }

func (w *world) fill(ctx context.Context) error {
	var group sync.WaitGroup
	failures := make(chan error, writersAtOnce)
	for writer := range writersAtOnce {
		group.Go(func() {
			for at := writer; at < w.count; at += writersAtOnce {
				err := w.client.Create(ctx, w.configMap(name(at), map[string]string{"at": fmt.Sprint(at)}))
				if err == nil {
					err = w.client.Create(ctx, w.gadget(name(at), map[string]any{"spec": map[string]any{"text": fmt.Sprint(at)}}))
				}
				if err != nil {
					failures <- err
					return
				}
			}
		})
	}
	group.Wait()
	close(failures)
	return <-failures
}

func (w *world) startCache(ctx context.Context, objects ...client.Object) (cache.Cache, error) {
	made, err := cache.New(w.config, cache.Options{
		Scheme:            w.scheme,
		DefaultNamespaces: map[string]cache.Config{w.namespace: {}},
	})
	if err != nil {
		return nil, err
	}
	go func() { _ = made.Start(ctx) }()
	for _, object := range objects {
		informer, err := made.GetInformer(ctx, object, cache.BlockUntilSynced(false))
		if err != nil {
			return nil, err
		}
		// The library looks ten times a second, which is too coarse for a measurement.
		for !informer.HasSynced() {
			if err := ctx.Err(); err != nil {
				return nil, fmt.Errorf("the cache did not sync: %w", err)
			}
			time.Sleep(time.Millisecond)
		}
	}
	return made, nil
}

// change makes one object, changes one and removes one, of each kind.
func (w *world) change(ctx context.Context) error {
	changes := []func() error{
		func() error { return w.client.Create(ctx, w.configMap("late", nil)) },
		func() error { return w.client.Create(ctx, w.gadget("late", nil)) },
		func() error {
			return w.client.Patch(ctx, w.configMap(name(0), nil), merge(`{"data":{"changed":"yes"}}`))
		},
		func() error {
			return w.client.Patch(ctx, w.gadget(name(0), nil), merge(`{"spec":{"color":"green"}}`))
		},
		func() error { return w.client.Delete(ctx, w.configMap(name(1), nil)) },
		func() error { return w.client.Delete(ctx, w.gadget(name(1), nil)) },
	}
	for _, change := range changes {
		if err := change(); err != nil {
			return err
		}
	}
	return nil
}

func (w *world) hasSeenChanges(ctx context.Context, reader client.Reader) bool {
	gone := client.ObjectKey{Namespace: w.namespace, Name: name(1)}
	late := client.ObjectKey{Namespace: w.namespace, Name: "late"}
	hasGadgets := reader.Get(ctx, gone, w.gadget("", nil)) != nil && reader.Get(ctx, late, w.gadget("", nil)) == nil
	return hasGadgets && reader.Get(ctx, gone, &corev1.ConfigMap{}) != nil && reader.Get(ctx, late, &corev1.ConfigMap{}) == nil
}

func (w *world) noteCached(ctx context.Context, reader client.Reader, when string) {
	var maps corev1.ConfigMapList
	err := reader.List(ctx, &maps, client.InNamespace(w.namespace))
	var texts []string
	for _, item := range maps.Items {
		// The real control plane adds one to every namespace.
		if item.Name != "kube-root-ca.crt" {
			texts = append(texts, fmt.Sprint(item.Name, item.Data))
		}
	}
	w.note("ConfigMaps "+when, digest(texts), err)
	gadgets := &unstructured.UnstructuredList{}
	gadgets.SetGroupVersionKind(w.gadgetKind())
	err = reader.List(ctx, gadgets, client.InNamespace(w.namespace))
	texts = nil
	for _, item := range gadgets.Items {
		texts = append(texts, fmt.Sprint(item.GetName(), item.Object["spec"]))
	}
	w.note("Gadgets "+when, digest(texts), err)
}

func digest(texts []string) map[string]any {
	slices.Sort(texts)
	sum := sha256.Sum256([]byte(strings.Join(texts, "\n")))
	return map[string]any{"count": len(texts), "digest": hex.EncodeToString(sum[:8])}
}

// requests remembers in which ways collections were read.
type requests struct {
	lock sync.Mutex
	seen []string
}

func (r *requests) note(request *http.Request) {
	query := request.URL.Query()
	way := "list"
	if query.Get("watch") != "" {
		way = "watch"
	}
	if query.Get("sendInitialEvents") == "true" {
		way = "watch-list"
	}
	if !strings.Contains(request.URL.Path, "/namespaces/") {
		return
	}
	r.lock.Lock()
	defer r.lock.Unlock()
	text := fmt.Sprintf("%s %s", way, request.URL.Path[strings.LastIndex(request.URL.Path, "/")+1:])
	if !slices.Contains(r.seen, text) {
		r.seen = append(r.seen, text)
	}
}

// sorted leaves the plain watch away: whether the first one has been sent yet is a matter of luck.
func (r *requests) sorted() []string {
	r.lock.Lock()
	defer r.lock.Unlock()
	found := slices.DeleteFunc(slices.Clone(r.seen), func(text string) bool { return strings.HasPrefix(text, "watch ") })
	slices.Sort(found)
	return found
}
