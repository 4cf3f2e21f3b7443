// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package webhooks

import (
	"slices"
	"strings"
	"testing"

	"celador.io/celador/test/integration/testserver"
	"celador.io/celador/test/integration/webhookserver"
)

// At verbosity 5 the log names the condition that excluded a request from a webhook.
func TestExcludedRequestsAreLogged(t *testing.T) {
	for _, kind := range []string{validating, mutating} {
		t.Run(kind, func(t *testing.T) {
			ns, hook := admin.Namespace(t, nil), webhookserver.Admit(t, webhookserver.Allow)
			name := testserver.UniqueName("logged")
			configure(t, kind, ns, hook, webhook{name: name, rule: createConfigMaps, conditions: []string{"true", "object.data.mark == 'yes'"}})
			for _, tc := range []struct {
				mark      string
				verbosity int
				want      []string
			}{
				{mark: "no", verbosity: 5, want: []string{"condition-1"}},
				{mark: "no", verbosity: 4},
				{mark: "yes", verbosity: 5},
			} {
				log := testserver.LogAt(t, tc.verbosity, func() { testserver.Must(newConfigMap(t, core, ns, tc.mark))(t) })
				var got []string
				for line := range strings.Lines(log) {
					if _, condition, ok := strings.Cut(line, "matchCondition="); ok && strings.Contains(line, `"`+name+domain+`"`) {
						got = append(got, strings.Split(condition, `"`)[1])
					}
				}
				if !slices.Equal(got, tc.want) {
					t.Errorf("mark %s, -v=%d: got lines about conditions %v, want %v in\n%s", tc.mark, tc.verbosity, got, tc.want, log)
				}
			}
		})
	}
}
