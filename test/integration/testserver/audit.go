// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package testserver

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"testing"

	auditv1 "k8s.io/apiserver/pkg/apis/audit/v1"
)

// AuditEvent returns the only event in an audit log about objects in a namespace. The server
// writes it when the response is on its way, so it may come a moment later.
func AuditEvent(t *testing.T, log, namespace string) auditv1.Event {
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
			if event.ObjectRef != nil && event.ObjectRef.Namespace == namespace {
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
