package main

import (
	"context"
	"encoding/json"
	"net/http"
	"sync"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"
)

// reviews remembers what the webhooks were asked.
type reviews struct {
	lock sync.Mutex
	seen []any
	on   bool
}

func (r *reviews) note(request admission.Request) {
	r.lock.Lock()
	defer r.lock.Unlock()
	if r.on {
		r.seen = append(r.seen, plain(request.AdmissionRequest))
	}
}

func (r *reviews) take() []any {
	r.lock.Lock()
	defer r.lock.Unlock()
	taken := r.seen
	r.seen = nil
	return taken
}

// runAdmission serves a mutating and a validating webhook and sees them work.
func runAdmission(ctx context.Context, w *world) error {
	if err := w.defineGadgets(ctx); err != nil {
		return err
	}
	asked := &reviews{}
	server, err := w.serveWebhooks(ctx, map[string]http.Handler{
		"/mutate":   &admission.Webhook{Handler: asked.handler(mutate)},
		"/validate": &admission.Webhook{Handler: asked.handler(validate)},
	})
	if err != nil {
		return err
	}
	for _, configuration := range w.configurations(server) {
		if err := w.client.Create(ctx, configuration); err != nil {
			return err
		}
		w.made = append(w.made, configuration)
	}
	// Servers need a moment until they use a new configuration.
	err = w.until(ctx, "both webhooks are asked", func(ctx context.Context) bool {
		probe := w.configMap("probe", map[string]string{"deny": "yes"})
		err := w.client.Create(ctx, probe, client.DryRunAll)
		return err != nil && w.client.Create(ctx, w.configMap("probe", nil), client.DryRunAll) == nil && w.isMutated(ctx)
	})
	if err != nil {
		return err
	}
	asked.on = true
	w.askWebhooks(ctx, asked)
	return nil
}

func (w *world) isMutated(ctx context.Context) bool {
	probe := w.gadget("probe", nil)
	return w.client.Create(ctx, probe, client.DryRunAll) == nil && probe.GetLabels()["mutated"] == "yes"
}

func (r *reviews) handler(answer func(admission.Request) admission.Response) admission.Handler {
	return admission.HandlerFunc(func(_ context.Context, request admission.Request) admission.Response {
		r.note(request)
		return answer(request)
	})
}

// mutate labels every object.
func mutate(request admission.Request) admission.Response {
	var object map[string]any
	if err := json.Unmarshal(request.Object.Raw, &object); err != nil {
		return admission.Errored(http.StatusBadRequest, err)
	}
	metadata, _ := object["metadata"].(map[string]any)
	labels, _ := metadata["labels"].(map[string]any)
	if labels == nil {
		labels = map[string]any{}
	}
	labels["mutated"] = "yes"
	metadata["labels"] = labels
	changed, err := json.Marshal(object)
	if err != nil {
		return admission.Errored(http.StatusInternalServerError, err)
	}
	return admission.PatchResponseFromRaw(request.Object.Raw, changed)
}

// validate refuses what asks for it, and what is deleted while it is kept.
func validate(request admission.Request) admission.Response {
	raw := request.Object.Raw
	if len(raw) == 0 {
		raw = request.OldObject.Raw
	}
	var object struct {
		Metadata struct{ Labels map[string]string }
		Data     map[string]string
	}
	if err := json.Unmarshal(raw, &object); err != nil {
		return admission.Errored(http.StatusBadRequest, err)
	}
	switch {
	case object.Data["deny"] == "yes":
		return admission.Denied("it asked for it")
	case object.Data["deny"] == "teapot":
		return admission.Errored(http.StatusTeapot, context.Canceled)
	case request.Operation == "DELETE" && object.Metadata.Labels["keep"] == "yes":
		return admission.Denied("it is kept")
	}
	return admission.Allowed("").WithWarnings("validated " + request.Name)
}

