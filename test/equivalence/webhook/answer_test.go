// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package webhook

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"
)

// answer is the answer of a webhook to a review. The zero value is a response with only the UID,
// which denies the request.
type answer struct {
	// response holds fields of the response in JSON.
	response string
	// patch is a JSON patch, in which %d stands for the number of calls of the webhook.
	patch string
	// uid, apiVersion and kind replace those of the review in the answer.
	uid, apiVersion, kind string
	// body replaces the whole answer.
	body *string
	// status is the HTTP status code, 200 if zero.
	status int
	// after is the time that the webhook takes to answer, which may exceed its timeout.
	after time.Duration
	// fails makes the connection to the webhook fail.
	fails bool
}

// answers are the answers by name.
var answers = map[string]answer{
	"allow":              {response: `{"allowed": true}`},
	"deny":               {},
	"deny for a reason":  {response: `{"status": {"reason": "NotAcceptable"}}`},
	"deny with message":  {response: `{"status": {"message": "never", "code": 403, "reason": "Forbidden", "details": {"name": "x", "causes": [{"message": "m", "field": "f"}]}}}`},
	"deny with 200":      {response: `{"status": {"status": "Success", "message": "fine", "code": 200}}`},
	"deny with 700":      {response: `{"status": {"message": "odd", "code": 700}}`},
	"deny and warn":      {response: `{"warnings": ["careful"], "auditAnnotations": {"why": "because"}, "status": {"message": "no"}}`},
	"allow with status":  {response: `{"allowed": true, "status": {"message": "well done", "code": 403}}`},
	"warn":               {response: `{"allowed": true, "warnings": ["careful", "", "really"]}`},
	"warn in lines":      {response: `{"allowed": true, "warnings": ["be\ncareful", "two\t words", "plain"]}`},
	"note":               {response: `{"allowed": true, "auditAnnotations": {"a": "1", "b": ""}}`},
	"note badly":         {response: `{"allowed": true, "auditAnnotations": {"a/b": "1", "c d": "2", "e": "3"}}`},
	"label":              {response: `{"allowed": true}`, patch: `[{"op": "add", "path": "/metadata/labels/hook", "value": "was here"}]`},
	"relabel":            {response: `{"allowed": true}`, patch: `[{"op": "add", "path": "/metadata/labels/hook", "value": "was here %d times"}]`},
	"retitle":            {response: `{"allowed": true}`, patch: `[{"op": "add", "path": "/metadata/labels/title", "value": "number %d"}]`},
	"label shops":        {response: `{"allowed": true}`, patch: `[{"op": "test", "path": "/metadata/labels/app", "value": "shop"}, {"op": "add", "path": "/metadata/labels/hook", "value": "was here"}]`},
	"move":               {response: `{"allowed": true}`, patch: `[{"op": "add", "path": "/metadata/labels/app", "value": "moved"}]`},
	"shrink":             {response: `{"allowed": true}`, patch: `[{"op": "replace", "path": "/spec/replicas", "value": 1}]`},
	"resize":             {response: `{"allowed": true}`, patch: `[{"op": "add", "path": "/spec/size", "value": 2}]`},
	"label and warn":     {response: `{"allowed": true, "warnings": ["labelled"], "auditAnnotations": {"label": "yes"}}`, patch: `[{"op": "add", "path": "/metadata/labels/hook", "value": "was here"}]`},
	"undefault":          {response: `{"allowed": true}`, patch: `[{"op": "remove", "path": "/spec/strategy"}]`},
	"patch nothing":      {response: `{"allowed": true}`, patch: `[]`},
	"patch with same":    {response: `{"allowed": true}`, patch: `[{"op": "add", "path": "/metadata/labels/app", "value": "shop"}]`},
	"patch badly":        {response: `{"allowed": true}`, patch: `{"metadata": {}}`},
	"patch no JSON":      {response: `{"allowed": true}`, patch: `patch`},
	"patch and fail":     {response: `{"allowed": true}`, patch: `[{"op": "test", "path": "/metadata/name", "value": "other"}]`},
	"patch what is not":  {response: `{"allowed": true}`, patch: `[{"op": "remove", "path": "/spec/nothing"}]`},
	"patch with a list":  {response: `{"allowed": true}`, patch: `[{"op": "replace", "path": "/metadata", "value": []}]`},
	"patch another way":  {response: `{"allowed": true, "patchType": "MergePatch"}`, patch: `[{"op": "add", "path": "/metadata/labels/hook", "value": "was here"}]`},
	"patch with no type": {response: `{"allowed": true, "patchType": null}`, patch: `[{"op": "add", "path": "/metadata/labels/hook", "value": "was here"}]`},
	"patch empty type":   {response: `{"allowed": true, "patchType": ""}`, patch: `[{"op": "add", "path": "/metadata/labels/hook", "value": "was here"}]`},
	"type of no patch":   {response: `{"allowed": true, "patchType": "JSONPatch"}`},
	"deny with patch":    {response: `{"status": {"message": "no"}}`, patch: `[{"op": "add", "path": "/metadata/labels/hook", "value": "was here"}]`},
	"other UID":          {response: `{"allowed": true}`, uid: "other"},
	"other version":      {response: `{"allowed": true}`, apiVersion: "admission.k8s.io/v1beta1"},
	"unknown version":    {response: `{"allowed": true}`, apiVersion: "admission.k8s.io/v9"},
	"other kind":         {response: `{"allowed": true}`, kind: "AdmissionReport"},
	"no response":        {body: new(`{"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview"}`)},
	"garbage":            {body: new("garbage")},
	"nothing":            {body: new("")},
	"list":               {body: new("[]")},
	"failure":            {body: new(`{"apiVersion": "v1", "kind": "Status", "status": "Failure", "message": "nobody home", "reason": "NotFound", "code": 404}`), status: 404},
	"failure with 200":   {body: new(`{"apiVersion": "v1", "kind": "Status", "status": "Failure", "message": "nobody home", "reason": "NotFound", "code": 404}`)},
	"crash":              {body: new("crashed"), status: 500},
	"overload":           {body: new("later"), status: 429},
	"elsewhere":          {body: new(""), status: 302},
	"unreachable":        {fails: true},
	"slow":               {response: `{"allowed": true}`, after: 3 * time.Second},
	"slow label":         {response: `{"allowed": true}`, patch: `[{"op": "add", "path": "/metadata/labels/hook", "value": "was here"}]`, after: 3 * time.Second},
	"hang":               {response: `{"allowed": true}`, after: time.Hour},
}

// compose returns the HTTP status code and the body of the answer to a review.
func (a answer) compose(review map[string]any, times int) (int, string) {
	status := a.status
	if status == 0 {
		status = http.StatusOK
	}
	if a.body != nil {
		return status, *a.body
	}
	response := map[string]any{}
	if a.patch != "" {
		patch := strings.ReplaceAll(a.patch, "%d", fmt.Sprint(times))
		response["patch"], response["patchType"] = base64.StdEncoding.EncodeToString([]byte(patch)), "JSONPatch"
	}
	if a.response != "" {
		if err := json.Unmarshal([]byte(a.response), &response); err != nil {
			panic(err)
		}
	}
	response["uid"] = either(a.uid, review["request"].(map[string]any)["uid"])
	body, err := json.Marshal(map[string]any{"apiVersion": either(a.apiVersion, review["apiVersion"]), "kind": either(a.kind, review["kind"]), "response": response})
	if err != nil {
		panic(err)
	}
	return status, string(body)
}

func either(preferred string, other any) any {
	if preferred != "" {
		return preferred
	}
	return other
}
