// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package foreign

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"reflect"
	"regexp"

	admissionv1 "k8s.io/api/admission/v1"
	authenticationv1 "k8s.io/api/authentication/v1"

	"celador.io/offline/suite"
)

// gatekeeperNotes are notes about how gator verify differs, by the decision of the server.
var gatekeeperNotes = map[suite.Conclusion]string{
	suite.NoMatch:  "the constraint does not match this request, which gator verify takes for no violation. On a server, objects without a namespace are in the namespace default",
	suite.Rejected: "gator verify does not default and validate objects. A server rejects this one before policies see it",
	suite.Error:    "an expression fails, which gator verify takes for a violation",
	suite.Allowed:  "gator verify does not default objects, and knows neither the operation nor the namespace of a request",
}

// testCase adds a case for each assertion of a case. They are skipped if reason is not empty.
func (g *gatekeeperBuilder) testCase(path string, spec *gatekeeperCase, reason string) {
	name := cmp.Or(spec.Name, spec.Object, path)
	if spec.Skip {
		reason = "the case has skip: true"
	}
	if reason != "" {
		g.skip(path, name, reason)
		return
	}
	if len(spec.Assertions) == 0 {
		g.fail(path+".assertions", "required: write violations: yes or violations: no")
	}
	reviewed := g.single(path+".object", spec.Object)
	if reviewed == nil {
		return
	}
	for i := range spec.Assertions {
		c := suite.Case{Name: name, Notes: maps.Clone(gatekeeperNotes)}
		if len(spec.Assertions) > 1 {
			c.Name = fmt.Sprintf("%s [%d]", name, i)
		}
		if !g.review(reviewed, &c) {
			return
		}
		g.inventory(path, spec.Inventory, reviewed, &c)
		assertion := fmt.Sprintf("%s.assertions[%d]", path, i)
		if !g.expect(assertion, &spec.Assertions[i], &c) {
			return
		}
		g.add(path, assertion, c)
	}
}

// inventory adds the namespaces of an inventory to the manifests of a case. Expressions cannot read
// other objects of an inventory.
func (g *gatekeeperBuilder) inventory(path string, files []string, reviewed *object, c *suite.Case) {
	for i, file := range files {
		for _, o := range g.objects(fmt.Sprintf("%s.inventory[%d]", path, i), g.path(file)) {
			if o.GroupVersionKind() == namespaceKind && !o.is(reviewed) {
				g.caseManifest(c, o)
			}
		}
	}
}

// expect sets the expectation of a case. It reports whether the assertion is valid.
func (g *gatekeeperBuilder) expect(path string, assertion *gatekeeperAssertion, c *suite.Case) bool {
	if _, err := regexp.Compile(assertion.Message); err != nil {
		g.fail(path+".message", "not a regular expression: %v", err)
		return false
	}
	number, known := violations(assertion.Violations)
	if !known {
		g.fail(path+".violations", "%v is not supported, want yes, no or a number", assertion.Violations)
		return false
	}
	c.Expect.Policy, c.Expect.MessagePattern = g.policyName, assertion.Message
	switch {
	case number == anyNumber && g.enforced:
		c.Expect.Decision = suite.Denied
	case number == anyNumber:
		c.Expect.Decision, c.Expect.MessagePattern = suite.Allowed, cmp.Or(assertion.Message, anyMessage)
	default:
		c.Expect.Violations = &number
		if number > 0 && g.enforced {
			c.Expect.Decision = suite.Denied // an expression that fails is no violation
		}
		if number == 0 && assertion.Message == "" {
			// Without this, the case would also pass if the server rejected the object before any
			// policy sees it.
			c.Expect.Allowed = new(true)
		}
		delete(c.Notes, suite.Allowed)
	}
	return true
}

// anyNumber stands for at least one violation.
const anyNumber = -1

// violations returns the number of violations that an assertion wants, and reports whether it is
// valid.
func violations(wanted any) (number int, valid bool) {
	switch wanted := wanted.(type) {
	case nil:
		return anyNumber, true
	case bool: // what YAML makes of yes and no without quotes
		if wanted {
			return anyNumber, true
		}
		return 0, true
	case int64:
		return int(wanted), wanted >= 0 && wanted <= math.MaxInt32
	case string:
		number, valid := map[string]int{"yes": anyNumber, "no": 0}[wanted]
		return number, valid
	}
	return 0, false
}

// review sets the request of a case: that of an AdmissionReview or, for another object, its
// creation. It reports whether the object is valid.
func (g *gatekeeperBuilder) review(reviewed *object, c *suite.Case) bool {
	if kind := reviewed.GroupVersionKind(); kind.Group != admissionv1.GroupName || kind.Kind != "AdmissionReview" {
		g.request(c, string(admissionv1.Create), reviewed, nil)
		return true
	}
	var review struct {
		Request json.RawMessage `json:"request"`
	}
	if err := json.Unmarshal(reviewed.origin.Raw(), &review); err != nil || len(review.Request) == 0 {
		g.failAt(reviewed.origin, "request", "required: an object with operation, and with object or oldObject")
		return false
	}
	request := &admissionv1.AdmissionRequest{}
	if !g.check(reviewed.origin.Field("request", review.Request).Decode(request)) {
		return false
	}
	part := func(name string, raw []byte) *object {
		if raw == nil {
			return nil
		}
		return g.decoded(reviewed.origin.Field("request."+name, raw))
	}
	failed := len(g.errs)
	o, old := part("object", request.Object.Raw), part("oldObject", request.OldObject.Raw)
	if len(g.errs) > failed {
		return false
	}
	operation := cmp.Or(request.Operation, admissionv1.Create)
	switch {
	case operation == admissionv1.Create:
		old = nil // a server has none
	case operation == admissionv1.Update && old == nil:
		old = o
	case operation == admissionv1.Delete:
		o = nil
	}
	if o == nil && operation != admissionv1.Delete && operation != admissionv1.Connect || old == nil && operation == admissionv1.Delete {
		g.failAt(reviewed.origin, "request", "required: a DELETE has an oldObject, and other operations have an object")
		return false
	}
	if options := request.Options.Raw; options != nil && operation != admissionv1.Connect {
		if !g.check(reviewed.origin.Field("request.options", options).Decode(&c.Request.Options)) {
			return false
		}
	}
	g.address(request, cmp.Or(o, old), c)
	g.request(c, string(operation), o, old)
	return true
}

// address sets the fields of a request other than its operation and objects. The name and the
// namespace are those of the object of the request, or else those of the AdmissionReview.
func (g *gatekeeperBuilder) address(request *admissionv1.AdmissionRequest, subject *object, c *suite.Case) {
	c.Request.SubResource = request.SubResource
	c.Request.DryRun = request.DryRun != nil && *request.DryRun
	if r := request.Resource; r.Version != "" && r.Resource != "" {
		c.Request.Resource = &r
	}
	if !reflect.DeepEqual(request.UserInfo, authenticationv1.UserInfo{}) {
		c.Request.UserInfo = &request.UserInfo
	}
	if subject == nil || request.Operation == admissionv1.Connect {
		c.Request.Name, c.Request.Namespace = request.Name, request.Namespace
		return
	}
	if subject.GetName() == "" && request.Operation != admissionv1.Create {
		c.Request.Name = request.Name
	}
	if subject.GetNamespace() == "" && subject.GroupVersionKind() != namespaceKind {
		c.Request.Namespace = request.Namespace
	}
}