func (w *world) askWebhooks(ctx context.Context, asked *reviews) {
	step := func(name string, object client.Object, do func(client.Object) error) {
		err := do(object)
		w.note(name, object, err)
		w.note(name+": reviews", asked.take(), nil)
	}
	create := func(object client.Object) error { return w.client.Create(ctx, object) }
	step("a ConfigMap", w.configMap("good", map[string]string{"a": "1"}), create)
	step("a denied ConfigMap", w.configMap("bad", map[string]string{"deny": "yes"}), create)
	step("a ConfigMap with an error", w.configMap("tea", map[string]string{"deny": "teapot"}), create)
	step("a Gadget", w.gadget("good", map[string]any{"spec": map[string]any{"color": "red"}}), create)
	step("a ConfigMap that conditions leave out", withLabel(w.configMap("skipped", map[string]string{"deny": "yes"}), "skip", "yes"), create)
	step("an update", w.configMap("good", nil), func(object client.Object) error {
		return w.client.Patch(ctx, object, merge(`{"metadata":{"labels":{"keep":"yes"}}}`))
	})
	step("a status update", w.gadget("good", nil), func(object client.Object) error {
		return w.client.Status().Patch(ctx, object, merge(`{"status":{"phase":"Ready"}}`))
	})
	step("a refused deletion", w.configMap("good", nil), func(object client.Object) error { return w.client.Delete(ctx, object) })
	step("a deletion", w.gadget("good", nil), func(object client.Object) error { return w.client.Delete(ctx, object) })
	step("only tried", w.configMap("dry", nil), func(object client.Object) error {
		return w.client.Create(ctx, object, client.DryRunAll)
	})
	step("webhook that nobody answers, ignored", &corev1.ServiceAccount{ObjectMeta: w.meta("lenient")}, create)
	step("webhook that nobody answers", &corev1.Secret{ObjectMeta: w.meta("strict")}, create)
}

func withLabel(object client.Object, key, value string) client.Object {
	object.SetLabels(map[string]string{key: value})
	return object
}

func (w *world) configurations(server webhookServer) []client.Object {
	none := admissionregistrationv1.SideEffectClassNone
	fail, ignore := admissionregistrationv1.Fail, admissionregistrationv1.Ignore
	here := &metav1.LabelSelector{MatchLabels: map[string]string{"kubernetes.io/metadata.name": w.namespace}}
	config := func(path string) admissionregistrationv1.WebhookClientConfig {
		return admissionregistrationv1.WebhookClientConfig{URL: server.url(path), CABundle: server.caBundle}
	}
	rules := func(group, version, resource string, operations ...admissionregistrationv1.OperationType) []admissionregistrationv1.RuleWithOperations {
		return []admissionregistrationv1.RuleWithOperations{{Operations: operations, Rule: admissionregistrationv1.Rule{
			APIGroups: []string{group}, APIVersions: []string{version}, Resources: []string{resource},
		}}}
	}
	all := []admissionregistrationv1.OperationType{"CREATE", "UPDATE", "DELETE"}
	ours := append(rules("", "v1", "configmaps", all...), rules(w.group(), "*", "gadgets/*", all...)...)
	ours = append(ours, rules(w.group(), "*", "gadgets", all...)...)
	nobody := admissionregistrationv1.WebhookClientConfig{URL: new(string), CABundle: server.caBundle}
	*nobody.URL = "https://127.0.0.1:1/nobody"
	review := []string{"v1"}
	conditions := []admissionregistrationv1.MatchCondition{{
		Name: "not-skipped", Expression: "request.operation == 'DELETE' || !has(object.metadata.labels) || !('skip' in object.metadata.labels)",
	}}
	name := w.group()
	return []client.Object{
		&admissionregistrationv1.MutatingWebhookConfiguration{
			ObjectMeta: metav1.ObjectMeta{Name: name},
			Webhooks: []admissionregistrationv1.MutatingWebhook{{
				Name: "mutate." + name, ClientConfig: config("/mutate"), SideEffects: &none, AdmissionReviewVersions: review,
				NamespaceSelector: here,
				Rules:             append(rules("", "v1", "configmaps", "CREATE"), rules(w.group(), "*", "gadgets", "CREATE")...),
			}},
		},
		&admissionregistrationv1.ValidatingWebhookConfiguration{
			ObjectMeta: metav1.ObjectMeta{Name: name},
			Webhooks: []admissionregistrationv1.ValidatingWebhook{
				{Name: "validate." + name, ClientConfig: config("/validate"), SideEffects: &none, AdmissionReviewVersions: review,
					NamespaceSelector: here, Rules: ours, MatchConditions: conditions},
				{Name: "lenient." + name, ClientConfig: nobody, SideEffects: &none, AdmissionReviewVersions: review,
					NamespaceSelector: here, FailurePolicy: &ignore, Rules: rules("", "v1", "serviceaccounts", "CREATE")},
				{Name: "strict." + name, ClientConfig: nobody, SideEffects: &none, AdmissionReviewVersions: review,
					NamespaceSelector: here, FailurePolicy: &fail, Rules: rules("", "v1", "secrets", "CREATE")},
			},
		},
	}
}
