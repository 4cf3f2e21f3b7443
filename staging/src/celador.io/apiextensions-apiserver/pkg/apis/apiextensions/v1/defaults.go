// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package v1

import (
	"strings"

	v1 "celador.io/api/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// httpsPort is the default port of a webhook's service.
const httpsPort int32 = 443

// addDefaultingFuncs registers the defaults of v1, which are Kubernetes'.
func addDefaultingFuncs(scheme *runtime.Scheme) error {
	scheme.AddTypeDefaultingFunc(&v1.CustomResourceDefinition{}, func(obj any) {
		setDefaults(obj.(*v1.CustomResourceDefinition))
	})
	scheme.AddTypeDefaultingFunc(&v1.CustomResourceDefinitionList{}, func(obj any) {
		list := obj.(*v1.CustomResourceDefinitionList)
		for i := range list.Items {
			setDefaults(&list.Items[i])
		}
	})
	return nil
}

func setDefaults(crd *v1.CustomResourceDefinition) {
	spec, status := &crd.Spec, &crd.Status
	if spec.Names.Singular == "" {
		spec.Names.Singular = strings.ToLower(spec.Names.Kind)
	}
	if spec.Names.ListKind == "" && spec.Names.Kind != "" {
		spec.Names.ListKind = spec.Names.Kind + "List"
	}
	if spec.Conversion == nil {
		spec.Conversion = &v1.CustomResourceConversion{Strategy: v1.NoneConverter}
	}
	if webhook := spec.Conversion.Webhook; webhook != nil && webhook.ClientConfig != nil {
		if service := webhook.ClientConfig.Service; service != nil && service.Port == nil {
			service.Port = new(httpsPort)
		}
	}
	for i := 0; len(status.StoredVersions) == 0 && i < len(spec.Versions); i++ {
		if version := &spec.Versions[i]; version.Storage {
			status.StoredVersions = []string{version.Name}
		}
	}
}
