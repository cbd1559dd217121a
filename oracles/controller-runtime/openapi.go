package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"

	openapiv2 "github.com/google/gnostic-models/openapiv2"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"
)

const (
	protobufAsked = "application/com.github.proto-openapi.spec.v2@v1.0+protobuf"
	protobufToday = "application/com.github.proto-openapi.spec.v2.v1.0+protobuf"
)

// What clients ask for, and what they could.
var acceptHeaders = []string{
	"", "*/*", "*", "application/*", "*/json", "application/json", "APPLICATION/JSON", "application/yaml",
	"application/vnd.kubernetes.protobuf", "text/html", "text/html, */*;q=0.1", protobufAsked, protobufToday,
	protobufAsked + ";as=Table;v=v1;g=meta.k8s.io", protobufAsked + ";q=0.5, application/json",
	protobufToday + ", application/json", "application/json, " + protobufToday, "*/*, " + protobufAsked + ";q=0.1",
}

// Definitions that every server here has. Those of discovery, and those that list all groups, are not among them.
var comparedDefinitions = []string{
	"io.k8s.api.core.v1.", "io.k8s.api.apps.v1.", "io.k8s.apimachinery.pkg.api.", "io.k8s.apimachinery.pkg.util.",
	"io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta", "io.k8s.apimachinery.pkg.apis.meta.v1.Status",
}

// runOpenAPI reads the document of OpenAPI v2 in both of its forms.
func runOpenAPI(ctx context.Context, w *world) error {
	if err := w.defineGadgets(ctx); err != nil {
		return err
	}
	httpClient, err := rest.HTTPClientFor(w.config)
	if err != nil {
		return err
	}
	ask := asker{ctx, httpClient, strings.TrimSuffix(w.config.Host, "/") + "/openapi/v2"}
	var text, binary answer
	own := fmt.Sprintf("com.example.%s.v1.Gadget", w.namespace)
	err = w.until(ctx, "OpenAPI v2 knows the group", func(context.Context) bool {
		text, binary = ask.with("Accept", "application/json"), ask.with("Accept", protobufAsked)
		return text.tag() == binary.tag() && bytes.Contains(text.body, []byte(own))
	})
	if err != nil {
		return err
	}
	w.noteForms(text, binary)
	w.noteNegotiation(ask, text.tag())
	direct, err := discovery.NewDiscoveryClientForConfig(w.config)
	if err != nil {
		return err
	}
	document, err := direct.OpenAPISchema()
	if err != nil {
		return err
	}
	return w.noteDefinitions(document, own)
}

// noteForms compares the message with what gnostic, which every client reads it with, makes of the JSON.
func (w *world) noteForms(text, binary answer) {
	parsed, err := openapiv2.ParseDocument(text.body)
	if err != nil {
		w.note("OpenAPI v2 is understood", nil, err)
		return
	}
	expected, err := proto.MarshalOptions{Deterministic: true}.Marshal(parsed)
	w.note("OpenAPI v2 is the same in both forms", bytes.Equal(expected, binary.body), err)
}

func (w *world) noteNegotiation(ask asker, tag string) {
	for _, accept := range acceptHeaders {
		w.note("Accept: "+accept, ask.with("Accept", accept).summary(), nil)
	}
	w.note("If-None-Match: known", ask.with("If-None-Match", tag).summary(), nil)
	w.note("If-None-Match: other", ask.with("If-None-Match", `"other"`).summary(), nil)
}

func (w *world) noteDefinitions(document *openapiv2.Document, own string) error {
	for _, definition := range document.GetDefinitions().GetAdditionalProperties() {
		name := definition.GetName()
		isCompared := slices.ContainsFunc(comparedDefinitions, func(prefix string) bool { return strings.HasPrefix(name, prefix) })
		if name != own && !isCompared {
			continue
		}
		data, err := protojson.Marshal(definition.GetValue())
		if err != nil {
			return err
		}
		var plain any
		if err := json.Unmarshal(data, &plain); err != nil {
			return err
		}
		w.note("definition "+name, withoutDescriptions(plain), nil)
	}
	return nil
}

type asker struct {
	ctx    context.Context
	client *http.Client
	url    string
}

type answer struct {
	status int
	header http.Header
	body   []byte
}

func (a asker) with(header, value string) answer {
	request, err := http.NewRequestWithContext(a.ctx, http.MethodGet, a.url, nil)
	if err != nil {
		return answer{}
	}
	request.Header.Set(header, value)
	response, err := a.client.Do(request)
	if err != nil {
		return answer{}
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return answer{}
	}
	return answer{response.StatusCode, response.Header, body}
}

func (a answer) tag() string { return a.header.Get("ETag") }

// summary is what two servers have in common: how the answer is, not what it is.
func (a answer) summary() map[string]any {
	vary := strings.Split(strings.Join(a.header.Values("Vary"), ", "), ", ")
	slices.Sort(vary)
	return map[string]any{
		"status": a.status, "type": a.header.Get("Content-Type"), "cache": a.header.Get("Cache-Control"),
		"vary": vary, "hasTag": a.tag() != "", "hasBody": len(a.body) > 0,
	}
}
