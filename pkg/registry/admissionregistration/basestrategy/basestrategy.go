// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

// Package basestrategy has the rules of writes that hold for policies and bindings alike.
package basestrategy

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/storage/names"

	"celador.io/celador/pkg/registry/admissionregistration/scheme"
	"celador.io/celador/pkg/registry/admissionregistration/staticname"
)

// Strategy is what is the same in the strategies of policies and bindings, which embed it.
// Safe for concurrent use.
type Strategy struct {
	runtime.ObjectTyper
	names.NameGenerator
}

// New returns a Strategy for the kinds of the group.
func New() Strategy { return Strategy{scheme.Scheme, names.SimpleNameGenerator} }

// NamespaceScoped returns false.
func (Strategy) NamespaceScoped() bool { return false }

// AllowCreateOnUpdate returns false: PUT does not create.
func (Strategy) AllowCreateOnUpdate(context.Context) bool { return false }

// AllowUnconditionalUpdate returns false: an update names the resourceVersion
// that it is based on.
func (Strategy) AllowUnconditionalUpdate(context.Context) bool { return false }

// Canonicalize leaves the object as it is.
func (Strategy) Canonicalize(runtime.Object) {}

// WarningsOnCreate warns of a name that manifest files may own one day.
func (Strategy) WarningsOnCreate(_ context.Context, obj runtime.Object) []string {
	return staticname.WarningsOnCreate(obj.(metav1.Object).GetName())
}

// WarningsOnUpdate warns of a name that manifest files own.
func (Strategy) WarningsOnUpdate(_ context.Context, obj, _ runtime.Object) []string {
	return staticname.WarningsOnUpdate(obj.(metav1.Object).GetName())
}
