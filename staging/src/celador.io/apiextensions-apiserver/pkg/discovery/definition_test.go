// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package discovery_test

import (
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

type definition = apiextensionsv1.CustomResourceDefinition

// define returns an established CRD with the changes. Version v1 is served and stored.
func define(plural, group string, changes ...func(*definition)) *definition {
	singular := strings.TrimSuffix(plural, "s")
	crd := &definition{
		ObjectMeta: metav1.ObjectMeta{Name: plural + "." + group},
		Spec: apiextensionsv1.CustomResourceDefinitionSpec{
			Group: group,
			Scope: apiextensionsv1.ClusterScoped,
			Names: apiextensionsv1.CustomResourceDefinitionNames{
				Plural: plural, Singular: singular, Kind: strings.ToUpper(singular[:1]) + singular[1:],
				ShortNames: []string{singular[:1]}, Categories: []string{"all"},
			},
		},
	}
	crd.Status.AcceptedNames = crd.Spec.Names
	for _, change := range append([]func(*definition){versions("v1 served stored"), condition(apiextensionsv1.Established)}, changes...) {
		change(crd)
	}
	return crd
}

// versions sets the versions, each a name that is followed by properties: served, stored, status,
// scale.
func versions(versions ...string) func(*definition) {
	return func(crd *definition) {
		crd.Spec.Versions = nil
		for _, description := range versions {
			words := strings.Fields(description)
			version := apiextensionsv1.CustomResourceDefinitionVersion{Name: words[0]}
			for _, property := range words[1:] {
				if version.Subresources == nil && (property == "status" || property == "scale") {
					version.Subresources = &apiextensionsv1.CustomResourceSubresources{}
				}
				switch property {
				case "served":
					version.Served = true
				case "stored":
					version.Storage = true
				case "status":
					version.Subresources.Status = &apiextensionsv1.CustomResourceSubresourceStatus{}
				case "scale":
					version.Subresources.Scale = &apiextensionsv1.CustomResourceSubresourceScale{}
				default:
					panic("unknown property " + property)
				}
			}
			crd.Spec.Versions = append(crd.Spec.Versions, version)
		}
	}
}

func condition(name apiextensionsv1.CustomResourceDefinitionConditionType) func(*definition) {
	return func(crd *definition) {
		crd.Status.Conditions = append(crd.Status.Conditions, apiextensionsv1.CustomResourceDefinitionCondition{Type: name, Status: apiextensionsv1.ConditionTrue})
	}
}

func notEstablished(crd *definition) {
	crd.Status.Conditions = []apiextensionsv1.CustomResourceDefinitionCondition{
		{Type: apiextensionsv1.Established, Status: apiextensionsv1.ConditionFalse},
		{Type: apiextensionsv1.NamesAccepted, Status: apiextensionsv1.ConditionTrue},
	}
}

func namespaced(crd *definition) { crd.Spec.Scope = apiextensionsv1.NamespaceScoped }

// renamed requests a kind that is not accepted.
func renamed(crd *definition) { crd.Spec.Names.Kind = "Requested" }
