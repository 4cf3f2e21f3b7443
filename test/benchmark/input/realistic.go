// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package input

import (
	"fmt"
	"strings"

	v1 "celador.io/api/admissionregistration/v1"
)

// A rule is a validation as found in clusters in which several teams have policies of the same sort
// with different limits or names. A %d in its expression stands for the limit or name of a team,
// and values is how many different ones there are.
type rule struct {
	message, expression string
	values              int
}

// rules holds validations for deployments. The object of Deployment satisfies all of them.
var rules = []rule{
	{"too many replicas", "object.spec.replicas <= 5%03d", 1000},
	{"not from the registry", "variables.containers.all(c, c.image.startsWith('registry.example.com/team-%d/') || c.image.startsWith('registry.example.com/shared/'))", 1000},
	{"no limit of memory", "variables.containers.all(c, has(c.resources.limits) && 'memory' in c.resources.limits)", 0},
	{"too much memory", "variables.containers.all(c, quantity(c.resources.limits.memory).compareTo(quantity('1%02dGi')) <= 0)", 50},
	{"no requests", "variables.containers.all(c, has(c.resources.requests) && 'cpu' in c.resources.requests && 'memory' in c.resources.requests)", 0},
	{"privileged", "variables.containers.all(c, !has(c.securityContext) || !has(c.securityContext.privileged) || !c.securityContext.privileged)", 0},
	{"adds capabilities", "variables.containers.all(c, !has(c.securityContext) || !has(c.securityContext.capabilities) || !has(c.securityContext.capabilities.add) || c.securityContext.capabilities.add.all(a, a in ['NET_BIND_SERVICE']))", 0},
	{"uses the host's network", "!has(object.spec.template.spec.hostNetwork) || !object.spec.template.spec.hostNetwork", 0},
	{"uses the host's processes", "(!has(object.spec.template.spec.hostPID) || !object.spec.template.spec.hostPID) && (!has(object.spec.template.spec.hostIPC) || !object.spec.template.spec.hostIPC)", 0},
	{"mounts the host's files", "!has(object.spec.template.spec.volumes) || object.spec.template.spec.volumes.all(v, !has(v.hostPath))", 0},
	{"tag that moves", "variables.containers.all(c, c.image.contains(':') && !c.image.endsWith(':latest'))", 0},
	{"no readiness probe", "variables.containers.all(c, has(c.readinessProbe))", 0},
	{"secret in the environment", "variables.containers.all(c, !has(c.env) || c.env.all(e, !e.name.matches('(?i)password|secret|token') || has(e.valueFrom)))", 0},
	{"low port", "variables.containers.all(c, !has(c.ports) || c.ports.all(p, p.containerPort >= 10%02d))", 25},
	{"no owner", "has(object.metadata.annotations) && 'example.com/owner' in object.metadata.annotations", 0},
	{"unlike its template", "object.spec.selector.matchLabels.all(k, k in object.spec.template.metadata.labels && object.spec.selector.matchLabels[k] == object.spec.template.metadata.labels[k])", 0},
	{"bad name", "object.metadata.name.matches('^[a-z]([-a-z0-9]*[a-z0-9])?$') && size(object.metadata.name) <= 4%d", 10},
	{"default service account", "!has(object.spec.template.spec.serviceAccountName) || object.spec.template.spec.serviceAccountName != 'default'", 0},
	{"not by a developer", "request.userInfo.groups.exists(g, g in ['developers', 'oncall']) || request.operation == 'DELETE'", 0},
}

// text returns the expression with the limit or name of the i-th team.
func (r rule) text(i int) string {
	if !strings.Contains(r.expression, "%") {
		return r.expression
	}
	return fmt.Sprintf(r.expression, i%r.values)
}

// RealisticPolicy returns the i-th policy of a cluster in which many teams have policies: it has
// three of the rules. As in clusters, some of its expressions also occur in other policies, so that
// a plugin can save memory.
func RealisticPolicy(i int) *v1.ValidatingAdmissionPolicy {
	spec := v1.ValidatingAdmissionPolicySpec{
		Variables: []v1.Variable{{Name: "containers", Expression: "object.spec.template.spec.containers"}},
	}
	for position, offset := range []int{0, 5, 11} {
		r := rules[(i+offset)%len(rules)]
		validation := v1.Validation{Expression: r.text(i)}
		if position < 2 {
			validation.MessageExpression = fmt.Sprintf("object.metadata.namespace + '/' + object.metadata.name + ': %s'", strings.ReplaceAll(r.message, "'", "\\'"))
		} else {
			validation.Message = r.message
		}
		spec.Validations = append(spec.Validations, validation)
	}
	return PolicyOf(number("policy", i), "deployments", spec)
}

// Expressions returns the number of expressions in the policies, and the number of distinct texts
// among them.
func (c *Cluster) Expressions() (all, distinct int) {
	texts := map[string]bool{}
	count := func(text string) {
		if text != "" {
			all++
			texts[text] = true
		}
	}
	for _, policy := range c.Policies {
		for _, variable := range policy.Spec.Variables {
			count(variable.Expression)
		}
		for _, validation := range policy.Spec.Validations {
			count(validation.Expression)
			count(validation.MessageExpression)
		}
	}
	return all, len(texts)
}
