// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package schemas

import (
	structuraldefaulting "k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"k8s.io/apimachinery/pkg/runtime"
)

// Defaulter returns a defaulter that sets the defaults of the schemas, then those of the default
// rules, in custom resources of their kind. It passes other objects, such as the options of a
// request, to next.
func (s *Schemas) Defaulter(next runtime.ObjectDefaulter) runtime.ObjectDefaulter {
	return defaulter{s, next}
}

type defaulter struct {
	schemas *Schemas
	next    runtime.ObjectDefaulter
}

func (d defaulter) Default(object runtime.Object) {
	u, ok := object.(runtime.Unstructured)
	if !ok {
		d.next.Default(object)
		return
	}
	gvk := u.GetObjectKind().GroupVersionKind()
	if gvk.GroupKind() != d.schemas.kind {
		d.next.Default(object)
		return
	}
	content := u.UnstructuredContent()
	structuraldefaulting.Default(content, d.schemas.versions[gvk.Version])
	d.schemas.DefaultRules(gvk.Version).Default(content)
}
