package main

import (
	"context"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	coreapply "k8s.io/client-go/applyconfigurations/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

const (
	alice = client.FieldOwner("alice")
	bob   = client.FieldOwner("bob")
)

// runApply lets two owners apply: conflict, force, shared ownership, giving a field up, and who owns what afterwards.
func runApply(ctx context.Context, w *world) error {
	if err := w.defineGadgets(ctx); err != nil {
		return err
	}
	w.applyConfigMaps(ctx)
	w.applyGadgets(ctx)
	w.applyPodTemplates(ctx)
	return nil
}

func (w *world) applyConfigMaps(ctx context.Context) {
	apply := func(step string, owner client.FieldOwner, data map[string]string, options ...client.ApplyOption) {
		configuration := coreapply.ConfigMap("shared", w.namespace).WithData(data)
		err := w.client.Apply(ctx, configuration, append(options, owner)...)
		w.note("ConfigMap: "+step, configuration, err)
		found := &corev1.ConfigMap{}
		err = w.client.Get(ctx, client.ObjectKey{Namespace: w.namespace, Name: "shared"}, found)
		w.note("ConfigMap after: "+step, found, err)
	}
	apply("alice makes it", alice, map[string]string{"a": "1", "both": "x"})
	apply("bob wants another value", bob, map[string]string{"b": "2", "both": "y"})
	apply("bob shares the value", bob, map[string]string{"b": "2", "both": "x"})
	apply("alice changes what is shared", alice, map[string]string{"a": "1", "both": "z"})
	apply("alice forces it", alice, map[string]string{"a": "1", "both": "z"}, client.ForceOwnership)
	apply("alice gives it up", alice, map[string]string{"a": "1"})
	apply("bob tries without being stored", bob, map[string]string{"b": "3"}, client.DryRunAll)
	apply("nothing changes", alice, map[string]string{"a": "1"})
}

func (w *world) applyGadgets(ctx context.Context) {
	apply := func(step string, owner client.FieldOwner, content map[string]any, options ...client.ApplyOption) {
		object := w.gadget("shared", content)
		err := w.client.Apply(ctx, client.ApplyConfigurationFromUnstructured(object), append(options, owner)...)
		w.note("Gadget: "+step, object, err)
	}
	part := func(name string, size int64) map[string]any { return map[string]any{"name": name, "size": size} }
	spec := func(color string, parts ...any) map[string]any {
		return map[string]any{"spec": map[string]any{"color": color, "parts": parts}}
	}
	apply("alice makes it", alice, spec("red", part("one", 1)))
	apply("bob adds a part", bob, map[string]any{"spec": map[string]any{"parts": []any{part("two", 2)}}})
	apply("bob wants another color and size", bob, spec("green", part("one", 2), part("two", 2)))
	apply("bob forces", bob, spec("green", part("one", 2), part("two", 2)), client.ForceOwnership)
	apply("alice leaves her part", alice, map[string]any{"spec": map[string]any{"text": "mine"}})
	apply("a wrong color", alice, spec("blue"))
	apply("an unknown field", alice, map[string]any{"spec": map[string]any{"nobody": "knows"}})
	apply("a wrong type", alice, map[string]any{"spec": map[string]any{"text": int64(5)}})
	status := w.gadget("shared", map[string]any{"status": map[string]any{"phase": "Ready"}})
	err := w.client.Status().Apply(ctx, client.ApplyConfigurationFromUnstructured(status), alice, client.ForceOwnership)
	w.note("Gadget: status", status, err)
	update := w.gadget("", nil)
	_ = w.client.Get(ctx, client.ObjectKeyFromObject(status), update)
	_ = unstructured.SetNestedField(update.Object, "updated", "spec", "text")
	w.note("Gadget: an update takes a field over", update, w.client.Update(ctx, update, client.FieldOwner("carol")))
}

// applyPodTemplates is about lists with keys, on a kind that no controller touches.
func (w *world) applyPodTemplates(ctx context.Context) {
	template := func(containers ...*coreapply.ContainerApplyConfiguration) *coreapply.PodTemplateApplyConfiguration {
		return coreapply.PodTemplate("web", w.namespace).WithTemplate(coreapply.PodTemplateSpec().
			WithLabels(map[string]string{"app": "web"}).WithSpec(coreapply.PodSpec().WithContainers(containers...)))
	}
	container := func(name, image string) *coreapply.ContainerApplyConfiguration {
		return coreapply.Container().WithName(name).WithImage(image)
	}
	apply := func(step string, owner client.FieldOwner, configuration *coreapply.PodTemplateApplyConfiguration, options ...client.ApplyOption) {
		w.note("PodTemplate: "+step, configuration, w.client.Apply(ctx, configuration, append(options, owner)...))
	}
	port := coreapply.ContainerPort().WithContainerPort(80)
	apply("alice makes it", alice, template(container("web", "web:1").WithPorts(port)))
	apply("bob adds a container", bob, template(container("side", "side:1")))
	apply("bob wants another image", bob, template(container("side", "side:1"), container("web", "web:2")))
	apply("bob forces the image", bob, template(container("side", "side:1"), container("web", "web:2")), client.ForceOwnership)
	apply("bob leaves a container without image", bob, template(coreapply.Container().WithName("new")))
	apply("alice drops her container", alice, template())
	apply("alice takes its port only", alice, template(coreapply.Container().WithName("web").WithPorts(port)))
	found := &corev1.PodTemplate{}
	err := w.client.Get(ctx, client.ObjectKey{Namespace: w.namespace, Name: "web"}, found)
	w.note("PodTemplate: in the end", found, err)
}

// withoutStatus forgets what controllers may have written meanwhile.
func withoutStatus(found *appsv1.Deployment) *appsv1.Deployment {
	deployment := found.DeepCopy()
	deployment.ResourceVersion = ""
	deployment.Status = appsv1.DeploymentStatus{}
	kept := deployment.ManagedFields[:0]
	for _, entry := range deployment.ManagedFields {
		if entry.Subresource != "status" {
			kept = append(kept, entry)
		}
	}
	deployment.ManagedFields = kept
	delete(deployment.Annotations, "deployment.kubernetes.io/revision")
	return deployment
}
