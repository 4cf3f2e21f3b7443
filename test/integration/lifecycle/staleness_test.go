// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"context"
	"fmt"
	"regexp"
	"strconv"
	"testing"

	"celador.io/celador/test/integration/serverprocess"
	"celador.io/celador/test/integration/testserver"
)

// A server that hears nothing from etcd does not go on to admit requests by policies or params that
// may be outdated. It recovers when it hears from etcd again.
func TestMaxPolicyStaleness(t *testing.T) {
	v, address := newValve(t, serverprocess.EtcdURL())
	s := start(t, celador, "--etcd-servers="+address, "--max-policy-staleness=1s")
	s.AwaitReady(t)
	for _, o := range []object{{policiesPath + "validatingadmissionpolicies", `
metadata: {name: stale}
spec:
  paramKind: {apiVersion: v1, kind: ConfigMap}
  matchConstraints: {resourceRules: [{apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [configmaps]}]}
  validations: [{expression: "!has(object.metadata.labels) || object.metadata.labels.test != params.data.refused", message: refused by stale}]`}, {policiesPath + "validatingadmissionpolicybindings", `
metadata: {name: stale}
spec: {policyName: stale, validationActions: [Deny], paramRef: {name: stale, namespace: default, parameterNotFoundAction: Allow}}`}, {"/api/v1/namespaces/default/configmaps", `
metadata: {name: stale}
data: {refused: refused}`}} {
		if text, err := s.post(t.Context(), o, false); err != nil {
			t.Fatalf("%v: %s", err, text)
		}
	}
	s.awaitResponse(t, configMap("refused"), "refused by stale", "")
	s.awaitAges(t, func(age int) bool { return age <= 1 })

	for _, outage := range []struct {
		name       string
		begin, end func()
	}{
		{"etcd is paused", v.closing.Lock, v.closing.Unlock},
		{"etcd is killed", v.cut, func() { v.join(t) }},
		{"etcd is paused again", v.closing.Lock, v.closing.Unlock},
	} {
		outage.begin()
		t.Run(outage.name, func(t *testing.T) {
			s.awaitResponse(t, configMap("refused"), "has not heard from etcd", "")
			s.awaitAges(t, func(age int) bool { return age >= 2 })
			// No policy matches these requests, and they are not stored.
			review := object{"/apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
				"{apiVersion: authorization.k8s.io/v1, kind: SelfSubjectAccessReview, spec: {nonResourceAttributes: {path: /, verb: get}}}"}
			if text, err := s.post(t.Context(), review, true); err != nil {
				t.Errorf("a request that no policy matches: %v: %s", err, text)
			}
		})
		outage.end()
		t.Run("after "+outage.name, func(t *testing.T) {
			s.awaitResponse(t, configMap("refused"), "refused by stale", "")
			s.awaitResponse(t, configMap("admitted"), `"kind":"ConfigMap"`, "")
			s.awaitAges(t, func(age int) bool { return age <= 1 })
		})
	}
}

var ageLines = []*regexp.Regexp{
	regexp.MustCompile(`(?m)^celador_admission_policy_snapshot_age_seconds\{kind="ValidatingAdmissionPolicy"\} (\d+)$`),
	regexp.MustCompile(`(?m)^celador_admission_policy_param_age_seconds\{kind="ValidatingAdmissionPolicy",param_group="",param_kind="ConfigMap",param_version="v1"\} (\d+)$`),
}

// awaitAges waits until the ages of validating policies and of their params in seconds satisfy
// holds.
func (s *server) awaitAges(t *testing.T, holds func(int) bool) {
	t.Helper()
	testserver.Eventually(t, func(ctx context.Context) error {
		text, err := s.client.Get().AbsPath("/metrics").Do(ctx).Raw()
		if err != nil {
			return err
		}
		for _, line := range ageLines {
			found := line.FindSubmatch(text)
			if found == nil {
				return fmt.Errorf("%v is not among the metrics", line)
			}
			if age, err := strconv.Atoi(string(found[1])); err != nil || !holds(age) {
				return fmt.Errorf("got %s", found[0])
			}
		}
		return nil
	})
}
