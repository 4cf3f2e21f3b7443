// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/yaml"

	"celador.io/celador/test/integration/testserver"
)

const policiesPath = "/apis/admissionregistration.k8s.io/v1/"

// allGates are the alpha gates of Celador.
var allGates = "--feature-gates=" + strings.Join([]string{
	"ValidatingAdmissionPolicySingleton=true", "ValidatingAdmissionPolicyValidationFailurePolicy=true", "ValidatingAdmissionPolicyFallbackBinding=true",
	"MutatingAdmissionPolicySingleton=true", "MutatingAdmissionPolicyFallbackBinding=true",
	"AdmissionPolicyTypeEnforcement=true", "MutatingAdmissionPolicyInlineExpressions=true", "CustomResourceDefaultExpressions=true", "CustomResourceConversionRules=true",
	"AdmissionPolicyLookups=true", "AdmissionPolicyRequestTime=true", "AdmissionPolicyCauses=true", "AdmissionPolicyExpressionScopes=true",
}, ",")

// An object is a manifest at a path of the API.
type object struct{ path, manifest string }

// onConfigMaps matches the config maps with the value of label test.
func onConfigMaps(label string) string {
	return `
  matchConstraints:
    objectSelector: {matchLabels: {test: ` + label + `}}
    resourceRules: [{apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [configmaps]}]`
}

func configMap(label string) object {
	return object{"/api/v1/namespaces/default/configmaps", "{apiVersion: v1, kind: ConfigMap, metadata: {name: probe, labels: {test: " + label + "}}}"}
}

func box(label string) object {
	return object{"/apis/shared.example.com/v1/boxes", "{apiVersion: shared.example.com/v1, kind: Box, metadata: {name: probe, labels: {test: " + label + "}}, size: 4}"}
}

// A write of Kubernetes' server drops the fields that it does not know, and leaves the generation
// of the object as it is. Celador's server, which runs on the same etcd, does what the stored
// object says, and not what it said before.
func TestKubernetesOnTheSameStore(t *testing.T) {
	ours := start(t, celador, allGates)
	ours.AwaitReady(t)
	for _, tc := range sharedCases {
		for _, o := range tc.objects {
			if text, err := ours.post(t.Context(), o, false); err != nil {
				t.Fatalf("%s: %v: %s", tc.field, err, text)
			}
		}
		ours.awaitResponse(t, tc.probe, tc.before, tc.after)
	}
	// Its controllers would write the status of a new definition.
	theirs := start(t, kubernetes, "--etcd-prefix="+ours.Prefix)
	theirs.AwaitReady(t)
	for _, tc := range sharedCases {
		t.Run(tc.field, func(t *testing.T) {
			ours.awaitResponse(t, tc.probe, tc.before, tc.after)
			before := ours.generation(t, tc.touched)
			err := theirs.client.Patch(types.MergePatchType).AbsPath(tc.touched).Body([]byte(`{"metadata":{"labels":{"touched":"yes"}}}`)).Do(t.Context()).Error()
			switch {
			case tc.refused:
				if !apierrors.IsInvalid(err) {
					t.Errorf("got error %v, want that the object is invalid without the field", err)
				}
				ours.awaitResponse(t, tc.probe, tc.before, tc.after)
				return
			case err != nil:
				t.Fatal(err)
			}
			ours.awaitResponse(t, tc.probe, tc.after, tc.before)
			if after := ours.generation(t, tc.touched); after != before {
				t.Errorf("generation was %d before the write of Kubernetes and is %d, so the test tests nothing", before, after)
			}
			if strings.Contains(tc.touched, "policies/") { // Kubernetes drops the status of mutating policies, too
				ours.awaitStatus(t, tc.touched)
			}
		})
	}
}

// post creates an object, or only validates it.
func (s *server) post(ctx context.Context, o object, dryRun bool) (string, error) {
	body, err := yaml.YAMLToJSON([]byte(o.manifest))
	if err != nil {
		return "", err
	}
	// Without this, the client would repeat requests that the server asks it to repeat.
	request := s.client.Post().MaxRetries(0).AbsPath(o.path).SetHeader("Content-Type", "application/json").Body(body)
	if dryRun {
		request = request.Param("dryRun", "All")
	}
	text, err := request.Do(ctx).Raw()
	return string(text), err
}

// awaitResponse waits until the response to the creation of an object contains want, or if want is
// empty, until the object is admitted and the response does not contain other.
func (s *server) awaitResponse(t *testing.T, probe object, want, other string) {
	t.Helper()
	testserver.Eventually(t, func(ctx context.Context) error {
		text, err := s.post(ctx, probe, true)
		if want == "" && err != nil {
			return fmt.Errorf("got error %v and %s, want it admitted", err, text)
		}
		if !strings.Contains(text, want) || other != "" && strings.Contains(text, other) {
			return fmt.Errorf("got error %v and %s, want %q and not %q", err, text, want, other)
		}
		return nil
	})
}

// awaitStatus waits until the status of a policy has conditions about its generation.
func (s *server) awaitStatus(t *testing.T, path string) {
	t.Helper()
	testserver.Eventually(t, func(ctx context.Context) error {
		text, err := s.client.Get().AbsPath(path).Do(ctx).Raw()
		var stored struct {
			Metadata struct{ Generation int64 }
			Status   struct {
				Conditions []struct{ ObservedGeneration int64 }
			}
		}
		if err == nil {
			err = json.Unmarshal(text, &stored)
		}
		if err == nil && (len(stored.Status.Conditions) == 0 || stored.Status.Conditions[0].ObservedGeneration != stored.Metadata.Generation) {
			err = fmt.Errorf("there are no conditions about the generation: %s", text)
		}
		return err
	})
}

// generation returns the generation of an object.
func (s *server) generation(t *testing.T, path string) int64 {
	t.Helper()
	text, err := s.client.Get().AbsPath(path).Do(t.Context()).Raw()
	var stored struct{ Metadata struct{ Generation int64 } }
	if err == nil {
		err = json.Unmarshal(text, &stored)
	}
	if err != nil {
		t.Fatal(err)
	}
	return stored.Metadata.Generation
}
