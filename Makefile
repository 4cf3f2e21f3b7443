# Copyright 2026 The Celador Authors.
# SPDX-License-Identifier: Apache-2.0

# The version follows the Kubernetes release that Celador is built on; clients
# refuse to talk to a server whose version they cannot parse.
VERSION := v1.37.1+celador.0.1.0
COMMIT := $(shell git rev-parse HEAD 2>/dev/null)
define version_flags
-X $(1).gitVersion=$(VERSION) -X $(1).gitMajor=1 -X $(1).gitMinor=37 $(if $(COMMIT),-X $(1).gitCommit=$(COMMIT))
endef
LDFLAGS := -s -w $(call version_flags,k8s.io/component-base/version) $(call version_flags,k8s.io/client-go/pkg/version)
GO_BUILD := go build -ldflags "$(LDFLAGS)"
# Kubernetes' own binaries have Kubernetes' version.
UPSTREAM_BUILD := $(subst $(VERSION),$(firstword $(subst +, ,$(VERSION))),$(GO_BUILD))
# Without the commit, test binaries stay in the cache from one commit to the next.
GO_TEST := hack/test.sh -v -ldflags "-X k8s.io/component-base/version.gitVersion=$(VERSION) -X k8s.io/component-base/version.gitMajor=1 -X k8s.io/component-base/version.gitMinor=37"

# Packages that start goroutines are tested with the race detector, which needs a C compiler.
RACE := $(if $(shell command -v gcc clang),-race)
CONCURRENT := celador.io/admission/... celador.io/apiextensions-apiserver/... celador.io/apiserver/... celador.io/offline/... celador.io/polyfill/... ./plugin/... ./pkg/localserver/... ./pkg/controlplane/...

.PHONY: all
all: build

.PHONY: help
help: ## List the targets.
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## /{printf "%-15s %s\n", $$1, $$2}' Makefile

.PHONY: build
build: ## Build bin/kube-apiserver, bin/celador and bin/celador-webhook.
	$(GO_BUILD) -o bin/ ./cmd/kube-apiserver ./cmd/celador
	$(GO_BUILD) -tags grpcnotrace -o bin/ ./cmd/celador-webhook

# The names of the images. Tags cannot contain a +.
IMAGE := celador.io/kube-apiserver:$(subst +,_,$(VERSION))
WEBHOOK_IMAGE := celador.io/celador-webhook:$(subst +,_,$(VERSION))

.PHONY: image
image: ## Write _output/kube-apiserver.tar, a container image. GOARCH=arm64 writes kube-apiserver-arm64.tar.
	VERSION='$(VERSION)' LDFLAGS='$(LDFLAGS)' IMAGE='$(IMAGE)' hack/image.sh kube-apiserver _output/kube-apiserver$(if $(GOARCH),-$(GOARCH)).tar

.PHONY: webhook-image
webhook-image: ## Write _output/celador-webhook.tar, a container image. GOARCH=arm64 writes celador-webhook-arm64.tar.
	VERSION='$(VERSION)' LDFLAGS='$(LDFLAGS)' IMAGE='$(WEBHOOK_IMAGE)' hack/image.sh celador-webhook _output/celador-webhook$(if $(GOARCH),-$(GOARCH)).tar

bin/etcd: go.mod
	$(GO_BUILD) -o $@ go.etcd.io/etcd/server/v3

.PHONY: image-e2e
image-e2e: build bin/etcd image ## Run the image with podman and show a policy at work.
	IMAGE='$(IMAGE)' hack/image-e2e.sh

.PHONY: webhook-e2e
webhook-e2e: webhook-image ## Install the polyfill in a kind cluster with Kubernetes' own server, and show a policy at work. Needs Docker.
	$(GO_BUILD) -o bin/ ./cmd/celador
	hack/webhook-e2e.sh

# The platforms of a release. celador alone is built for windows.
PLATFORMS := linux/amd64 linux/arm64 darwin/amd64 darwin/arm64 windows/amd64

.PHONY: release
release: ## Write the files of a release to _output/release. Each of PLATFORMS takes some minutes.
	VERSION='$(VERSION)' LDFLAGS='$(LDFLAGS)' IMAGE='$(IMAGE)' WEBHOOK_IMAGE='$(WEBHOOK_IMAGE)' PLATFORMS='$(PLATFORMS)' hack/release.sh

.PHONY: changelog
changelog: ## Write CHANGELOG.md, up to the current commit.
	hack/changelog.sh '$(VERSION)' >CHANGELOG.md

.PHONY: demo
demo: build ## Show a policy at work on a throw-away server.
	hack/demo.sh

.PHONY: demo-crd
demo-crd: build ## Show conversion rules and default expressions at work on a throw-away server.
	hack/demo-crd.sh

.PHONY: run
run: build ## The same as demo, but the server keeps running until Ctrl-C.
	hack/demo.sh --keep

