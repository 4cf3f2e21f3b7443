// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package admissionpolicystatus

import (
	"context"
	"errors"
	"fmt"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/metadata"

	"celador.io/celador/pkg/controller/admissionpolicystatus/servedtypes"
)

// errBehind is for a check that was based on an outdated cache. It is made again soon.
var errBehind = errors.New("custom resource definitions have changed")

var definitions = apiextensionsv1.SchemeGroupVersion.WithResource("customresourcedefinitions")

// confirm returns errBehind unless the store has the custom resource in that state now.
func (c *Controller) confirm(ctx context.Context, r servedtypes.CustomResource) error {
	current, err := c.isCurrent(ctx, c.definitions.Resource(definitions), r)
	if err != nil {
		return fmt.Errorf("reading custom resource definitions: %w", err)
	}
	if !current || !c.types.Same(r) {
		return errBehind
	}
	return nil
}

// isCurrent tells whether what is cached about a custom resource is what is stored.
func (c *Controller) isCurrent(ctx context.Context, client metadata.Getter, r servedtypes.CustomResource) (bool, error) {
	if r.Definition != "" {
		stored, err := client.Get(ctx, r.Definition, metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			return c.types.DefinitionVersion(r.Definition) == "", nil
		}
		if err != nil {
			return false, err
		}
		return c.types.DefinitionVersion(r.Definition) == stored.ResourceVersion, nil
	}
	// Nothing says under which name a definition of the kind would be.
	stored, err := client.List(ctx, metav1.ListOptions{})
	if err != nil {
		return false, err
	}
	for _, definition := range stored.Items {
		if strings.HasSuffix(definition.Name, "."+r.Group) && c.types.DefinitionVersion(definition.Name) != definition.ResourceVersion {
			return false, nil
		}
	}
	return true, nil
}
