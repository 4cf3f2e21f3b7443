// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"fmt"
	"runtime/debug"
	"strings"
	"time"

	"github.com/spdx/tools-golang/json"
	"github.com/spdx/tools-golang/spdx/v2/common"
	spdx "github.com/spdx/tools-golang/spdx/v2/v2_3"
)

// sbom returns the bill of materials in the JSON form of SPDX 2.3: the program and the Go modules
// in it.
func (b *binary) sbom(created time.Time) ([]byte, error) {
	program := &spdx.Package{
		PackageName: b.name, PackageSPDXIdentifier: common.ElementID("Package-" + b.name), PackageVersion: b.version,
		PackageFileName: "/" + b.path(), PackageDownloadLocation: "NOASSERTION", PackageLicenseDeclared: "Apache-2.0", PackageLicenseConcluded: "NOASSERTION",
		PackageCopyrightText: "NOASSERTION", PrimaryPackagePurpose: "APPLICATION", PackageSourceInfo: "linux/" + b.architecture + ", commit " + b.revision,
		PackageChecksums: []common.Checksum{{Algorithm: common.SHA256, Value: b.checksum()}},
	}
	document := &spdx.Document{
		SPDXVersion: spdx.Version, DataLicense: spdx.DataLicense, SPDXIdentifier: "DOCUMENT", DocumentName: b.name + " " + b.version,
		// Different documents need different namespaces.
		DocumentNamespace: "https://celador.io/spdx/" + b.name + "/" + b.checksum(),
		CreationInfo: &spdx.CreationInfo{
			Creators: []common.Creator{{CreatorType: "Organization", Creator: "The Celador Authors"}}, Created: created.Format(time.RFC3339),
		},
		Packages:      []*spdx.Package{program},
		Relationships: []*spdx.Relationship{relationship("DOCUMENT", "DESCRIBES", program)},
	}
	for i, module := range b.modules {
		p := modulePackage(fmt.Sprintf("Package-module-%d", i), module)
		document.Packages = append(document.Packages, p)
		document.Relationships = append(document.Relationships, relationship(program.PackageSPDXIdentifier, "CONTAINS", p))
	}
	var out bytes.Buffer
	err := json.Write(document, &out, json.Indent(" "))
	return out.Bytes(), err
}

// modulePackage describes a module with its package URL, by which scanners find its
// vulnerabilities. A module that is a directory of this repository has no version.
func modulePackage(id string, module *debug.Module) *spdx.Package {
	if module.Replace != nil && module.Replace.Version != "" {
		module = module.Replace
	}
	p := &spdx.Package{
		PackageName: module.Path, PackageSPDXIdentifier: common.ElementID(id), PackageVersion: module.Version,
		PackageDownloadLocation: "NOASSERTION", PackageLicenseConcluded: "NOASSERTION", PackageLicenseDeclared: "NOASSERTION", PackageCopyrightText: "NOASSERTION",
		PackageExternalReferences: []*spdx.PackageExternalReference{
			{Category: common.CategoryPackageManager, RefType: common.TypePackageManagerPURL, Locator: packageURL(module)},
		},
	}
	return p
}

func packageURL(module *debug.Module) string {
	url := "pkg:golang/" + module.Path
	if module.Version != "" && module.Version != "(devel)" {
		url += "@" + strings.ReplaceAll(module.Version, "+", "%2B")
	}
	return url
}

func relationship(from common.ElementID, kind string, to *spdx.Package) *spdx.Relationship {
	return &spdx.Relationship{
		RefA: common.DocElementID{ElementRefID: from}, RefB: common.DocElementID{ElementRefID: to.PackageSPDXIdentifier}, Relationship: kind,
	}
}
