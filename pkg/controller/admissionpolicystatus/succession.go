// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package admissionpolicystatus

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/metadata"

	v1 "celador.io/api/admissionregistration/v1"

	"celador.io/celador/pkg/controller/admissionpolicystatus/servedtypes"
)

// errBehind is for a check that was based on an outdated cache. It is made again soon.
var errBehind = errors.New("custom resource definitions have changed")

var definitions = apiextensionsv1.SchemeGroupVersion.WithResource("customresourcedefinitions")

// succeeds returns errBehind unless a state of a custom resource is newer than another, which
// is of another definition, or of none. Generations do not tell.
func (c *Controller) succeeds(ctx context.Context, r servedtypes.CustomResource, before v1.ObservedCustomResource) error {
	if before.UID != "" && c.types.Gone(before.UID) {
		return nil
	}
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
	if r.Exists() {
		stored, err := client.Get(ctx, r.Definition, metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			return false, nil
		}
		return err == nil && stored.UID == r.UID && stored.Generation == r.Generation, err
	}
	// Nothing says under which name a definition of the kind would be, or whether one is in
	// use by now.
	stored, err := client.List(ctx, metav1.ListOptions{})
	if err != nil {
		return false, err
	}
	return !slices.ContainsFunc(stored.Items, func(definition metav1.PartialObjectMetadata) bool {
		return strings.HasSuffix(definition.Name, "."+r.Group) && c.types.DefinitionVersion(definition.Name) != definition.ResourceVersion
	}), nil
}
