// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package webhook

// reviewed are examples of the versions and contents of reviews.
func reviewed() map[string]example {
	one := func(changes ...func(*hook)) scenario { return scenario{asking("a", "allow", changes...)} }
	const cannotAsk = `refused (InternalError 500): Internal error occurred: failed calling webhook "a.example.com": could not create admission objects: webhook does not accept known AdmissionReview versions (v1, v1beta1)`
	return map[string]example{
		"v1":             {in: one(reading("v1", "v1beta1")), want: says(asks("a"))},
		"v1beta1":        {in: one(reading("v1beta1", "v1")), want: says(asks("a"))},
		"unknown and v1": {in: one(reading("v9", "v1")), want: says(asks("a"))},
		"unknown":        {in: one(reading("v9")), want: says(cannotAsk)},
		"none":           {in: one(reading()), want: says(cannotAsk)},
		"unknown, ignored": {
			in:       one(reading("v9"), ignoring),
			want:     says("noted failed-open.validating.webhook.admission.k8s.io/round_0_index_0=a.example.com (Metadata)"),
			mutating: says("noted failed-open.mutation.webhook.admission.k8s.io/round_0_index_0=a.example.com (Metadata)"),
		},
		"service":                  {in: one(byService), want: says(asks("a"))},
		"time":                     {in: one(within(new(int32(3)))), want: says(asks("a"))},
		"no time of its own":       {in: one(within(nil)), want: says(asks("a"))},
		"time of the request":      {in: one(within(new(int32(30)))), on: "create hurried", want: says(asks("a"))},
		"nobody waits":             {in: one(), on: "create abandoned", want: says("refused (Timeout 504): Timeout: request did not complete within requested timeout"), mutating: says(`refused (InternalError 500): Internal error occurred: failed calling webhook "a.example.com": failed to call webhook: context canceled`)},
		"nobody waits, ignored":    {in: one(ignoring), on: "create abandoned", want: says("refused (Timeout 504): Timeout: request did not complete within requested timeout")},
		"nobody waits, not it":     {in: one(when("false")), on: "create abandoned"},
		"as another version":       {in: one(matching(rule("extensions", "v1beta1", "deployments"))), on: "update", want: says(asks("a"))},
		"as another version, v1b1": {in: one(matching(rule("extensions", "v1beta1", "deployments")), reading("v1beta1")), on: "update", want: says(asks("a"))},
		"as unknown kind":          {in: one(matching(rule("apps", "v9", "deployments"))), want: says(internal + unknownKind), mutating: says(internal + "Internal error occurred: " + unknownKind)},
		"as newer widget":          {in: one(matching(rule("example.com", "v2", "widgets"))), on: "update widget", want: says(asks("a"))},
		"deletion of a widget":     {in: one(matching(rule("example.com", "v2", "widgets"))), on: "delete widget", want: says(asks("a"))},
		"connection":               {in: one(), on: "exec", want: says(asks("a"))},
		"subresource":              {in: one(), on: "scale", want: says(asks("a"))},
	}
}

// answered are examples of valid answers.
func answered() map[string]example {
	one := func(answer string, changes ...func(*hook)) scenario {
		return scenario{asking("a", answer, changes...)}
	}
	const said = `admission webhook "a.example.com" denied the request`
	return map[string]example{
		"allow":              {in: one("allow"), want: says(asks("a"))},
		"allow with status":  {in: one("allow with status"), want: says(asks("a"))},
		"deny":               {in: one("deny"), want: says(asks("a"), denied("a"))},
		"deny, ignored":      {in: one("deny", ignoring), want: says(asks("a"), denied("a"))},
		"deny for a reason":  {in: one("deny for a reason"), want: says(asks("a"), "refused (NotAcceptable 400): "+said+": NotAcceptable")},
		"deny with message":  {in: one("deny with message"), want: says(asks("a"), "refused (Forbidden 403): "+said+": never")},
		"deny with 200":      {in: one("deny with 200"), want: says(asks("a"), "refused ( 400): "+said+": fine")},
		"deny with 700":      {in: one("deny with 700"), want: says(asks("a"), "refused ( 700): "+said+": odd")},
		"deny and warn":      {in: one("deny and warn"), want: says(asks("a"), "refused ( 400): "+said+": no", "warned: careful", "noted a.example.com/why=because (Metadata)")},
		"deny as v1beta1":    {in: one("deny with message", reading("v1beta1")), want: says(asks("a"), "refused (Forbidden 403): "+said+": never")},
		"warn":               {in: one("warn"), want: says(asks("a"), "warned: careful", "warned: ", "warned: really")},
		"note":               {in: one("note"), want: says(asks("a"), "noted a.example.com/a=1 (Metadata)", "noted a.example.com/b= (Metadata)")},
		"note badly":         {in: one("note badly"), want: says(asks("a"), "noted a.example.com/e=3 (Metadata)")},
		"note twice":         {in: scenario{asking("a", "note"), asking("a", "note")}, want: says(asks("a", "a"), "noted a.example.com/a=1 (Metadata)", "noted a.example.com/b= (Metadata)")},
		"several warn":       {in: scenario{asking("a", "warn"), asking("b", "deny and warn"), asking("c", "warn", when("false"))}, want: says(asks("a", "b"), `refused ( 400): admission webhook "b.example.com" denied the request: no`, "warned: careful", "warned: ", "warned: really", "warned: careful", "noted b.example.com/why=because (Metadata)")},
		"several deny":       {in: scenario{asking("a", "allow"), asking("b", "deny"), asking("c", "deny with message")}, want: says(asks("a", "b", "c"), denied("b")), mutating: says(asks("a", "b"), denied("b"))},
		"the excluded deny":  {in: scenario{asking("a", "deny", when("false")), asking("b", "allow"), asking("c", "deny", when(failing), ignoring)}, want: says(asks("b"))},
		"deny a deletion":    {in: one("deny"), on: "delete", want: says(asks("a"), denied("a"))},
		"deny a connection":  {in: one("deny"), on: "exec", want: says(asks("a"), denied("a"))},
		"deny a newer thing": {in: one("deny", matching(rule("example.com", "v2", "widgets"))), on: "create widget", want: says(asks("a"), denied("a"))},
	}
}
