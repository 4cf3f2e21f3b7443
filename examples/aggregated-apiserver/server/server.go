// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

// Package server is an aggregated API server that stores orders and enforces the policies of the
// cluster on them.
package server

import (
	"context"
	"fmt"
	"maps"

	"github.com/spf13/cobra"
	extensionsopenapi "k8s.io/apiextensions-apiserver/pkg/generated/openapi"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	utilerrors "k8s.io/apimachinery/pkg/util/errors"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	openapinamer "k8s.io/apiserver/pkg/endpoints/openapi"
	"k8s.io/apiserver/pkg/registry/rest"
	genericapiserver "k8s.io/apiserver/pkg/server"
	genericoptions "k8s.io/apiserver/pkg/server/options"
	"k8s.io/apiserver/pkg/util/compatibility"
	basecompatibility "k8s.io/component-base/compatibility"
	"k8s.io/kube-openapi/pkg/common"

	"celador.io/apiserver/pkg/server/options"
	"celador.io/celador/examples/aggregated-apiserver/bakery/v1"
)

var (
	scheme = runtime.NewScheme()
	codecs = serializer.NewCodecFactory(scheme)
)

func init() {
	utilruntime.Must(v1.AddToScheme(scheme))
	// The types that all API servers share, such as Status, have no group.
	unversioned := schema.GroupVersion{Version: "v1"}
	metav1.AddToGroupVersion(scheme, unversioned)
	scheme.AddUnversionedTypes(unversioned, &metav1.Status{}, &metav1.APIVersions{}, &metav1.APIGroupList{}, &metav1.APIGroup{}, &metav1.APIResourceList{})
}

// NewCommand returns the command that runs the server until its context ends.
func NewCommand() *cobra.Command {
	o := genericoptions.NewRecommendedOptions("/registry/"+v1.GroupVersion.Group, codecs.LegacyCodec(v1.GroupVersion))
	o.Admission.Plugins = options.NewPlugins(o.Admission.Plugins)
	o.ExtraAdmissionInitializers = options.NewInitializers

	command := &cobra.Command{
		Use:          "orders-apiserver",
		Short:        "Serve orders of a bakery",
		Args:         cobra.NoArgs,
		SilenceUsage: true,
		RunE:         func(command *cobra.Command, _ []string) error { return run(command.Context(), o) },
	}
	o.AddFlags(command.Flags())
	compatibility.DefaultComponentGlobalsRegistry.AddFlags(command.Flags())
	return command
}

func run(ctx context.Context, o *genericoptions.RecommendedOptions) error {
	registry := compatibility.DefaultComponentGlobalsRegistry
	if err := registry.Set(); err != nil {
		return err
	}
	if err := utilerrors.NewAggregate(o.Validate()); err != nil {
		return err
	}
	if err := o.SecureServing.MaybeDefaultWithSelfSignedCerts("localhost", nil, nil); err != nil {
		return fmt.Errorf("creating a serving certificate: %w", err)
	}
	config := genericapiserver.NewRecommendedConfig(codecs)
	config.EffectiveVersion = registry.EffectiveVersionFor(basecompatibility.DefaultKubeComponent)
	namer := openapinamer.NewDefinitionNamer(scheme)
	config.OpenAPIConfig = genericapiserver.DefaultOpenAPIConfig(openAPIDefinitions, namer)
	config.OpenAPIV3Config = genericapiserver.DefaultOpenAPIV3Config(openAPIDefinitions, namer)
	if err := o.ApplyTo(config); err != nil {
		return err
	}
	server, err := config.Complete().New("orders-apiserver", genericapiserver.NewEmptyDelegate())
	if err != nil {
		return err
	}
	orders, err := newOrders(config.RESTOptionsGetter)
	if err != nil {
		return err
	}
	group := genericapiserver.NewDefaultAPIGroupInfo(v1.GroupVersion.Group, scheme, metav1.ParameterCodec, codecs)
	group.VersionedResourcesStorageMap[v1.GroupVersion.Version] = map[string]rest.Storage{"orders": orders}
	if err := server.InstallAPIGroup(&group); err != nil {
		return err
	}
	return server.PrepareRun().RunWithContext(ctx)
}

// openAPIDefinitions returns the schemas of the server's types. Those of the types that all API
// servers share, such as ObjectMeta, come from k8s.io/apiextensions-apiserver, which exports them.
func openAPIDefinitions(ref common.ReferenceCallback) map[string]common.OpenAPIDefinition {
	definitions := extensionsopenapi.GetOpenAPIDefinitions(ref)
	maps.Copy(definitions, v1.OpenAPIDefinitions(ref))
	return definitions
}
