// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"fmt"
	"net/http"

	"k8s.io/apiextensions-apiserver/pkg/apihelpers"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/conversion"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/endpoints/handlers"
	"k8s.io/apiserver/pkg/registry/generic"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/apiserver/pkg/storage/storagebackend"
	"k8s.io/kube-openapi/pkg/validation/spec"

	"celador.io/admission/cel/schemaexpression"
	"celador.io/admission/modelschema"
	v1 "celador.io/api/apiextensions/v1"
	"celador.io/apiextensions-apiserver/pkg/apis/apiextensions"
	conversions "celador.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"celador.io/apiextensions-apiserver/pkg/customresource/schemas"
	"celador.io/apiextensions-apiserver/pkg/customresource/serving"
)

// customResource serves the custom resources of a CustomResourceDefinition.
type customResource struct {
	*serving.ServedResource
	crd *apiextensionsv1.CustomResourceDefinition
	// schemas holds the schemas of the versions, by name.
	schemas map[string]*modelschema.Schema
}

// CRDKind is the kind of CustomResourceDefinitions.
const CRDKind = "CustomResourceDefinition"

// IsCRD reports whether the object is a CustomResourceDefinition.
func IsCRD(object *unstructured.Unstructured) bool {
	return object.GroupVersionKind().GroupKind() == apiextensionsv1.Kind(CRDKind)
}

// CustomKind returns the kind of the custom resources of a CustomResourceDefinition.
func CustomKind(definition *unstructured.Unstructured) schema.GroupKind {
	group, _, _ := unstructured.NestedString(definition.Object, "spec", "group")
	kind, _, _ := unstructured.NestedString(definition.Object, "spec", "names", "kind")
	return schema.GroupKind{Group: group, Kind: kind}
}

// define serves the custom resources of a CustomResourceDefinition of the cluster.
func (c *Cluster) define(ctx context.Context, object *unstructured.Unstructured) error {
	r, err := c.resourceOf(object.GroupVersionKind())
	if err != nil {
		return err
	}
	definition, err := r.read(c.objects.get(r.key("", object.GetName())))
	if err != nil {
		return err
	}
	crd, expressions, err := split(definition)
	if err != nil {
		return err
	}
	establish(crd)
	return c.serveCustom(ctx, crd, expressions, nil)
}

// serveCustom serves the custom resources of a CustomResourceDefinition, to which the caller has
// applied establish. tracer gets the evaluations of the validation rules. It is nil if they are not
// traced.
func (c *Cluster) serveCustom(ctx context.Context, crd *apiextensionsv1.CustomResourceDefinition, expressions *apiextensions.ExpressionFields, tracer schemaexpression.Tracer) error {
	// The zero factory can make no webhook converters, and none is needed: establish has removed
	// conversion webhooks.
	builder := &serving.Builder{
		SeparateStorages: true,
		RESTOptions:      customRESTOptions{}, Converters: &conversion.CRConverterFactory{}, Authorizer: c.authorizer, MaxRequestBodyBytes: maxRequestBodyBytes, Tracer: tracer,
	}
	built, err := builder.Build(ctx, crd, expressions)
	if err != nil {
		return err
	}
	group := schema.GroupResource{Group: crd.Spec.Group, Resource: crd.Spec.Names.Plural}
	c.customResources[group] = &customResource{built, crd, schemasOf(crd, c.objectMeta)}
	return nil
}

// split returns a CustomResourceDefinition as Kubernetes' type, and its expressions, for which that
// type has no fields.
func split(definition runtime.Object) (*apiextensionsv1.CustomResourceDefinition, *apiextensions.ExpressionFields, error) {
	switch d := definition.(type) {
	case *apiextensionsv1.CustomResourceDefinition:
		return d, nil, nil
	case *v1.CustomResourceDefinition:
		crd, expressions, err := conversions.Split(d)
		if err == nil && expressions != nil && expressions.ConversionRules {
			crd.Spec.Conversion.Strategy = apiextensionsv1.ConversionStrategyType(v1.ConversionRules)
		}
		return crd, expressions, err
	default:
		return nil, nil, fmt.Errorf("%T is not a CustomResourceDefinition", definition)
	}
}

// establish accepts the names of a CustomResourceDefinition and sets its conditions, as the
// controllers of a server do before it serves custom resources. It replaces a conversion webhook,
// which cannot be called, by the strategy None, which changes only apiVersion.
func establish(crd *apiextensionsv1.CustomResourceDefinition) {
	crd.Status.AcceptedNames = crd.Spec.Names
	for _, condition := range []apiextensionsv1.CustomResourceDefinitionConditionType{apiextensionsv1.NamesAccepted, apiextensionsv1.Established} {
		apihelpers.SetCRDCondition(crd, apiextensionsv1.CustomResourceDefinitionCondition{Type: condition, Status: apiextensionsv1.ConditionTrue})
	}
	if crd.Spec.Conversion == nil || crd.Spec.Conversion.Strategy == apiextensionsv1.WebhookConverter {
		crd.Spec.Conversion = &apiextensionsv1.CustomResourceConversion{Strategy: apiextensionsv1.NoneConverter}
	}
}

// customRESTOptions make registries of custom resources store their objects in layers.
type customRESTOptions struct{}

