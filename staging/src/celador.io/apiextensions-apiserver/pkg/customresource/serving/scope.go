// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package serving

import (
	"maps"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/registry/customresource/tableconvertor"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/apiserver/pkg/endpoints/handlers"
	"k8s.io/client-go/scale/scheme/autoscalingv1"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"celador.io/apiextensions-apiserver/pkg/customresource/codecs"
)

type resetFields = map[fieldpath.APIVersion]*fieldpath.Set

// addScopes adds the scopes of the resource and of its scale subresource. options is the scheme
// with the types of request options, such as ListOptions; typer knows these types from it.
func (b *build) addScopes(version *VersionEndpoints, v *apiextensionsv1.CustomResourceDefinitionVersion, options *runtime.Scheme, typer codecs.Typer) error {
	gv := b.gv(v.Name)
	serializer := codecs.NewSerializer(typer, b.converters.safe, b.schemas)
	main := handlers.RequestScope{
		Namer:                    handlers.ContextBasedNaming{Namer: meta.NewAccessor(), ClusterScoped: b.clusterScoped()},
		Serializer:               serializer,
		StandardSerializers:      serializer.ResourceMediaTypes(),
		ParameterCodec:           runtime.NewParameterCodec(options),
		Creater:                  codecs.Creater{},
		Typer:                    typer,
		Defaulter:                b.schemas.Defaulter(options),
		Convertor:                b.converters.safe,
		UnsafeConvertor:          b.converters.unsafe,
		Authorizer:               b.Authorizer,
		EquivalentResourceMapper: b.equivalents,
		TableConvertor:           version.Storage.CustomResource,
		Resource:                 gv.WithResource(b.crd.Status.AcceptedNames.Plural),
		Kind:                     gv.WithKind(b.crd.Status.AcceptedNames.Kind),
		MetaGroupVersion:         metav1.SchemeGroupVersion,
		// There is no internal version: while a request is handled, objects are in the version of
		// the request.
		HubGroupVersion:     gv,
		MaxRequestBodyBytes: b.MaxRequestBodyBytes,
	}
	var err error
	reset := version.Storage.CustomResource.GetResetFields()
	if version.Scope, err = managed(main, b.types, b.converters.comparing, reset); err != nil {
		return err
	}
	version.Apply = newApply(version.Storage.CustomResource, version.Scope, b.types, b.converters.checked, reset)
	if version.Storage.Scale == nil {
		return nil
	}

	scale := main
	scale.Subresource = "scale"
	scale.Serializer = codecs.NewScaleSerializer()
	scale.Kind = autoscalingv1.SchemeGroupVersion.WithKind("Scale")
	if scale.TableConvertor, err = tableconvertor.New(scaleColumns(v)); err != nil {
		return err
	}
	version.ScaleScope, err = managed(scale, b.types, scale.Convertor, nil)
	return err
}

// addStatusScopes adds the scopes of the status subresource. It needs the storages of all versions:
// an update of the status resets all other fields, and managed fields may refer to them in any
// version.
func (b *build) addStatusScopes(versions map[string]*VersionEndpoints) error {
	reset := resetFields{}
	for _, version := range versions {
		if version.Storage.Status != nil {
			maps.Copy(reset, version.Storage.Status.GetResetFields())
		}
	}
	for _, version := range versions {
		if version.Storage.Status == nil {
			continue
		}
		status := *version.Scope
		status.Subresource = "status"
		var err error
		if version.StatusScope, err = managed(status, b.types, b.converters.comparing, reset); err != nil {
			return err
		}
		version.ApplyStatus = newApply(version.Storage.Status, version.StatusScope, b.types, b.converters.checked, reset)
	}
	return nil
}

// managed returns a copy of the scope with a field manager. The field manager merges objects by the
// type converter, and ignores the fields in reset, which a write resets.
func managed(scope handlers.RequestScope, types managedfields.TypeConverter, converter runtime.ObjectConvertor, reset resetFields) (*handlers.RequestScope, error) {
	manager, err := managedfields.NewDefaultCRDFieldManager(types, converter, scope.Defaulter, scope.Creater,
		scope.Kind, scope.HubGroupVersion, scope.Subresource, fieldpath.NewExcludeFilterSetMap(reset))
	if err != nil {
		return nil, err
	}
	scope.FieldManager = manager
	return &scope, nil
}
