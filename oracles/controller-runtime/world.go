package main

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

type options struct {
	kubeconfig  string
	namespace   string
	count       int
	webhookPort int
	// Of programs.
	claims, leaseName, identity               string
	leaseDuration, renewDeadline, retryPeriod time.Duration
	clients                                   int
	duration                                  time.Duration
}

// world is a server, a namespace in it and everything that is done there.
type world struct {
	options
	recorder
	config *rest.Config
	scheme *runtime.Scheme
	client client.WithWatch
	wire   *wire
	// Definitions and configurations that live outside the namespace.
	made []client.Object
}

func newWorld(options options) (*world, error) {
	config, err := clientcmd.BuildConfigFromFlags("", options.kubeconfig)
	if err != nil {
		return nil, err
	}
	w := &world{options: options, config: config, scheme: runtime.NewScheme(), wire: &wire{}}
	config.QPS = -1
	config.UserAgent = "controller-runtime-oracle"
	config.WarningHandler = w
	config.Wrap(w.wire.wrap)
	if err := clientgoscheme.AddToScheme(w.scheme); err != nil {
		return nil, err
	}
	if err := apiextensionsv1.AddToScheme(w.scheme); err != nil {
		return nil, err
	}
	w.client, err = client.NewWithWatch(config, client.Options{Scheme: w.scheme})
	return w, err
}

func (w *world) prepare(ctx context.Context) error {
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: w.namespace}}
	w.made = append(w.made, namespace)
	return w.client.Create(ctx, namespace)
}

// cleanUp removes what was made. Nobody waits for the namespace to be empty.
func (w *world) cleanUp() {
	w.result.Sent = w.wire.types()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	for _, object := range slices.Backward(w.made) {
		_ = w.client.Delete(ctx, object)
	}
}

// HandleWarningHeader keeps what the server warned about.
func (w *world) HandleWarningHeader(_ int, _ string, text string) {
	w.lock.Lock()
	defer w.lock.Unlock()
	if !slices.Contains(w.result.Warnings, text) {
		w.result.Warnings = append(w.result.Warnings, text)
	}
}

func (w *world) meta(name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: w.namespace, Name: name}
}

func (w *world) configMap(name string, data map[string]string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: w.meta(name), Data: data}
}

// The group of our custom resources: the namespace keeps runs apart.
func (w *world) group() string { return w.namespace + ".example.com" }

func (w *world) gadgetKind() schema.GroupVersionKind {
	return schema.GroupVersionKind{Group: w.group(), Version: "v1", Kind: "Gadget"}
}

func (w *world) gadget(name string, content map[string]any) *unstructured.Unstructured {
	object := &unstructured.Unstructured{Object: map[string]any{}}
	for key, value := range content {
		object.Object[key] = value
	}
	object.SetGroupVersionKind(w.gadgetKind())
	object.SetNamespace(w.namespace)
	object.SetName(name)
	return object
}

// defineGadgets creates the definition of Gadget, with status and scale, and waits until it is served.
func (w *world) defineGadgets(ctx context.Context) error {
	return w.define(ctx, gadgetDefinition(w.group()))
}

func (w *world) define(ctx context.Context, definition *apiextensionsv1.CustomResourceDefinition) error {
	if err := w.client.Create(ctx, definition); err != nil {
		return err
	}
	w.made = append(w.made, definition)
	kind := definition.Spec.Names.Kind
	return w.until(ctx, kind+" is served", func(ctx context.Context) bool {
		for _, version := range definition.Spec.Versions {
			list := &unstructured.UnstructuredList{}
			list.SetGroupVersionKind(schema.GroupVersionKind{Group: definition.Spec.Group, Version: version.Name, Kind: kind + "List"})
			if w.client.List(ctx, list, client.InNamespace(w.namespace)) != nil {
				return false
			}
		}
		return true
	})
}

func (w *world) until(ctx context.Context, what string, holds func(context.Context) bool) error {
	err := wait.PollUntilContextTimeout(ctx, 50*time.Millisecond, 40*time.Second, true,
		func(ctx context.Context) (bool, error) { return holds(ctx), nil })
	if err != nil {
		return fmt.Errorf("still not so: %s: %w", what, err)
	}
	return nil
}