.PHONY: test
test: test-concurrent test-unit test-integration ## Run every test.

.PHONY: test-concurrent
test-concurrent:
	$(GO_TEST) $(RACE) $(CONCURRENT)

.PHONY: test-unit
test-unit:
	hack/install-chromium.sh
	cd hack/image && GOWORK=off ../test.sh -v ./...
	cd hack/chart && GOWORK=off ../test.sh -v ./...
	cd test/e2e/kind && GOWORK=off ../../../hack/test.sh -v ./...
	$(GO_TEST) $$(go list $$(go list -m -f '{{.Path}}/...') | grep -vxF "$$(go list $(CONCURRENT) ./test/integration/...)")

.PHONY: test-integration
test-integration:
	$(GO_TEST) ./test/integration/...

.PHONY: verify
verify: ## Check generated code, format, vet, lint, licenses, imports, modules and rules.
	hack/verify.sh

.PHONY: lint
lint: ## Run the linters of .golangci.yml in all modules.
	hack/golangci-lint.sh

.PHONY: update
update: ## Regenerate all generated code.
	hack/update-codegen.sh
	hack/update-webhook-manifests.sh

.PHONY: conformance
conformance: build ## Run Kubernetes' own end-to-end specs against bin/kube-apiserver.
	LDFLAGS='$(LDFLAGS)' hack/conformance.sh

.PHONY: conformance-crd
conformance-crd: ## Run Kubernetes' own integration tests of custom resources against the server of this tree.
	hack/conformance-crd.sh

.PHONY: envtest
envtest: build bin/etcd ## Run tests with controller-runtime's envtest against bin/kube-apiserver.
	for module in test/e2e/envtest examples/webhook; do \
		(cd $$module && GOWORK=off TEST_ASSET_KUBE_APISERVER=$(CURDIR)/bin/kube-apiserver TEST_ASSET_ETCD=$(CURDIR)/bin/etcd go test -v -count 1 ./...) || exit; \
	done

.PHONY: kwok-e2e
kwok-e2e: build bin/etcd ## Create a cluster of kwok, and show a policy at work.
	$(UPSTREAM_BUILD) -o bin/ k8s.io/kubernetes/cmd/kube-controller-manager
	hack/kwok-e2e.sh

.PHONY: kind-e2e
kind-e2e: ## Create a kind cluster of examples/kind, show a policy at work, and delete it. Needs Docker.
	$(MAKE) build CGO_ENABLED=0
	hack/kind-e2e.sh

.PHONY: kubeadm-binaries
kubeadm-binaries:
	CGO_ENABLED=0 $(GO_BUILD) -o _output/static/ ./cmd/kube-apiserver ./cmd/celador
	CGO_ENABLED=0 $(GO_BUILD) -o _output/static/etcd go.etcd.io/etcd/server/v3
	CGO_ENABLED=0 $(UPSTREAM_BUILD) -o _output/static/ k8s.io/kubernetes/cmd/kubeadm k8s.io/kubernetes/cmd/kube-controller-manager

.PHONY: kubeadm-e2e
kubeadm-e2e: kubeadm-binaries ## Run a control plane as kubeadm sets it up for examples/kind, and show a policy at work. Needs root.
	BIN=_output/static IMAGE='$(IMAGE)' hack/kubeadm-e2e.sh

.PHONY: kubeadm-conformance
kubeadm-conformance: kubeadm-binaries ## Run Kubernetes' own end-to-end specs against the control plane of kubeadm-e2e. Needs root.
	LDFLAGS='$(LDFLAGS)' hack/conformance-build.sh
	BIN=_output/static IMAGE='$(IMAGE)' hack/kubeadm-e2e.sh --conformance

# The time for each fuzz test.
FUZZTIME := 30s

.PHONY: fuzz
fuzz: ## Run each fuzz test for FUZZTIME: 30 minutes.
	hack/fuzz.sh $(FUZZTIME)

.PHONY: patches-verify
patches-verify: ## Apply patches/ to Kubernetes, build its kube-apiserver and test the packages that they change: 10 minutes.
	hack/patches-verify.sh

.PHONY: conformance-rules
conformance-rules: ## Run Kubernetes' own tests of x-kubernetes-validations against the rules of this tree.
	hack/conformance-rules.sh

.PHONY: bench
bench: build bin/benchmark ## Compare the speed with Kubernetes' own plugin and server: all scenarios, 20 to 27 minutes.
	$(UPSTREAM_BUILD) -o bin/upstream-kube-apiserver k8s.io/kubernetes/cmd/kube-apiserver
	bin/benchmark

.PHONY: bench-quick
bench-quick: bin/benchmark ## Only the scenarios that need no server, 2 minutes.
	bin/benchmark --quick

.PHONY: bin/benchmark
bin/benchmark:
	$(GO_BUILD) -o $@ ./test/benchmark

.PHONY: clean
clean: ## Remove what was built.
	rm -rf bin _artifacts _output
