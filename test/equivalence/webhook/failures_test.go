// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package webhook

import (
	"fmt"

	v1 "k8s.io/api/admissionregistration/v1"
)

// Audit annotations for webhooks that could not be called.
const (
	validatingFailedOpen = "noted failed-open.validating.webhook.admission.k8s.io/round_0_index_%d=%s.example.com (Metadata)"
	mutatingFailedOpen   = "noted failed-open.mutation.webhook.admission.k8s.io/round_0_index_%d=%s.example.com (Metadata)"
)

// failed returns the error of a request for which a webhook could not be called.
func failed(name, because string) string {
	return fmt.Sprintf("refused (InternalError 500): Internal error occurred: failed calling webhook %q: %s", name+".example.com", because)
}

// failures are examples of failed calls, to which failurePolicy applies.
func failures() map[string]example {
	one := func(answer string, changes ...func(*hook)) scenario {
		return scenario{asking("a", answer, changes...)}
	}
	closed := func(answer, because string, changes ...func(*hook)) example {
		return example{in: one(answer, changes...), want: says(asks("a"), failed("a", because))}
	}
	open := func(answer string, changes ...func(*hook)) example {
		return example{
			in:       one(answer, append(changes, ignoring)...),
			want:     says(asks("a"), fmt.Sprintf(validatingFailedOpen, 0, "a")),
			mutating: says(asks("a"), fmt.Sprintf(mutatingFailedOpen, 0, "a")),
		}
	}
	const post = `failed to call webhook: Post "https://hooks.example.com/0/%s?timeout=10s": %s`
	return map[string]example{
		"other version":            closed("other version", `failed to call webhook: converting (v1beta1.AdmissionReview) to (v1.AdmissionReview): unknown conversion`),
		"other version, ignored":   open("other version"),
		"unknown version":          closed("unknown version", `failed to call webhook: no kind "AdmissionReview" is registered for version "admission.k8s.io/v9" in scheme "pkg/runtime/scheme.go:111"`),
		"other kind":               closed("other kind", `failed to call webhook: no kind "AdmissionReport" is registered for version "admission.k8s.io/v1" in scheme "pkg/runtime/scheme.go:111"`),
		"no response":              closed("no response", "received invalid webhook response: webhook response was absent"),
		"no response, ignored":     open("no response"),
		"no response as v1beta1":   closed("no response", `failed to call webhook: converting (v1.AdmissionReview) to (v1beta1.AdmissionReview): unknown conversion`, reading("v1beta1")),
		"garbage":                  closed("garbage", `failed to call webhook: couldn't get version/kind; json parse error: json: cannot unmarshal string into Go value of type struct { APIVersion string "json:\"apiVersion,omitempty\""; Kind string "json:\"kind,omitempty\"" }`),
		"garbage, ignored":         open("garbage"),
		"nothing":                  closed("nothing", `failed to call webhook: 0-length response with status code: 200 and content type: application/json`),
		"list":                     closed("list", `failed to call webhook: couldn't get version/kind; json parse error: json: cannot unmarshal array into Go value of type struct { APIVersion string "json:\"apiVersion,omitempty\""; Kind string "json:\"kind,omitempty\"" }`),
		"failure":                  closed("failure", `failed to call webhook: nobody home`),
		"failure, ignored":         open("failure"),
		"failure with 200":         closed("failure with 200", `failed to call webhook: converting (v1.Status) to (v1.AdmissionReview): unknown conversion`),
		"crash":                    closed("crash", `failed to call webhook: an error on the server ("unknown") has prevented the request from succeeding`),
		"crash, ignored":           open("crash"),
		"overload":                 closed("overload", `failed to call webhook: the server has received too many requests and has asked us to try again later`),
		"elsewhere":                closed("elsewhere", `failed to call webhook: the server responded with the status code 302 but did not return more information`),
		"unreachable":              closed("unreachable", fmt.Sprintf(post, "unreachable", "connection refused")),
		"unreachable, ignored":     open("unreachable"),
		"hang":                     closed("hang", fmt.Sprintf(post, "hang", "context deadline exceeded")),
		"hang, ignored":            open("hang"),
		"slow":                     {in: one("slow"), want: says(asks("a"))},
		"too slow":                 closed("slow", `failed to call webhook: Post "https://hooks.example.com/0/slow?timeout=2s": context deadline exceeded`, within(new(int32(2)))),
		"no URL":                   {in: one("allow", nowhere), want: says(failed("a", `could not get REST client: failed calling webhook "a.example.com": webhook configuration must have either service or URL`))},
		"no URL, ignored":          {in: one("allow", nowhere, ignoring), want: says(fmt.Sprintf(validatingFailedOpen, 0, "a")), mutating: says(fmt.Sprintf(mutatingFailedOpen, 0, "a"))},
		"unreadable URL":           {in: one("allow", unreadable), want: says(failed("a", `could not get REST client: failed calling webhook "a.example.com": Unparsable URL: parse "https://hooks.example.com:no/allow": invalid port ":no" after host`))},
		"no policy":                closed("unreachable", fmt.Sprintf(post, "unreachable", "connection refused"), func(h *hook) { h.FailurePolicy = nil }),
		"unknown policy":           closed("unreachable", fmt.Sprintf(post, "unreachable", "connection refused"), hoping),
		"panic":                    {in: one("allow", panicking), want: says("refused (InternalError 500): Internal error occurred: ValidatingAdmissionWebhook/a.example.com has panicked: no credentials for panic.example.com:443"), mutating: says("refused ( 0): panic: no credentials for panic.example.com:443")},
		"panic, ignored":           {in: one("allow", panicking, ignoring), want: says(fmt.Sprintf(validatingFailedOpen, 0, "a")), mutating: says("refused ( 0): panic: no credentials for panic.example.com:443")},
		"other UID":                {in: one("other UID"), want: says(asks("a"), failed("a", `received invalid webhook response: expected response.uid="UID", got "other"`))},
		"other UID, ignored":       open("other UID"),
		"other UID as v1beta1":     {in: one("other UID", reading("v1beta1")), want: says(asks("a"))},
		"patch while validating":   {in: one("label"), want: says(asks("a"), failed("a", "received invalid webhook response: validating webhook may not return response.patch")), mutating: says(asks("a")), object: `"hook":"was here"`},
		"type while validating":    {in: one("type of no patch"), want: says(asks("a"), failed("a", "received invalid webhook response: validating webhook may not return response.patchType")), mutating: says(asks("a"), failed("a", "received invalid webhook response: webhook returned response.patchType but not response.patch"))},
		"request runs out of time": {in: one("hang"), on: "create hurried", want: says(asks("a"), failed("a", `failed to call webhook: Post "https://hooks.example.com/0/hang?timeout=2s": context deadline exceeded`))},
		"request runs out of time, ignored": {
			in: one("hang", ignoring), on: "create hurried",
			want:     says(asks("a"), fmt.Sprintf(validatingFailedOpen, 0, "a")),
			mutating: says(asks("a"), fmt.Sprintf(mutatingFailedOpen, 0, "a"), "refused (Timeout 504): Timeout: request did not complete within requested timeout"),
		},
		"index among those that are asked": {
			in:       scenario{asking("a", "allow", when("false")), asking("b", "allow"), asking("c", "unreachable", ignoring)},
			want:     says(asks("b", "c"), fmt.Sprintf(validatingFailedOpen, 1, "c")),
			mutating: says(asks("b", "c"), fmt.Sprintf(mutatingFailedOpen, 2, "c")),
		},
		"one fails open, one denies": {
			in:       scenario{asking("a", "garbage", ignoring), asking("b", "deny"), asking("c", "crash", ignoring)},
			want:     says(asks("a", "b", "c"), denied("b"), fmt.Sprintf(validatingFailedOpen, 0, "a"), fmt.Sprintf(validatingFailedOpen, 2, "c")),
			mutating: says(asks("a", "b"), denied("b"), fmt.Sprintf(mutatingFailedOpen, 0, "a")),
		},
		"many fail": {
			in:       scenario{asking("a", "hang", within(new(int32(1)))), asking("b", "unreachable"), asking("c", "allow", nowhere)},
			want:     says(asks("a", "b"), failed("a", `failed to call webhook: Post "https://hooks.example.com/0/hang?timeout=1s": context deadline exceeded`)),
			mutating: says(asks("a"), failed("a", `failed to call webhook: Post "https://hooks.example.com/0/hang?timeout=1s": context deadline exceeded`)),
		},
	}
}

