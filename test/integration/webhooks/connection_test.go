// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package webhooks

import (
	"fmt"
	"testing"

	"celador.io/celador/test/integration/testserver"
	"celador.io/celador/test/integration/webhookserver"
)

// The server opens no connection to a webhook whose conditions exclude the request.
func TestExcludedRequestsOpenNoConnection(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{validating, mutating} {
		t.Run(kind, func(t *testing.T) {
			ns := admin.Namespace(t, nil)
			marked := []string{"object.data.mark == 'yes'"}
			// Webhooks with the same URL would share connections.
			var hooks []*webhookserver.Admission
			for i := range 10 {
				hook := webhookserver.Admit(t, webhookserver.Allow)
				hooks = append(hooks, hook)
				configure(t, kind, ns, hook, webhook{name: fmt.Sprintf("hook-%d", i), rule: createConfigMaps, conditions: marked})
			}
			for range 20 {
				_, err := newConfigMap(t, core, ns, "no")
				testserver.ExpectAdmitted(t, err)
			}
			for i, hook := range hooks {
				if got := hook.Connections(); got != 0 {
					t.Errorf("hook-%d: %d connections", i, got)
				}
				expectCalls(t, hook)
			}
			_, err := newConfigMap(t, core, ns, "yes")
			testserver.ExpectAdmitted(t, err)
			for i, hook := range hooks {
				if got := hook.Connections(); got == 0 {
					t.Errorf("hook-%d: no connection for a request that is not excluded", i)
				}
				expectCalls(t, hook, fmt.Sprintf("hook-%d", i))
			}
		})
	}
}
