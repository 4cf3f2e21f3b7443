// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package testserver

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	auditv1 "k8s.io/apiserver/pkg/apis/audit/v1"
)

// auditPolicy is an audit policy by which servers log the creation of ConfigMaps, and of the custom
// resources boxes of group audited.example.com.
//
//go:embed audit-policy.yaml
var auditPolicy []byte

// AuditedMain is like Main for a server that writes an audit log, whose path it passes to use.
func AuditedMain(m *testing.M, use func(clients Clients, auditLog string), args ...string) int {
	dir, err := os.MkdirTemp("", "celador-audit-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	policy, log := filepath.Join(dir, "policy.yaml"), filepath.Join(dir, "audit.log")
	if err := os.WriteFile(policy, auditPolicy, 0o600); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return Main(m, func(clients Clients) { use(clients, log) }, append(args, "--audit-policy-file="+policy, "--audit-log-path="+log)...)
}

// AuditEvent returns the only event in an audit log about objects in a namespace. It waits for
// the event, which the server may write after the response.
func AuditEvent(t *testing.T, log, namespace string) auditv1.Event {
	t.Helper()
	return auditEvent(t, log, namespace, func(auditv1.ObjectReference) bool { return true })
}

// AuditEventOf is AuditEvent for the object with a name, among others in the namespace.
func AuditEventOf(t *testing.T, log, namespace, name string) auditv1.Event {
	t.Helper()
	return auditEvent(t, log, namespace, func(object auditv1.ObjectReference) bool { return object.Name == name })
}

func auditEvent(t *testing.T, log, namespace string, isAbout func(auditv1.ObjectReference) bool) auditv1.Event {
	t.Helper()
	var found []auditv1.Event
	Eventually(t, func(context.Context) error {
		text, err := os.ReadFile(log)
		if err != nil {
			return err
		}
		found = nil
		for line := range bytes.Lines(text) {
			var event auditv1.Event
			if !bytes.Contains(line, []byte(namespace)) || !bytes.HasSuffix(line, []byte("\n")) {
				continue
			}
			if err := json.Unmarshal(line, &event); err != nil {
				t.Fatalf("%v in %s", err, line)
			}
			if event.ObjectRef != nil && event.ObjectRef.Namespace == namespace && isAbout(*event.ObjectRef) {
				found = append(found, event)
			}
		}
		if len(found) != 1 {
			return fmt.Errorf("%d events about %s, want one", len(found), namespace)
		}
		return nil
	})
	return found[0]
}
