// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package typecheck_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The size of variables' types is bounded. A variable whose type is too large is dynamic.
func TestGrowingVariables(t *testing.T) {
	for name, test := range map[string]struct {
		next string // the expression of a variable, from the variable before
		want string // the variables whose type is known not to be int
	}{
		"maps":  {"{variables.%[1]s: variables.%[1]s}", "v1 v2 v3 v4 v5 v6 v7 v8 v9 v11"},
		"lists": {"[[[[[[[[[[variables.%[1]s]]]]]]]]]]", "v1 v2 v3 v4 v5 v6 v7 v8 v9 v10 v11"},
		"same":  {"variables.%[1]s", "v1 v2 v3 v4 v5 v6 v7 v8 v9 v10 v11"},
	} {
		t.Run(name, func(t *testing.T) {
			p := policy("true", variables("v0", "object.metadata.labels"))
			var names []string
			for i := range 11 {
				variables(fmt.Sprint("v", i+1), fmt.Sprintf(test.next, fmt.Sprint("v", i)))(&p.Spec)
				validation(fmt.Sprintf("variables.v%d == 1", i+1))(&p.Spec)
				names = append(names, fmt.Sprint("v", i+1))
			}
			var got []string
			for _, f := range checker(t, mapperFor(deployment), builtIn).CheckValidating(p).Findings {
				for i := range names {
					if f.Field == fmt.Sprintf("spec.validations[%d].expression", i+1) {
						got = append(got, names[i])
					}
				}
			}
			if diff := cmp.Diff(test.want, strings.Join(got, " ")); diff != "" {
				t.Errorf("variables of known types differ (-want +got):\n%s", diff)
			}
		})
	}
}
