// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package live

import (
	"context"
	"errors"
	"fmt"
	"iter"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"
)

// pageSize is the number of objects of a request. It is that of kubectl.
const pageSize = 500

// list yields the objects of a list page by page, and holds one page at a time. If the server has
// compacted the version of the list meanwhile, list continues with the token that the server offers
// for a newer version. An object that was written meanwhile may then be yielded in either version.
func list(ctx context.Context, client dynamic.ResourceInterface, options metav1.ListOptions) iter.Seq2[*unstructured.Unstructured, error] {
	return func(yield func(*unstructured.Unstructured, error) bool) {
		options.Limit = pageSize
		for {
			page, err := client.List(ctx, options)
			if token := newerToken(err); token != "" && token != options.Continue {
				options.Continue = token
				continue
			}
			if err != nil {
				yield(nil, err)
				return
			}
			for i := range page.Items {
				if !yield(&page.Items[i], nil) {
					return
				}
			}
			if options.Continue = page.GetContinue(); options.Continue == "" {
				return
			}
		}
	}
}

// newerToken returns the continue token that the server offers with the error for an expired token.
// With it, a list continues at a newer version. It returns "" for other errors.
func newerToken(err error) string {
	var status apierrors.APIStatus
	if !apierrors.IsResourceExpired(err) || !errors.As(err, &status) {
		return ""
	}
	return status.Status().Continue
}

// named prefixes an error with the resource or group version whose request failed.
func named(resource string, err error) error { return fmt.Errorf("%s: %w", resource, err) }
