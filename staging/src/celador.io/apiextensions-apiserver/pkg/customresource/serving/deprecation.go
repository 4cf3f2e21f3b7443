// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package serving

import (
	"fmt"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/version"
)

// deprecationWarning returns the warning of requests for a deprecated version: the text that the
// version declares, or one that recommends the newest served version that is newer and not
// deprecated. It returns "" for a version that is not deprecated.
func deprecationWarning(crd *apiextensionsv1.CustomResourceDefinitionSpec, v *apiextensionsv1.CustomResourceDefinitionVersion) string {
	if !v.Deprecated {
		return ""
	}
	if v.DeprecationWarning != nil {
		return *v.DeprecationWarning
	}
	newest := v.Name
	for _, other := range crd.Versions {
		if other.Served && !other.Deprecated && version.CompareKubeAwareVersionStrings(other.Name, newest) > 0 {
			newest = other.Name
		}
	}
	warning := fmt.Sprintf("%s/%s %s is deprecated", crd.Group, v.Name, crd.Names.Kind)
	if newest == v.Name {
		return warning
	}
	return fmt.Sprintf("%s; use %s/%s %s", warning, crd.Group, newest, crd.Names.Kind)
}
