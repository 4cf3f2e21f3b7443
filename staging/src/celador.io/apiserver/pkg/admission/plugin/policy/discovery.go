// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"context"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"

	"celador.io/apiserver/pkg/admission/plugin/paramsource"
)

// singleRequests returns a discovery that sends each request once. client itself repeats a request
// up to ten times if a server asks for it, and sleeps each time for as long as the server says.
// Until then, the params of a kind would be unknown, and API requests that need them would fail.
func singleRequests(client discovery.DiscoveryInterfaceWithContext) paramsource.Discovery {
	if requests := client.RESTClient(); requests != nil {
		return discoveryRequests{requests}
	}
	return client // a fake
}

type discoveryRequests struct{ client rest.Interface }

// ServerResourcesForGroupVersionWithContext implements paramsource.Discovery.
func (d discoveryRequests) ServerResourcesForGroupVersionWithContext(ctx context.Context, groupVersion string) (*metav1.APIResourceList, error) {
	path := "/apis/" + groupVersion
	if !strings.Contains(groupVersion, "/") {
		path = "/api/" + groupVersion
	}
	resources := &metav1.APIResourceList{}
	return resources, d.client.Get().AbsPath(path).MaxRetries(0).Do(ctx).Into(resources)
}
