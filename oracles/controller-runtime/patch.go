package main

import (
	"context"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

func merge(text string) client.Patch { return client.RawPatch(types.MergePatchType, []byte(text)) }

// runPatch goes through the ways to change an object: patch types, status, scale, optimistic locks.
func runPatch(ctx context.Context, w *world) error {
	if err := w.defineGadgets(ctx); err != nil {
		return err
	}
	w.patchConfigMap(ctx)
	w.patchGadget(ctx)
	w.patchDeployment(ctx)
	w.lockOptimistically(ctx)
	return nil
}

func (w *world) patchConfigMap(ctx context.Context) {
	object := w.configMap("patched", map[string]string{"a": "1", "b": "2"})
	w.note("ConfigMap", object, w.client.Create(ctx, object))
	patches := []struct {
		name string
		kind types.PatchType
		text string
	}{
		{"JSON patch", types.JSONPatchType, `[{"op":"test","path":"/data/a","value":"1"},{"op":"replace","path":"/data/a","value":"9"}]`},
		{"JSON patch whose test fails", types.JSONPatchType, `[{"op":"test","path":"/data/a","value":"1"}]`},
		{"JSON patch of nothing", types.JSONPatchType, `[{"op":"remove","path":"/data/none"}]`},
		{"merge patch", types.MergePatchType, `{"data":{"b":null,"c":"3"}}`},
		{"strategic merge patch", types.StrategicMergePatchType, `{"data":{"d":"4","$retainKeys":["d"]}}`},
		{"broken patch", types.MergePatchType, `{"data":`},
		{"wrong type", types.MergePatchType, `{"data":{"a":1}}`},
		{"unknown field", types.MergePatchType, `{"dat":{"a":"1"}}`},
	}
	for _, patch := range patches {
		found := w.configMap("patched", nil)
		err := w.client.Patch(ctx, found, client.RawPatch(patch.kind, []byte(patch.text)), client.FieldOwner("patcher"))
		w.note("ConfigMap: "+patch.name, found, err)
	}
	dry := w.configMap("patched", nil)
	w.note("ConfigMap: only tried", dry, w.client.Patch(ctx, dry, merge(`{"data":{"dry":"run"}}`), client.DryRunAll))
	absent := w.configMap("absent", nil)
	w.note("ConfigMap: absent", absent, w.client.Patch(ctx, absent, merge(`{"data":{"a":"1"}}`)))
}

func (w *world) patchGadget(ctx context.Context) {
	object := w.gadget("patched", map[string]any{"spec": map[string]any{"text": "one"}, "status": map[string]any{"phase": "dropped"}})
	w.note("Gadget", object, w.client.Create(ctx, object))
	step := func(name string, change func(*unstructured.Unstructured) error) {
		found := w.gadget("patched", nil)
		w.note("Gadget: "+name, found, change(found))
	}
	step("merge patch", func(found *unstructured.Unstructured) error {
		return w.client.Patch(ctx, found, merge(`{"spec":{"text":"two"},"status":{"phase":"ignored"}}`))
	})
	step("merge patch that is invalid", func(found *unstructured.Unstructured) error {
		return w.client.Patch(ctx, found, merge(`{"spec":{"color":"blue"}}`))
	})
	step("strategic merge patch", func(found *unstructured.Unstructured) error {
		return w.client.Patch(ctx, found, client.RawPatch(types.StrategicMergePatchType, []byte(`{"spec":{"text":"x"}}`)))
	})
	step("status by patch", func(found *unstructured.Unstructured) error {
		return w.client.Status().Patch(ctx, found, merge(`{"spec":{"text":"ignored"},"status":{"phase":"Ready","replicas":1,"selector":"a=b"}}`))
	})
	step("status by update", func(found *unstructured.Unstructured) error {
		if err := w.client.Get(ctx, client.ObjectKeyFromObject(found), found); err != nil {
			return err
		}
		_ = unstructured.SetNestedField(found.Object, "Done", "status", "phase")
		_ = unstructured.SetNestedField(found.Object, "ignored", "spec", "text")
		return w.client.Status().Update(ctx, found)
	})
	w.scale(ctx, "Gadget", w.gadget("patched", nil))
	step("after all", func(found *unstructured.Unstructured) error {
		return w.client.Get(ctx, client.ObjectKeyFromObject(found), found)
	})
}

func (w *world) scale(ctx context.Context, kind string, parent client.Object) {
	scale := w.client.SubResource("scale")
	found := &unstructured.Unstructured{}
	found.SetGroupVersionKind(autoscalingv1.SchemeGroupVersion.WithKind("Scale"))
	step := func(name string, err error) {
		// Its controller may write the parent at any time.
		unstructured.RemoveNestedField(found.Object, "metadata", "resourceVersion")
		w.note(kind+": "+name, found, err)
		now := parent.DeepCopyObject().(client.Object)
		err = w.client.Get(ctx, client.ObjectKeyFromObject(parent), now)
		w.note(kind+": owners after "+name, ownersOf(now), err)
	}
	step("scale", scale.Get(ctx, parent, found))
	_ = unstructured.SetNestedField(found.Object, int64(4), "spec", "replicas")
	step("scale by update", scale.Update(ctx, parent, client.WithSubResourceBody(found)))
	step("scale by patch", scale.Patch(ctx, parent, merge(`{"spec":{"replicas":7}}`), client.WithSubResourceBody(found)))
	_ = unstructured.SetNestedField(found.Object, int64(-1), "spec", "replicas")
	step("scale below zero", scale.Update(ctx, parent, client.WithSubResourceBody(found)))
	unstructured.RemoveNestedField(found.Object, "metadata", "name")
	_ = unstructured.SetNestedField(found.Object, int64(2), "spec", "replicas")
	step("scale without a name", scale.Update(ctx, parent, client.WithSubResourceBody(found)))
}

// ownersOf leaves out what controllers own.
func ownersOf(object client.Object) []metav1.ManagedFieldsEntry {
	entries := object.GetManagedFields()
	return slices.DeleteFunc(entries, func(entry metav1.ManagedFieldsEntry) bool {
		return entry.Manager == "kube-controller-manager"
	})
}

func (w *world) patchDeployment(ctx context.Context) {
	labels := map[string]string{"app": "web"}
	object := &appsv1.Deployment{ObjectMeta: w.meta("web"), Spec: appsv1.DeploymentSpec{
		Selector: &metav1.LabelSelector{MatchLabels: labels},
		// No pods: what its controller does must not be part of the comparison.
		Replicas: new(int32), Paused: true,
		Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: corev1.PodSpec{Containers: []corev1.Container{
			{Name: "web", Image: "web:1"}, {Name: "side", Image: "side:1"},
		}}},
	}}
	err := w.client.Create(ctx, object)
	w.note("Deployment", withoutStatus(object), err)
	change := func(name string, options ...client.MergeFromOption) {
		found := &appsv1.Deployment{}
		if err := w.client.Get(ctx, client.ObjectKeyFromObject(object), found); err != nil {
			w.note("Deployment: "+name, nil, err)
			return
		}
		from := client.StrategicMergeFrom(found.DeepCopy(), options...)
		found.Spec.Template.Spec.Containers[0].Image = "web:" + name
		err := w.client.Patch(ctx, found, from)
		w.note("Deployment: "+name, withoutStatus(found), err)
	}
	change("strategic")
	text := `{"spec":{"template":{"spec":{"containers":[{"name":"side","$patch":"delete"},{"name":"web","env":[{"name":"A","value":"1"}]}]}}}}`
	found := &appsv1.Deployment{ObjectMeta: w.meta("web")}
	err = w.client.Patch(ctx, found, client.RawPatch(types.StrategicMergePatchType, []byte(text)))
	w.note("Deployment: directive", withoutStatus(found), err)
	immutable := &appsv1.Deployment{ObjectMeta: w.meta("web")}
	err = w.client.Patch(ctx, immutable, merge(`{"spec":{"selector":{"matchLabels":{"app":"other"}}}}`))
	w.note("Deployment: the selector stays", immutable, err)
	parent := &unstructured.Unstructured{}
	parent.SetGroupVersionKind(appsv1.SchemeGroupVersion.WithKind("Deployment"))
	parent.SetNamespace(w.namespace)
	parent.SetName("web")
	w.scale(ctx, "Deployment", parent)
	w.typedScale(ctx)
}

