// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package customresources

import (
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"strings"
)

// The conversion webhook of all definitions, and its certificate as a caBundle.
var webhookURL, webhookCA = func() (string, string) {
	s := httptest.NewTLSServer(http.HandlerFunc(convert))
	certificate := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw})
	return s.URL + "/convert", base64.StdEncoding.EncodeToString(certificate)
}()

// convert answers conversion reviews: it changes the version, annotates the object with the
// version, and moves spec.moved to spec.f0 and back. Objects with the label "conversion" are
// converted wrongly.
func convert(w http.ResponseWriter, r *http.Request) {
	var review map[string]any
	decoder := json.NewDecoder(r.Body)
	decoder.UseNumber()
	if err := decoder.Decode(&review); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	target := text(review, "request", "desiredAPIVersion")
	result := map[string]any{"status": "Success"}
	converted := []any{}
	for _, o := range list(review, "request", "objects") {
		o := o.(map[string]any)
		o["apiVersion"] = target
		metadata := object(o, "metadata")
		if metadata == nil {
			continue
		}
		switch text(metadata, "labels", "conversion") {
		case "fail":
			result = map[string]any{"status": "Failure", "message": "refused by the webhook"}
		case "drop":
			continue
		case "rename":
			metadata["name"] = "renamed"
		case "kind":
			o["kind"] = "Other"
		case "version":
			o["apiVersion"] = "other.example.com/v1"
		case "uid":
			metadata["uid"] = "other"
		case "status":
			http.Error(w, "out of order", http.StatusInternalServerError)
			return
		}
		if metadata["annotations"] == nil {
			metadata["annotations"] = map[string]any{}
		}
		if annotations := object(metadata, "annotations"); annotations != nil {
			annotations["via-"+target[strings.LastIndex(target, "/")+1:]] = "yes"
		}
		converted = append(converted, o)
	}
	answer := map[string]any{"apiVersion": review["apiVersion"], "kind": "ConversionReview", "response": map[string]any{
		"uid": at(review, "request", "uid"), "convertedObjects": converted, "result": result,
	}}
	w.Header().Set("Content-Type", "application/json")
	if err := json.NewEncoder(w).Encode(answer); err != nil {
		panic(err)
	}
}
