// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package serving

import (
	apiextensionsinternal "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	upstream "k8s.io/apiextensions-apiserver/pkg/registry/customresource"
	"k8s.io/apiextensions-apiserver/pkg/registry/customresource/tableconvertor"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/klog/v2"

	"celador.io/apiextensions-apiserver/pkg/customresource/codecs"
	"celador.io/apiextensions-apiserver/pkg/customresource/schemas"
	"celador.io/apiextensions-apiserver/pkg/customresource/validationrules"
	"celador.io/apiextensions-apiserver/pkg/registry/customresource"
)

// addStorage sets the storage of a version. index is its position in spec.versions.
func (b *build) addStorage(version *VersionEndpoints, index int, typer codecs.Typer, asStored *upstream.REST) error {
	config, err := b.config(index, typer)
	if err != nil {
		return err
	}
	if err := b.addRules(config, index); err != nil {
		return err
	}
	if version.check = b.writeCheck(b.crd.Spec.Versions[index].Name); version.check != nil {
		config.Conversions = version.check
	}
	options := codecs.StorageOptionsGetter{
		RESTOptionsGetter: b.RESTOptions, Encoding: b.converters.encoding, Decoding: b.converters.decoding, Schemas: b.schemas,
		Served: config.Kind.GroupVersion(), Stored: b.stored,
	}
	config.RESTOptions = options
	if b.shared != nil {
		config.RESTOptions = versionOptions{options, b.shared, config.Kind, &version.versioned}
		version.asStored = asStored
	}
	version.Storage, err = customresource.NewStorage(config)
	return err
}

// addRules adds the validation rules and default expressions of a version.
func (b *build) addRules(config *customresource.Config, index int) error {
	v := &b.crd.Spec.Versions[index]
	if defaults := b.schemas.DefaultRules(v.Name); defaults != nil {
		config.Defaults = defaults
	}
	rules := b.schemas.ValidationRules(v.Name)
	if rules == nil {
		return nil
	}
	config.Rules = rules
	if b.Tracer == nil || !v.Served {
		return nil
	}
	traced, err := b.tracedRules(index)
	config.Rules = traced
	return err
}

// config returns the configuration of a version's storage without rules and RESTOptions.
func (b *build) config(index int, typer codecs.Typer) (*customresource.Config, error) {
	v := &b.crd.Spec.Versions[index]
	gv, names := b.gv(v.Name), &b.crd.Status.AcceptedNames
	gvk := gv.WithKind(names.Kind)

	schema, err := schemas.InternalSchema(v.Schema)
	if err != nil {
		return nil, err
	}
	validator, _, err := validation.NewSchemaValidator(schema)
	if err != nil {
		return nil, err
	}
	subresources := &apiextensionsinternal.CustomResourceSubresources{}
	if v.Subresources != nil {
		if err := apiextensionsv1.Convert_v1_CustomResourceSubresources_To_apiextensions_CustomResourceSubresources(v.Subresources, subresources, nil); err != nil {
			return nil, err
		}
	}
	var statusValidator validation.SchemaValidator
	if schema != nil && subresources.Status != nil {
		if property, ok := schema.Properties["status"]; ok {
			if statusValidator, _, err = validation.NewSchemaValidator(&property); err != nil {
				return nil, err
			}
		}
	}
	// If a column is invalid, New returns an error together with a convertor that has the name and
	// the columns before the invalid one. The version is served with these.
	table, err := tableconvertor.New(columns(v))
	if err != nil {
		klog.Background().V(2).Info("Using the default table columns, because additionalPrinterColumns are invalid", "kind", gvk, "err", err)
	}

	config := &customresource.Config{
		Resource: gv.WithResource(names.Plural).GroupResource(), Singular: gv.WithResource(names.Singular).GroupResource(),
		Kind: gvk, ListKind: gv.WithKind(names.ListKind),
		Namespaced: !b.clusterScoped(), Categories: names.Categories,
		Schema: b.schemas.Structural(v.Name), Validator: validator, StatusValidator: statusValidator,
		Status: subresources.Status, Scale: subresources.Scale, ReplicasPaths: b.replicas, SelectableFields: v.SelectableFields,
		Typer: typer, Table: table,
	}
	return config, nil
}

// tracedRules returns the validation rules of a version, which report to the tracer.
func (b *build) tracedRules(index int) (*validationrules.Rules, error) {
	schema, err := schemas.InternalSchema(b.crd.Spec.Versions[index].Schema)
	if err != nil {
		return nil, err
	}
	structural, err := structuralschema.NewStructural(schema)
	if err != nil {
		return nil, err
	}
	path := field.NewPath("spec", "versions").Index(index).Child("schema", "openAPIV3Schema")
	return validationrules.TakeTraced(structural, true, b.Tracer, b.crd.Name, path), nil
}

func (b *build) clusterScoped() bool { return b.crd.Spec.Scope == apiextensionsv1.ClusterScoped }
