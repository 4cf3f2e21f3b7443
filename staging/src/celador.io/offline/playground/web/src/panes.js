// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

// groups lists the panes of the page in the order of its tabs. The names are those of the API, the hints are shown in
// empty panes.
export const groups = [
  {
    label: "Policies",
    panes: [
      { name: "policy", title: "Policy", hint: "ValidatingAdmissionPolicy or MutatingAdmissionPolicy in YAML or JSON" },
      { name: "binding", title: "Binding", hint: "Bindings of the policies. A policy without a binding decides nothing." },
      { name: "params", title: "Params", hint: "Objects that paramRef of a binding selects" },
    ],
  },
  {
    label: "Request",
    panes: [
      { name: "object", title: "Object", hint: "The object that the request creates or updates" },
      { name: "oldObject", title: "Old object", hint: "The stored object that the request updates or deletes" },
      {
        name: "request",
        title: "Request",
        hint: "operation: CREATE\nuserInfo:\n  username: alice\n  groups: [system:authenticated]",
      },
      { name: "rbac", title: "RBAC", hint: "Roles and bindings that answer checks of authorizer" },
      { name: "manifests", title: "Manifests", hint: "Namespaces, CustomResourceDefinitions and other objects of the server" },
    ],
  },
];

// panes lists the panes of all groups.
export const panes = groups.flatMap((group) => group.panes);

// titleOf returns the title of the pane with the given name.
export function titleOf(name) {
  return panes.find((pane) => pane.name === name)?.title ?? name;
}
