package main

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// runMetadata works with nothing but the metadata of objects.
func runMetadata(ctx context.Context, w *world) error {
	if err := w.defineGadgets(ctx); err != nil {
		return err
	}
	for _, kind := range []schema.GroupVersionKind{corev1.SchemeGroupVersion.WithKind("ConfigMap"), w.gadgetKind()} {
		if err := w.useMetadata(ctx, kind); err != nil {
			return err
		}
	}
	return nil
}

func (w *world) partial(kind schema.GroupVersionKind, name string) *metav1.PartialObjectMetadata {
	object := &metav1.PartialObjectMetadata{ObjectMeta: w.meta(name)}
	object.SetGroupVersionKind(kind)
	return object
}

func (w *world) useMetadata(ctx context.Context, kind schema.GroupVersionKind) error {
	for _, name := range []string{"one", "two"} {
		var object client.Object = w.gadget(name, map[string]any{"spec": map[string]any{"text": "hidden"}})
		if kind.Kind == "ConfigMap" {
			object = w.configMap(name, map[string]string{"text": "hidden"})
		}
		object.SetLabels(map[string]string{"name": name})
		if err := w.client.Create(ctx, object); err != nil {
			return err
		}
	}
	step := func(name string, object any, err error) { w.note(kind.Kind+": "+name, object, err) }
	found := w.partial(kind, "one")
	step("read", found, w.client.Get(ctx, client.ObjectKeyFromObject(found), found))
	absent := w.partial(kind, "absent")
	step("read what is not there", nil, w.client.Get(ctx, client.ObjectKeyFromObject(absent), absent))
	list := &metav1.PartialObjectMetadataList{}
	list.SetGroupVersionKind(kind)
	err := w.client.List(ctx, list, client.InNamespace(w.namespace), client.HasLabels{"name"})
	step("list", list, err)
	patched := w.partial(kind, "one")
	step("patch", patched, w.client.Patch(ctx, patched, merge(`{"metadata":{"annotations":{"by":"metadata"},"finalizers":["example.com/keep"]}}`)))
	deleted := w.partial(kind, "one")
	step("delete", nil, w.client.Delete(ctx, deleted))
	waiting := w.partial(kind, "one")
	err = w.client.Get(ctx, client.ObjectKeyFromObject(waiting), waiting)
	step("waits for its finalizer", waiting, err)
	step("without finalizer", nil, w.client.Patch(ctx, w.partial(kind, "one"), merge(`{"metadata":{"finalizers":null}}`)))
	step("is gone", nil, w.client.Get(ctx, client.ObjectKeyFromObject(waiting), waiting))
	return w.watchMetadata(ctx, list, kind)
}

func (w *world) watchMetadata(ctx context.Context, list *metav1.PartialObjectMetadataList, kind schema.GroupVersionKind) error {
	again := &metav1.PartialObjectMetadataList{}
	again.SetGroupVersionKind(kind)
	from := &client.ListOptions{Namespace: w.namespace, Raw: &metav1.ListOptions{ResourceVersion: list.ResourceVersion}}
	watching, err := w.client.Watch(ctx, again, from)
	if err != nil {
		return err
	}
	w.note(kind.Kind+": events", collect(ctx, watching, func(event watch.Event) bool { return event.Type == watch.Deleted }), nil)
	reader, err := w.startCache(ctx, w.partial(kind, ""))
	if err != nil {
		return err
	}
	cached := w.partial(kind, "")
	err = reader.Get(ctx, client.ObjectKey{Namespace: w.namespace, Name: "two"}, cached)
	w.note(kind.Kind+": from the cache", cached, err)
	return nil
}