func (w *world) lockOptimistically(ctx context.Context) {
	key := client.ObjectKey{Namespace: w.namespace, Name: "patched"}
	stale := &corev1.ConfigMap{}
	w.note("lock: read", stale, w.client.Get(ctx, key, stale))
	w.note("lock: somebody else writes", nil, w.client.Patch(ctx, w.configMap("patched", nil), merge(`{"data":{"other":"x"}}`)))
	changed := stale.DeepCopy()
	changed.Data["mine"] = "y"
	from := client.MergeFromWithOptions(stale, client.MergeFromWithOptimisticLock{})
	w.note("lock: patch with lock", nil, w.client.Patch(ctx, changed.DeepCopy(), from))
	w.note("lock: update", nil, w.client.Update(ctx, changed.DeepCopy()))
	w.note("lock: patch without lock", nil, w.client.Patch(ctx, changed.DeepCopy(), client.MergeFrom(stale)))
	deletion := client.Preconditions{ResourceVersion: &stale.ResourceVersion}
	w.note("lock: delete what has changed", nil, w.client.Delete(ctx, changed.DeepCopy(), deletion))
	uid := types.UID("00000000-0000-0000-0000-000000000000")
	w.note("lock: delete another one", nil, w.client.Delete(ctx, changed.DeepCopy(), client.Preconditions{UID: &uid}))
	w.note("lock: delete", nil, w.client.Delete(ctx, changed.DeepCopy(), client.Preconditions{UID: &stale.UID}))
	w.note("lock: update after deletion", nil, w.client.Update(ctx, changed.DeepCopy()))
}

// typedScale sends its body as protobuf.
func (w *world) typedScale(ctx context.Context) {
	parent := &appsv1.Deployment{ObjectMeta: w.meta("web")}
	found := &autoscalingv1.Scale{}
	err := w.client.SubResource("scale").Get(ctx, parent, found)
	found.ResourceVersion = ""
	w.note("Deployment: typed scale", found, err)
	found.Spec.Replicas = 5
	err = w.client.SubResource("scale").Update(ctx, parent, client.WithSubResourceBody(found))
	found.ResourceVersion = ""
	w.note("Deployment: typed scale by update", found, err)
}
