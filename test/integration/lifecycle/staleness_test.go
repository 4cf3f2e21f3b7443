// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"context"
	"fmt"
	"net"
	"net/url"
	"regexp"
	"strconv"
	"sync"
	"testing"

	"celador.io/celador/test/integration/testserver"
)

// A valve forwards connections to a socket, and holds back what they send while it is closed, like a member of etcd that is paused.
type valve struct {
	listener net.Listener
	socket   string
	// closing is locked while the valve is closed.
	closing sync.RWMutex
}

// newValve returns an open valve for the socket of a URL, and the URL of the valve. It forwards until the end of the test.
func newValve(t *testing.T, to string) (*valve, string) {
	t.Helper()
	target, err := url.Parse(to)
	if err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	v := &valve{listener: listener, socket: target.Path}
	t.Cleanup(func() { listener.Close() })
	go v.accept()
	return v, "http://" + listener.Addr().String()
}

func (v *valve) accept() {
	for {
		client, err := v.listener.Accept()
		if err != nil {
			return
		}
		server, err := net.Dial("unix", v.socket)
		if err != nil {
			client.Close()
			return
		}
		go v.forward(client, server)
		go v.forward(server, client)
	}
}

// pass waits while the valve is closed.
func (v *valve) pass() {
	v.closing.RLock()
	defer v.closing.RUnlock()
}

func (v *valve) forward(from, to net.Conn) {
	defer to.Close()
	buffer := make([]byte, 32<<10)
	for {
		n, err := from.Read(buffer)
		v.pass()
		if err != nil {
			return
		}
		if _, err := to.Write(buffer[:n]); err != nil {
			return
		}
	}
}

// A server that hears nothing from etcd does not go on to admit requests by policies that may be outdated.
func TestMaxPolicyStaleness(t *testing.T) {
	v, address := newValve(t, store.URL())
	s := startAt(t, address, celador, []string{"--max-policy-staleness=1s"})
	s.awaitReady(t)
	for _, o := range []object{{policiesPath + "validatingadmissionpolicies", `
metadata: {name: stale}
spec:
  matchConstraints: {resourceRules: [{apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [configmaps]}]}
  validations: [{expression: "!has(object.metadata.labels) || object.metadata.labels.test != 'refused'", message: refused by stale}]`}, {policiesPath + "validatingadmissionpolicybindings", `
metadata: {name: stale}
spec: {policyName: stale, validationActions: [Deny]}`}} {
		if text, err := s.post(t.Context(), o, false); err != nil {
			t.Fatalf("%v: %s", err, text)
		}
	}
	s.awaitResponse(t, configMap("refused"), "refused by stale", "")
	testserver.Eventually(t, func(context.Context) error {
		if age := s.age(t); age > 1 {
			return fmt.Errorf("policies are %d seconds old while etcd answers", age)
		}
		return nil
	})

	v.closing.Lock()
	open := sync.OnceFunc(v.closing.Unlock)
	defer open()
	s.awaitResponse(t, configMap("refused"), "has not heard from etcd", "")
	testserver.Eventually(t, func(context.Context) error {
		if age := s.age(t); age < 2 {
			return fmt.Errorf("policies are %d seconds old while etcd does not answer", age)
		}
		return nil
	})
	// No policy matches these requests, and they are not stored.
	review := object{"/apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
		"{apiVersion: authorization.k8s.io/v1, kind: SelfSubjectAccessReview, spec: {nonResourceAttributes: {path: /, verb: get}}}"}
	if text, err := s.post(t.Context(), review, true); err != nil {
		t.Errorf("a request that no policy matches: %v: %s", err, text)
	}

	open()
	s.awaitResponse(t, configMap("refused"), "refused by stale", "")
	s.awaitResponse(t, configMap("admitted"), `"kind":"ConfigMap"`, "")
}

var ageLine = regexp.MustCompile(`(?m)^celador_admission_policy_snapshot_age_seconds\{kind="ValidatingAdmissionPolicy"\} (\d+)$`)

// age returns the age of validating policies in seconds.
func (s *server) age(t *testing.T) int {
	t.Helper()
	text, err := s.client.Get().AbsPath("/metrics").Do(t.Context()).Raw()
	if err != nil {
		t.Fatal(err)
	}
	found := ageLine.FindSubmatch(text)
	if found == nil {
		t.Fatal("the age of validating policies is not among the metrics")
	}
	age, err := strconv.Atoi(string(found[1]))
	if err != nil {
		t.Fatal(err)
	}
	return age
}
