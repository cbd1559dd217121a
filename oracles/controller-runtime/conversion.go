package main

import (
	"context"
	"net/http"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/webhook/conversion"
)

// runConversion serves the conversion of a kind of its own and reads and writes it in both versions.
func runConversion(ctx context.Context, w *world) error {
	v1 := schema.GroupVersion{Group: w.group(), Version: "v1"}
	v2 := schema.GroupVersion{Group: w.group(), Version: "v2"}
	w.scheme.AddKnownTypeWithName(v1.WithKind("Widget"), &widgetV1{})
	w.scheme.AddKnownTypeWithName(v1.WithKind("WidgetList"), &widgetListV1{})
	w.scheme.AddKnownTypeWithName(v2.WithKind("Widget"), &widgetV2{})
	w.scheme.AddKnownTypeWithName(v2.WithKind("WidgetList"), &widgetListV2{})
	metav1.AddToGroupVersion(w.scheme, v1)
	metav1.AddToGroupVersion(w.scheme, v2)
	registry := conversion.NewRegistry()
	spoke := conversion.NewSpokeConverter(&widgetV1{}, fromHub, toHub)
	converter, err := conversion.NewHubSpokeConverter(&widgetV2{}, spoke)(w.scheme)
	if err != nil {
		return err
	}
	if err := registry.RegisterConverter(v2.WithKind("Widget").GroupKind(), converter); err != nil {
		return err
	}
	server, err := w.serveWebhooks(ctx, map[string]http.Handler{"/convert": conversion.NewWebhookHandler(w.scheme, registry)})
	if err != nil {
		return err
	}
	if err := w.define(ctx, widgetDefinition(w.group(), server)); err != nil {
		return err
	}
	w.useBothVersions(ctx)
	return nil
}

func (w *world) useBothVersions(ctx context.Context) {
	var start widgetListV1
	w.note("nothing yet", &start, w.client.List(ctx, &start, client.InNamespace(w.namespace)))
	old := &widgetV1{ObjectMeta: w.meta("old")}
	old.Spec.HostPort = "a:1"
	w.note("made in v1", old, w.client.Create(ctx, old))
	young := &widgetV2{ObjectMeta: w.meta("young")}
	young.Spec.Host, young.Spec.Port = "b", "2"
	w.note("made in v2", young, w.client.Create(ctx, young))
	for _, name := range []string{"old", "young"} {
		key := client.ObjectKey{Namespace: w.namespace, Name: name}
		first, second := &widgetV1{}, &widgetV2{}
		w.note(name+" in v1", first, w.client.Get(ctx, key, first))
		w.note(name+" in v2", second, w.client.Get(ctx, key, second))
	}
	second := &widgetV2{}
	_ = w.client.Get(ctx, client.ObjectKeyFromObject(old), second)
	second.Spec.Port = "11"
	w.note("changed in v2", second, w.client.Update(ctx, second))
	patched := &widgetV1{ObjectMeta: w.meta("young")}
	w.note("patched in v1", patched, w.client.Patch(ctx, patched, merge(`{"spec":{"hostPort":"c:3"}}`)))
	var lists struct {
		First  widgetListV1
		Second widgetListV2
	}
	w.note("list in v1", &lists.First, w.client.List(ctx, &lists.First, client.InNamespace(w.namespace)))
	w.note("list in v2", &lists.Second, w.client.List(ctx, &lists.Second, client.InNamespace(w.namespace)))
	from := &client.ListOptions{Namespace: w.namespace, Raw: &metav1.ListOptions{ResourceVersion: start.ResourceVersion}}
	watching, err := w.client.Watch(ctx, &widgetListV1{}, from)
	if err != nil {
		w.note("events in v1", nil, err)
		return
	}
	left := 4
	w.note("events in v1", collect(ctx, watching, func(watch.Event) bool { left--; return left == 0 }), nil)
}

func widgetDefinition(group string, server webhookServer) *apiextensionsv1.CustomResourceDefinition {
	texts := func(names ...string) *apiextensionsv1.CustomResourceValidation {
		spec := apiextensionsv1.JSONSchemaProps{Type: "object", Properties: map[string]apiextensionsv1.JSONSchemaProps{}}
		for _, name := range names {
			spec.Properties[name] = apiextensionsv1.JSONSchemaProps{Type: "string"}
		}
		return &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{
			Type: "object", Properties: map[string]apiextensionsv1.JSONSchemaProps{"spec": spec},
		}}
	}
	return &apiextensionsv1.CustomResourceDefinition{
		ObjectMeta: metav1.ObjectMeta{Name: "widgets." + group},
		Spec: apiextensionsv1.CustomResourceDefinitionSpec{
			Group: group,
			Scope: apiextensionsv1.NamespaceScoped,
			Names: apiextensionsv1.CustomResourceDefinitionNames{Plural: "widgets", Singular: "widget", Kind: "Widget", ListKind: "WidgetList"},
			Versions: []apiextensionsv1.CustomResourceDefinitionVersion{
				{Name: "v1", Served: true, Schema: texts("hostPort")},
				{Name: "v2", Served: true, Storage: true, Schema: texts("host", "port")},
			},
			Conversion: &apiextensionsv1.CustomResourceConversion{
				Strategy: apiextensionsv1.WebhookConverter,
				Webhook: &apiextensionsv1.WebhookConversion{
					ConversionReviewVersions: []string{"v1"},
					ClientConfig:             &apiextensionsv1.WebhookClientConfig{URL: server.url("/convert"), CABundle: server.caBundle},
				},
			},
		},
	}
}
