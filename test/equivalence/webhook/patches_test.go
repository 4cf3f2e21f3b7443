// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package webhook

import "fmt"

// patching returns an example for mutating webhooks.
func patching(want []string, on, object string, hooks ...hook) example {
	return example{in: hooks, on: on, mutating: want, mutatingOnly: true, object: object}
}

const (
	internal   = "refused (InternalError 500): Internal error occurred: "
	otherName  = "testing value /metadata/name failed: test failed"
	listed     = "json: cannot unmarshal array into Go struct field Deployment.metadata of type v1.ObjectMeta"
	noObject   = `admission webhook "a.example.com" attempted to modify the object, which is not supported for this operation`
	testFailed = "testing value /metadata/labels/app failed: test failed"
)

// patches are examples of JSON patches, which apply to the object in the version that the webhook
// matched.
func patches() map[string]example {
	one := func(answer, object string, want ...string) example {
		return patching(says(append(want, asks("a"))...), "", object, asking("a", answer))
	}
	closed := func(answer, because string) example { return one(answer, "", failed("a", because)) }
	return map[string]example{
		"label":              one("label", `"hook":"was here"`),
		"label and warn":     one("label and warn", `"hook":"was here"`, "warned: labelled", "noted a.example.com/label=yes (Metadata)"),
		"field":              one("shrink", `"Replicas":1,`),
		"defaults":           one("undefault", `"Type":"RollingUpdate"`),
		"nothing":            one("patch nothing", ""),
		"with same":          one("patch with same", ""),
		"badly":              closed("patch badly", `received undecodable patch in webhook response: json: cannot unmarshal object into Go value of type jsonpatch.Patch`),
		"no JSON":            closed("patch no JSON", `received undecodable patch in webhook response: invalid character 'p' looking for beginning of value`),
		"and fail":           one("patch and fail", "", internal+otherName),
		"what is not":        one("patch what is not", "", internal+"error in remove for path: '/spec/nothing': Unable to remove nonexistent key: nothing: missing value"),
		"with a list":        one("patch with a list", "", internal+listed),
		"another way":        closed("patch another way", `unsupported patch type "MergePatch"`),
		"with no type":       closed("patch with no type", `received invalid webhook response: webhook returned response.patch but not response.patchType`),
		"empty type":         closed("patch empty type", `received invalid webhook response: webhook returned invalid response.patchType of ""`),
		"type of no patch":   closed("type of no patch", `received invalid webhook response: webhook returned response.patchType but not response.patch`),
		"deny with patch":    one("deny with patch", "", `refused ( 400): admission webhook "a.example.com" denied the request: no`),
		"badly, ignored":     patching(says(asks("a"), fmt.Sprintf(mutatingFailedOpen, 0, "a")), "", "", asking("a", "patch badly", ignoring)),
		"and fail, ignored":  patching(says(asks("a"), internal+otherName), "", "", asking("a", "patch and fail", ignoring)),
		"with list, ignored": patching(says(asks("a"), internal+listed), "", "", asking("a", "patch with a list", ignoring)),
		"as v1beta1":         patching(says(asks("a")), "", `"hook":"was here"`, asking("a", "label", reading("v1beta1"))),
		"untyped as v1beta1": patching(says(asks("a")), "", `"hook":"was here"`, asking("a", "patch with no type", reading("v1beta1"))),
		"other as v1beta1":   patching(says(asks("a")), "", `"hook":"was here"`, asking("a", "patch another way", reading("v1beta1"))),
		"deletion":           patching(says(asks("a"), internal+noObject), "delete", "", asking("a", "label")),
		"deletion, ignored":  patching(says(asks("a"), internal+noObject), "delete", "", asking("a", "label", ignoring)),
		"no-op on deletion":  patching(says(asks("a")), "delete", "", asking("a", "patch nothing")),
		"connection":         patching(says(asks("a"), internal+`add operation does not apply: doc is missing path: "/metadata/labels/hook": missing value`), "exec", "", asking("a", "label")),
		"dry run":            patching(says(asks("a")), "create dry", `"hook":"was here"`, asking("a", "label")),
		"update":             patching(says(asks("a")), "update", `"hook":"was here"`, asking("a", "label")),
		"subresource":        patching(says(asks("a")), "scale", `"Replicas":1`, asking("a", "shrink")),
		"slow":               patching(says(asks("a")), "", `"hook":"was here"`, asking("a", "slow label")),
		"in another version": patching(says(asks("a")), "", `"Replicas":1,`, asking("a", "shrink", matching(rule("extensions", "v1beta1", "deployments")))),
		"in several versions": patching(says(asks("a", "b", "c")), "", `"Replicas":1,`,
			asking("a", "shrink", matching(rule("extensions", "v1beta1", "deployments"))), asking("b", "label", matching(rule("apps", "v1", "deployments"))), asking("c", "move", matching(rule("extensions", "v1beta1", "deployments")))),
		"seen by the next condition": patching(says(asks("a", "c")), "", `"hook":"was here"`,
			asking("a", "label"), asking("b", "deny", when("!('hook' in object.metadata.labels)")), asking("c", "allow", when("'hook' in object.metadata.labels"))),
		"seen by the same condition": patching(says(asks("a")), "", `"Replicas":1,`,
			asking("a", "shrink", when("object.spec.replicas > 1")), asking("b", "deny", when("object.spec.replicas > 1"))),
		"seen by the object selector": patching(says(asks("a", "c")), "", `"app":"moved"`,
			asking("a", "move"), asking("b", "deny", ofObjects(labelled("app", "shop"))), asking("c", "allow", ofObjects(labelled("app", "moved")))),
		"seen in another version": patching(says(asks("a", "b")), "", `"Replicas":1,`,
			asking("a", "shrink", when("object.spec.replicas > 1")), asking("b", "allow", when("object.spec.replicas == 1"), matching(rule("extensions", "v1beta1", "deployments"))), asking("c", "deny", when("object.spec.replicas > 1"))),
		"lost when one denies later": patching(says(asks("a", "b"), denied("b")), "", "", asking("a", "label"), asking("b", "deny")),
		"custom resource":            patching(says(asks("a")), "create widget", `"hook":"was here"`, asking("a", "label")),
		"custom resource as v2":      patching(says(asks("a")), "create widget", `"replicas":2`, asking("a", "resize", matching(rule("example.com", "v2", "widgets")))),
		"custom resource, seen": patching(says(asks("a")), "create widget", `"replicas":1`,
			asking("a", "shrink", when("object.spec.replicas > 1")), asking("b", "deny", when("object.spec.replicas > 1"))),
		"custom resource, converted back": patching(says(asks("a", "b")), "create widget", `"replicas":1`,
			asking("a", "shrink", when("object.spec.replicas > 1"), matching(rule("example.com", "v1", "widgets"))),
			asking("b", "allow", matching(rule("example.com", "v2", "widgets"))),
			asking("c", "deny", when("object.spec.replicas > 1"), matching(rule("example.com", "v1", "widgets")))),
		"custom resource, changed as v2": patching(says(asks("a", "b")), "create widget", `"replicas":2`,
			asking("a", "allow", when("object.spec.replicas > 2"), matching(rule("example.com", "v1", "widgets"))),
			asking("b", "resize", matching(rule("example.com", "v2", "widgets"))),
			asking("c", "deny", when("object.spec.replicas > 2"), matching(rule("example.com", "v1", "widgets")))),
	}
}

