package main

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
)

// Groups that every server here has, whatever else it serves.
var comparedGroups = []string{"v1", "apps/v1", "batch/v1", "autoscaling/v1", "coordination.k8s.io/v1", "rbac.authorization.k8s.io/v1", "apiextensions.k8s.io/v1", "admissionregistration.k8s.io/v1"}

// runDiscovery finds its way: discovery in both forms, the mapping of kinds to resources, OpenAPI v3.
func runDiscovery(ctx context.Context, w *world) error {
	httpClient, err := rest.HTTPClientFor(w.config)
	if err != nil {
		return err
	}
	mapper, err := apiutil.NewDynamicRESTMapper(w.config, httpClient)
	if err != nil {
		return err
	}
	gadget := w.gadgetKind()
	_, err = mapper.RESTMapping(gadget.GroupKind(), gadget.Version)
	w.note("no such kind yet", meta.IsNoMatchError(err), nil)
	if err := w.defineGadgets(ctx); err != nil {
		return err
	}
	direct, err := discovery.NewDiscoveryClientForConfig(w.config)
	if err != nil {
		return err
	}
	// Discovery of upstream follows a definition with a delay.
	err = w.until(ctx, "the group is discovered", func(context.Context) bool {
		found, err := direct.ServerResourcesForGroupVersion(w.group() + "/v1")
		groups, groupsErr := direct.ServerGroups()
		return err == nil && groupsErr == nil && len(found.APIResources) == 3 && hasGroup(groups.Groups, w.group())
	})
	if err != nil {
		return err
	}
	w.noteMappings(mapper)
	w.noteResources(direct)
	return w.noteOpenAPI(ctx, direct)
}

func hasGroup(groups []metav1.APIGroup, name string) bool {
	return slices.ContainsFunc(groups, func(group metav1.APIGroup) bool { return group.Name == name })
}

func (w *world) noteMappings(mapper meta.RESTMapper) {
	kinds := []schema.GroupVersionKind{
		w.gadgetKind(), {Version: "v1", Kind: "Pod"}, {Version: "v1", Kind: "Namespace"}, {Group: "apps", Version: "v1", Kind: "Deployment"},
		{Group: "apiextensions.k8s.io", Version: "v1", Kind: "CustomResourceDefinition"}, {Version: "v1", Kind: "Nothing"},
	}
	for _, kind := range kinds {
		found, err := mapper.RESTMapping(kind.GroupKind(), kind.Version)
		if err != nil {
			w.note("mapping of "+kind.Kind, map[string]any{"isNoMatch": meta.IsNoMatchError(err)}, nil)
			continue
		}
		w.note("mapping of "+kind.Kind, map[string]any{"resource": found.Resource, "scope": found.Scope.Name()}, nil)
	}
	for _, resource := range []string{"deploy", "po", "pods", "gadgets", "gadget"} {
		found, err := mapper.KindsFor(schema.GroupVersionResource{Resource: resource})
		w.note("kinds for "+resource, found, ignoreNoMatch(err))
	}
}

func ignoreNoMatch(err error) error {
	if meta.IsNoMatchError(err) {
		return nil
	}
	return err
}

func (w *world) noteResources(direct *discovery.DiscoveryClient) {
	version, err := direct.ServerVersion()
	if err == nil {
		w.note("version", map[string]string{"major": version.Major, "minor": version.Minor}, nil)
	}
	groups := append([]string{w.group() + "/v1"}, comparedGroups...)
	legacy := direct.WithLegacy()
	for _, group := range groups {
		found, err := direct.ServerResourcesForGroupVersion(group)
		w.note("resources of "+group, withoutObsolete(found), err)
	}
	all, lists, err := direct.ServerGroupsAndResources()
	w.note("groups by aggregated discovery", groupNames(all, groups), err)
	slices.SortFunc(lists, func(a, b *metav1.APIResourceList) int { return strings.Compare(a.GroupVersion, b.GroupVersion) })
	for _, list := range lists {
		if slices.Contains(groups, list.GroupVersion) {
			slices.SortFunc(list.APIResources, func(a, b metav1.APIResource) int { return strings.Compare(a.Name, b.Name) })
			w.note("aggregated resources of "+list.GroupVersion, withoutObsolete(list), nil)
		}
	}
	old, err := legacy.ServerGroups()
	if err == nil {
		var pointers []*metav1.APIGroup
		for at := range old.Groups {
			pointers = append(pointers, &old.Groups[at])
		}
		w.note("groups by legacy discovery", groupNames(pointers, groups), nil)
	} else {
		w.note("groups by legacy discovery", nil, err)
	}
}

func groupNames(groups []*metav1.APIGroup, wanted []string) []*metav1.APIGroup {
	found := []*metav1.APIGroup{}
	for _, group := range groups {
		if slices.Contains(wanted, group.PreferredVersion.GroupVersion) {
			found = append(found, group)
		}
	}
	slices.SortFunc(found, func(a, b *metav1.APIGroup) int { return strings.Compare(a.Name, b.Name) })
	return found
}

func (w *world) noteOpenAPI(ctx context.Context, direct *discovery.DiscoveryClient) error {
	own := "apis/" + w.group() + "/v1"
	var document struct {
		Paths      map[string]any `json:"paths"`
		Components struct {
			Schemas map[string]any `json:"schemas"`
		} `json:"components"`
	}
	err := w.until(ctx, "OpenAPI knows the group", func(context.Context) bool {
		paths, err := direct.OpenAPIV3().Paths()
		if err != nil || paths[own] == nil {
			return false
		}
		data, err := paths[own].Schema("application/json")
		return err == nil && json.Unmarshal(data, &document) == nil
	})
	if err != nil {
		return err
	}
	var paths []string
	for path := range document.Paths {
		paths = append(paths, path)
	}
	slices.Sort(paths)
	w.note("OpenAPI paths", paths, nil)
	for name, found := range document.Components.Schemas {
		if strings.HasSuffix(name, ".Gadget") {
			w.note("OpenAPI schema "+name, withoutDescriptions(found), nil)
		}
	}
	index, err := direct.OpenAPIV3().Paths()
	var known []string
	for _, path := range []string{"api/v1", "apis/apps/v1", "apis/coordination.k8s.io/v1"} {
		if index[path] != nil {
			known = append(known, path)
		}
	}
	w.note("OpenAPI index", known, err)
	return nil
}

// withoutObsolete forgets ComponentStatus, which only a server with a scheduler beside it can have.
func withoutObsolete(list *metav1.APIResourceList) *metav1.APIResourceList {
	if list == nil {
		return nil
	}
	list.APIResources = slices.DeleteFunc(list.APIResources, func(found metav1.APIResource) bool { return found.Kind == "ComponentStatus" })
	return list
}

// withoutDescriptions forgets what the server says to people.
func withoutDescriptions(schema any) any {
	switch found := schema.(type) {
	case map[string]any:
		kept := map[string]any{}
		for key, value := range found {
			if _, isText := value.(string); key != "description" || !isText {
				kept[key] = withoutDescriptions(value)
			}
		}
		return kept
	case []any:
		kept := []any{}
		for _, value := range found {
			kept = append(kept, withoutDescriptions(value))
		}
		return kept
	}
	return schema
}