func gadgetDefinition(group string) *apiextensionsv1.CustomResourceDefinition {
	count := apiextensionsv1.JSONSchemaProps{Type: "integer", Format: "int32"}
	text := apiextensionsv1.JSONSchemaProps{Type: "string"}
	key := "name"
	listMap := "map"
	parts := apiextensionsv1.JSONSchemaProps{
		Type: "array", XListType: &listMap, XListMapKeys: []string{key},
		Items: &apiextensionsv1.JSONSchemaPropsOrArray{Schema: &apiextensionsv1.JSONSchemaProps{
			Type: "object", Required: []string{key},
			Properties: map[string]apiextensionsv1.JSONSchemaProps{key: text, "size": count},
		}},
	}
	selector := ".status.selector"
	return &apiextensionsv1.CustomResourceDefinition{
		ObjectMeta: metav1.ObjectMeta{Name: "gadgets." + group},
		Spec: apiextensionsv1.CustomResourceDefinitionSpec{
			Group: group,
			Scope: apiextensionsv1.NamespaceScoped,
			Names: apiextensionsv1.CustomResourceDefinitionNames{Plural: "gadgets", Singular: "gadget", Kind: "Gadget", ListKind: "GadgetList", ShortNames: []string{"gd"}},
			Versions: []apiextensionsv1.CustomResourceDefinitionVersion{{
				Name: "v1", Served: true, Storage: true,
				Subresources: &apiextensionsv1.CustomResourceSubresources{
					Status: &apiextensionsv1.CustomResourceSubresourceStatus{},
					Scale: &apiextensionsv1.CustomResourceSubresourceScale{
						SpecReplicasPath: ".spec.replicas", StatusReplicasPath: ".status.replicas", LabelSelectorPath: &selector,
					},
				},
				Schema: &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{
					Type: "object",
					Properties: map[string]apiextensionsv1.JSONSchemaProps{
						"spec": {Type: "object", Properties: map[string]apiextensionsv1.JSONSchemaProps{
							"replicas": {Type: "integer", Format: "int32", Default: &apiextensionsv1.JSON{Raw: []byte("1")}},
							"color":    {Type: "string", Enum: []apiextensionsv1.JSON{{Raw: []byte(`"red"`)}, {Raw: []byte(`"green"`)}}},
							"text":     text, "parts": parts,
						}},
						"status": {Type: "object", Properties: map[string]apiextensionsv1.JSONSchemaProps{
							"replicas": count, "selector": text, "phase": text,
						}},
					},
				}},
			}},
		},
	}
}

// wire listens to what goes over the connection.
type wire struct {
	lock sync.Mutex
	seen map[string]bool
	// Asked before a request is sent; may change it.
	before func(*http.Request)
}

type roundTrip func(*http.Request) (*http.Response, error)

func (r roundTrip) RoundTrip(request *http.Request) (*http.Response, error) { return r(request) }

func (w *wire) wrap(next http.RoundTripper) http.RoundTripper {
	return roundTrip(func(request *http.Request) (*http.Response, error) {
		w.lock.Lock()
		before := w.before
		if w.seen == nil {
			w.seen = map[string]bool{}
		}
		if kind := request.Header.Get("Content-Type"); kind != "" {
			w.seen[fmt.Sprintf("%s %s %s", request.Method, family(request.URL.Path), kind)] = true
		}
		w.lock.Unlock()
		if before != nil {
			request = request.Clone(request.Context())
			before(request)
		}
		return next.RoundTrip(request)
	})
}

// family is "built-in" for what client-go has types for, "custom" for our own resources.
func family(path string) string {
	if strings.Contains(path, ".example.com/") {
		return "custom"
	}
	if strings.Contains(path, "/apiextensions.k8s.io/") {
		return "definition"
	}
	return "built-in"
}

func (w *wire) types() []string {
	w.lock.Lock()
	defer w.lock.Unlock()
	types := []string{}
	for text := range w.seen {
		types = append(types, text)
	}
	slices.Sort(types)
	return types
}

func (w *wire) intercept(before func(*http.Request)) {
	w.lock.Lock()
	defer w.lock.Unlock()
	w.before = before
}
