// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package serving

import (
	"context"
	"fmt"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/controller/openapi/builder"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/managedfields"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/kube-openapi/pkg/spec3"
	"k8s.io/kube-openapi/pkg/validation/spec"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
)

// typeConverter returns the converter with which field managers merge objects. If no OpenAPI
// document can be built from the schemas, the converter deduces types from the objects, so that the
// resource can be served nevertheless. Apply then replaces lists as a whole.
func typeConverter(ctx context.Context, crd *apiextensionsv1.CustomResourceDefinition) (managedfields.TypeConverter, error) {
	models, err := models(crd)
	if err != nil {
		utilruntime.HandleErrorWithContext(ctx, err, "Deducing field types of custom resources from objects, because no OpenAPI models could be built", "customResourceDefinition", crd.Name)
		return managedfields.NewDeducedTypeConverter(), nil
	}
	return managedfields.NewTypeConverter(models, crd.Spec.PreserveUnknownFields)
}

// models returns the OpenAPI models of all versions and of the metadata that they share.
func models(crd *apiextensionsv1.CustomResourceDefinition) (map[string]*spec.Schema, error) {
	var documents []*spec3.OpenAPI
	for _, v := range crd.Spec.Versions {
		document, err := builder.BuildOpenAPIV3(crd, v.Name, builder.Options{})
		if err != nil {
			return nil, fmt.Errorf("version %s: %w", v.Name, err)
		}
		documents = append(documents, document)
	}
	merged, err := builder.MergeSpecsV3(documents...)
	if err != nil {
		return nil, err
	}
	return merged.Components.Schemas, nil
}

// replicasPaths returns the field path of the replicas in each version, nil for a version without a
// scale subresource. By these paths, Kubernetes translates managed fields of the replicas between
// the resource and its scale subresource.
func replicasPaths(crd *apiextensionsv1.CustomResourceDefinition) managedfields.ResourcePathMappings {
	paths := managedfields.ResourcePathMappings{}
	for _, v := range crd.Spec.Versions {
		gv := schema.GroupVersion{Group: crd.Spec.Group, Version: v.Name}.String()
		paths[gv] = nil
		if v.Subresources == nil || v.Subresources.Scale == nil {
			continue
		}
		for name := range strings.SplitSeq(strings.TrimPrefix(v.Subresources.Scale.SpecReplicasPath, "."), ".") {
			paths[gv] = append(paths[gv], fieldpath.PathElement{FieldName: &name})
		}
	}
	return paths
}
