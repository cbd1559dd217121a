package main

import (
	"context"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// A kind with two versions that say the same differently: the first in one text, the second in two.

type widgetV1 struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              struct {
		HostPort string `json:"hostPort"`
	} `json:"spec"`
}

type widgetV2 struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              struct {
		Host string `json:"host"`
		Port string `json:"port"`
	} `json:"spec"`
}

type widgetListV1 struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata"`
	Items           []widgetV1 `json:"items"`
}

type widgetListV2 struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata"`
	Items           []widgetV2 `json:"items"`
}

func (w *widgetV1) DeepCopyObject() runtime.Object {
	copied := *w
	w.ObjectMeta.DeepCopyInto(&copied.ObjectMeta)
	return &copied
}

func (w *widgetV2) DeepCopyObject() runtime.Object {
	copied := *w
	w.ObjectMeta.DeepCopyInto(&copied.ObjectMeta)
	return &copied
}

func (l *widgetListV1) DeepCopyObject() runtime.Object {
	copied := *l
	copied.Items = nil
	for _, item := range l.Items {
		copied.Items = append(copied.Items, *item.DeepCopyObject().(*widgetV1))
	}
	return &copied
}

func (l *widgetListV2) DeepCopyObject() runtime.Object {
	copied := *l
	copied.Items = nil
	for _, item := range l.Items {
		copied.Items = append(copied.Items, *item.DeepCopyObject().(*widgetV2))
	}
	return &copied
}

func (*widgetV2) Hub() {}

func toHub(_ context.Context, from *widgetV1, to *widgetV2) error {
	to.ObjectMeta = from.ObjectMeta
	to.Spec.Host, to.Spec.Port, _ = strings.Cut(from.Spec.HostPort, ":")
	return nil
}

func fromHub(_ context.Context, from *widgetV2, to *widgetV1) error {
	to.ObjectMeta = from.ObjectMeta
	to.Spec.HostPort = from.Spec.Host + ":" + from.Spec.Port
	return nil
}