// dryRuns are examples of dry-run requests, which need webhooks without side effects.
func dryRuns() map[string]example {
	dry := func(class *v1.SideEffectClass, want []string, changes ...func(*hook)) example {
		return example{in: scenario{asking("a", "allow", append(changes, withEffects(class))...)}, on: "create dry", want: want}
	}
	const unsupported = `refused (BadRequest 400): admission webhook "a.example.com" does not support dry run`
	none := dry(nil, says(fmt.Sprintf(validatingFailedOpen, 0, "a")), ignoring)
	none.mutating = says(fmt.Sprintf(mutatingFailedOpen, 0, "a"))
	return map[string]example{
		"none":              dry(new(v1.SideEffectClassNone), says(asks("a"))),
		"none on dry run":   dry(new(v1.SideEffectClassNoneOnDryRun), says(asks("a"))),
		"some":              dry(new(v1.SideEffectClassSome), says(unsupported)),
		"unknown":           dry(new(v1.SideEffectClassUnknown), says(unsupported)),
		"some, ignored":     dry(new(v1.SideEffectClassSome), says(unsupported), ignoring),
		"unset":             dry(nil, says(failed("a", "Webhook SideEffects is nil"))),
		"unset, ignored":    none,
		"some, but it is 0": dry(new(v1.SideEffectClassSome), nil, when("!request.dryRun")),
		"some, no dry run":  {in: scenario{asking("a", "allow", withEffects(new(v1.SideEffectClassSome)))}, want: says(asks("a"))},
		"some, other denies": {
			in: scenario{asking("a", "deny"), asking("b", "allow", withEffects(new(v1.SideEffectClassSome)))}, on: "create dry",
			want: says(asks("a"), denied("a")),
		},
	}
}