// reinvocations are examples of webhooks that are called again because others changed the object.
func reinvocations() map[string]example {
	return map[string]example{
		"never": patching(says(asks("a", "b")), "", `"hook":"was here"`, asking("a", "allow"), asking("b", "label")),
		"if needed": patching(says(asks("a", "b", "a")), "", `"hook":"was here"`,
			asking("a", "allow", reinvoked), asking("b", "label", reinvoked)),
		"not for its own change":    patching(says(asks("a")), "", `"hook":"was here"`, asking("a", "label", reinvoked)),
		"not for no change":         patching(says(asks("a", "b")), "", "", asking("a", "allow", reinvoked), asking("b", "patch with same")),
		"the earlier ones":          patching(says(asks("a", "b", "c", "d", "a", "c")), "", `"hook":"was here"`, asking("a", "allow", reinvoked), asking("b", "allow"), asking("c", "allow", reinvoked), asking("d", "label")),
		"not the later ones":        patching(says(asks("a", "b", "c", "a")), "", `"hook":"was here"`, asking("a", "allow", reinvoked), asking("b", "label"), asking("c", "allow", reinvoked)),
		"twice, not three times":    patching(says(asks("a", "b", "a")), "", `"hook":"was here 2 times"`, asking("a", "relabel", reinvoked), asking("b", "retitle")),
		"both change":               patching(says(asks("a", "b", "a", "b")), "", `"hook":"was here 2 times","title":"number 2"`, asking("a", "relabel", reinvoked), asking("b", "retitle", reinvoked)),
		"conditions now exclude":    patching(says(asks("a", "b")), "", `"hook":"was here"`, asking("a", "allow", reinvoked, when("!('hook' in object.metadata.labels)")), asking("b", "label")),
		"conditions now include":    patching(says(asks("b")), "", `"hook":"was here"`, asking("a", "allow", reinvoked, when("'hook' in object.metadata.labels")), asking("b", "label")),
		"conditions now fail":       patching(says(asks("a", "b"), forbidden("expression '!has(object.metadata.labels.hook) || object.metadata.labels.missing == 'x'' resulted in error: no such key: missing")), "", `"hook":"was here"`, asking("a", "allow", reinvoked, when("!has(object.metadata.labels.hook) || object.metadata.labels.missing == 'x'")), asking("b", "label")),
		"another plugin changed it": patching(says(asks("a", "b", "a")), "create touched", `"touched":"yes"`, asking("a", "allow", reinvoked), asking("b", "allow")),
		"another plugin did not":    patching(says(asks("a", "b")), "create untouched", "", asking("a", "allow", reinvoked), asking("b", "allow")),
		"all of them changed it":    patching(says(asks("a", "b", "c", "a", "c")), "create touched", `"touched":"yes"`, asking("a", "allow", reinvoked), asking("b", "label"), asking("c", "allow", reinvoked)),
		"the second time fails":     patching(says(asks("a", "b", "a"), internal+testFailed), "", `"app":"moved"`, asking("a", "label shops", reinvoked), asking("b", "move")),
		"fails open in between":     patching(says(asks("a", "b", "a"), fmt.Sprintf(mutatingFailedOpen, 0, "a"), "noted failed-open.mutation.webhook.admission.k8s.io/round_1_index_0=a.example.com (Metadata)"), "", `"hook":"was here"`, asking("a", "unreachable", reinvoked, ignoring), asking("b", "label")),
		"of the same name":          patching(says(asks("a", "a", "a")), "", `"hook":"was here"`, asking("a", "allow", reinvoked), asking("a", "label")),
		"dry run":                   patching(says(asks("a", "b", "a")), "create dry", `"hook":"was here"`, asking("a", "allow", reinvoked), asking("b", "label")),
		"in another version":        patching(says(asks("a", "b", "a")), "", `"hook":"was here"`, asking("a", "allow", reinvoked, matching(rule("extensions", "v1beta1", "deployments"))), asking("b", "label")),
		"custom resource":           patching(says(asks("a", "b", "a")), "create widget", `"replicas":2`, asking("a", "allow", reinvoked, when("object.spec.replicas == 9 || object.spec.replicas == 2")), asking("b", "resize", matching(rule("example.com", "v2", "widgets")))),
		"custom resource, touched":  patching(says(asks("a", "a")), "create widget touched", `"touched":"yes"`, asking("a", "allow", reinvoked, when("!has(object.metadata.labels.none)"))),
	}
}