// GetRESTOptions implements generic.RESTOptionsGetter.
func (customRESTOptions) GetRESTOptions(resource schema.GroupResource, _ runtime.Object) (generic.RESTOptions, error) {
	config := &storagebackend.ConfigForResource{GroupResource: resource}
	config.Codec = unstructured.UnstructuredJSONScheme
	return generic.RESTOptions{
		StorageConfig: config, Decorator: newEncodedMemory, EnableGarbageCollection: true, ResourcePrefix: customPrefix(resource),
	}, nil
}

func customPrefix(resource schema.GroupResource) string {
	return resource.Group + "/" + resource.Resource
}

// serves reports whether custom resources are of the kind.
func (c *customResource) serves(kind schema.GroupKind) bool {
	return c.crd.Spec.Group == kind.Group && c.crd.Spec.Names.Kind == kind.Kind
}

// resource returns the resource or subresource of a version.
func (c *customResource) resource(version, subresource string) (*resource, error) {
	v := c.Version(version)
	group := schema.GroupResource{Group: c.crd.Spec.Group, Resource: c.crd.Spec.Names.Plural}
	if v == nil || !v.Served {
		return nil, fmt.Errorf("CustomResourceDefinition %s does not serve version %q", c.crd.Name, version)
	}
	served := &customVersion{version: v}
	switch {
	case subresource == "":
		served.scope = v.Scope
	case subresource == "status" && v.Storage.Status != nil:
		served.scope, served.updater = v.StatusScope, v.Storage.Status
	case subresource == "scale" && v.Storage.Scale != nil:
		served.scope, served.updater = v.ScaleScope, v.Storage.Scale
	default:
		return nil, fmt.Errorf("CustomResourceDefinition %s has no subresource %q in version %s", c.crd.Name, subresource, version)
	}
	return &resource{
		GroupVersionResource: group.WithVersion(version), subresource: subresource, kind: served.scope.Kind,
		namespaced: c.crd.Spec.Scope == apiextensionsv1.NamespaceScoped, prefix: customPrefix(group), endpoint: served,
	}, nil
}

// customVersion is the endpoint of one version of custom resources.
type customVersion struct {
	version *serving.VersionEndpoints
	scope   *handlers.RequestScope
	// updater is nil unless the resource is a subresource.
	updater rest.Updater
}

// memory returns the storage of the version.
func (c *customVersion) memory() memory {
	return c.version.Storage.CustomResource.Store.Storage.Storage.(memory)
}

func (c *customVersion) decode(data []byte) (runtime.Object, error) {
	scope := c.version.Scope
	info, _ := runtime.SerializerInfoForMediaType(scope.Serializer.SupportedMediaTypes(), runtime.ContentTypeJSON)
	object, _, err := scope.Serializer.DecoderToVersion(info.StrictSerializer, scope.HubGroupVersion).Decode(data, &scope.Kind, c.memory().newObject())
	return object, err
}

func (c *customVersion) interfaces() admission.ObjectInterfaces { return c.scope }

func (c *customVersion) encode(object runtime.Object) (runtime.Object, error) {
	return c.memory().encode(object)
}

func (c *customVersion) read(stored runtime.Object) (runtime.Object, error) {
	object := c.memory().newObject()
	return object, c.memory().decode(stored, object)
}

func (c *customVersion) handler(method string) (http.Handler, error) {
	storage := c.version.Storage.CustomResource
	switch {
	case method == http.MethodPut && c.updater != nil:
		return handlers.UpdateResource(c.updater, c.scope, admissionChain{}), nil
	case method == http.MethodPut:
		return handlers.UpdateResource(storage, c.scope, admissionChain{}), nil
	case method == http.MethodPost && c.updater == nil:
		return handlers.CreateResource(storage, c.scope, admissionChain{}), nil
	case method == http.MethodDelete && c.updater == nil:
		return handlers.DeleteResource(storage, true, c.scope, admissionChain{}), nil
	default:
		return nil, fmt.Errorf("custom resources do not accept this operation on subresource %q", c.scope.Subresource)
	}
}

// schemasOf returns the schemas of the versions of a CustomResourceDefinition, by name. objectMeta
// returns the schema of metadata, or nil.
func schemasOf(crd *apiextensionsv1.CustomResourceDefinition, objectMeta func() *spec.Schema) map[string]*modelschema.Schema {
	found := make(map[string]*modelschema.Schema, len(crd.Spec.Versions))
	for i := range crd.Spec.Versions {
		version := &crd.Spec.Versions[i]
		found[version.Name] = modelschema.New(func() (*spec.Schema, error) {
			return schemas.ForTypeChecks(crd, version, objectMeta()), nil
		})
	}
	return found
}

// Schema implements policy.Schemas for built-in types and for custom resources.
func (c *Cluster) Schema(kind schema.GroupVersionKind) (*modelschema.Schema, error) {
	for _, custom := range c.customResources {
		if found := custom.schemas[kind.Version]; found != nil && custom.serves(kind.GroupKind()) {
			return found, nil
		}
	}
	return c.Base.schemas.Schema(kind)
}

// GetTypeConverter implements mutating.TypeConverters for built-in types and for custom resources.
func (c *Cluster) GetTypeConverter(kind schema.GroupVersionKind) managedfields.TypeConverter {
	for _, custom := range c.customResources {
		if custom.serves(kind.GroupKind()) {
			return custom.TypeConverter()
		}
	}
	return c.Base.GetTypeConverter(kind)
}
