#!/usr/bin/env bash
# Copyright 2026 The Celador Authors.
# SPDX-License-Identifier: Apache-2.0

# Runs the etcd and the kube-apiserver of a control plane as kubeadm sets it up for examples/kind/cluster.yaml, and shows that a policy denies a Deployment. The
# processes have the command lines of kubeadm's static pods, and the files that the pods would see. It needs root on Linux, but neither a container engine nor a
# kubelet. With --conformance, it also starts the kube-controller-manager of the control plane, and runs bin/conformance. BIN has static binaries of etcd, kubeadm, kube-apiserver and celador. IMAGE is that of the Makefile.

set -o errexit -o nounset -o pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

if [[ "${1:-}" != --in-namespace ]]; then
  # A network of its own, because kubeadm takes no loopback address and etcd has fixed ports.
  exec unshare --net "$0" --in-namespace "$@"
fi

readonly address=172.30.0.2 example=examples/replica-limit bin=${BIN:-bin}
ip link set lo up
ip address add "${address}/32" dev lo
root=$(mktemp -d)
processes=() # in the reverse order of their starts: a server without etcd does not end
cleanup() {
  local process
  for process in "${processes[@]}"; do
    kill "${process}" 2>/dev/null || true
    wait "${process}" || true
  done
  rm -rf "${root}"
}
trap cleanup EXIT

kubectl() { "${bin}/celador" kubectl --kubeconfig "${root}/etc/kubernetes/super-admin.conf" "$@"; }
denied() { ! kubectl create --dry-run=server -f "${example}/deployment-denied.yaml"; }
eventually() {
  local deadline=$((SECONDS + 60))
  until "$@" >/dev/null 2>&1; do
    if ((SECONDS >= deadline)); then
      echo "gave up after 60 s: $*" >&2
      tail -n 20 "${root}"/*.log >&2
      return 1
    fi
    read -r -t 0.2 <> <(:) || true
  done
}

# start runs the command of a static pod where / is the node.
start() {
  local manifest=${root}/etc/kubernetes/manifests/$1.yaml command
  mapfile -t command < <(awk '/^  - command:/ { on = 1; next } on && !/^    - / { exit } on { print substr($0, 7) }' "${manifest}")
  echo "${command[*]}"
  PATH=/usr/local/bin "$(command -v chroot)" "${root}" "${command[@]}" >"${root}/$1.log" 2>&1 &
  processes=($! "${processes[@]}")
}

mkdir -p "${root}/etc" "${root}/tmp" "${root}/celador" "${root}/usr/local/bin"
# What the node has: the mount of the directory, and the images' own binaries.
cp "${bin}/kube-apiserver" "${root}/celador/"
cp "${bin}/etcd" "${root}/usr/local/bin/"
(cd test/e2e/kind && GOWORK=off go run ./kubeadmconfig ../../../examples/kind/cluster.yaml) >"${root}/kubeadm.yaml" <<EOF
apiVersion: kubeadm.k8s.io/v1beta4
kind: ClusterConfiguration
kubernetesVersion: v1.37.0
controlPlaneEndpoint: ${address}:6443
# No kubelet reports the state of the node that the specs need.
controllerManager: {extraArgs: [{name: controllers, value: "*,-node-lifecycle-controller"}]}
networking: {podSubnet: 10.244.0.0/16, serviceSubnet: 10.96.0.0/16}
---
apiVersion: kubeadm.k8s.io/v1beta4
kind: InitConfiguration
localAPIEndpoint: {advertiseAddress: ${address}, bindPort: 6443}
nodeRegistration: {name: celador-control-plane, criSocket: "unix:///run/containerd/containerd.sock"}
EOF
for phase in "certs all" "kubeconfig all" "etcd local" "control-plane apiserver" "control-plane controller-manager"; do
  # shellcheck disable=SC2086 # a phase and its part
  "${bin}/kubeadm" --rootfs "${root}" init phase ${phase} --config /kubeadm.yaml
done
# The patch of docs/kubeadm.md changes the image and nothing else.
cp -r examples/kubeadm/patches "${root}/patches"
cp "${root}/etc/kubernetes/manifests/kube-apiserver.yaml" "${root}/unpatched.yaml"
sed 's|^kind: InitConfiguration$|&\npatches: {directory: /patches}|' "${root}/kubeadm.yaml" >"${root}/patched.yaml"
"${bin}/kubeadm" --rootfs "${root}" init phase control-plane apiserver --config /patched.yaml
diff "${root}/unpatched.yaml" "${root}/etc/kubernetes/manifests/kube-apiserver.yaml" | tee "${root}/patch.diff" || true
grep "^> *image: ${IMAGE}$" "${root}/patch.diff"
[[ $(grep -c '^>' "${root}/patch.diff") == 2 ]]

# The volume that hides the binary of the pod's image.
manifest=${root}/etc/kubernetes/manifests/kube-apiserver.yaml
grep -A 1 'mountPath: /usr/local/bin/kube-apiserver' "${manifest}"
source=$(awk '/path: .*\/kube-apiserver$/ { print $2 }' "${manifest}")
cp "${root}${source}" "${root}/usr/local/bin/kube-apiserver"

start etcd
start kube-apiserver
eventually kubectl get --raw /readyz
kubectl get --raw /version | grep gitVersion
kubectl apply -f "${example}/namespace.yaml" -f "${example}/policy.yaml" -f "${example}/binding.yaml"
eventually denied
kubectl create -f "${example}/deployment-admitted.yaml"
if kubectl create -f "${example}/deployment-denied.yaml"; then
  echo "the policy did not deny the Deployment" >&2
  exit 1
fi
echo "the control plane of kubeadm admits and denies as the policy says"

if [[ "${2:-}" == --conformance ]]; then
  cp "${bin}/kube-controller-manager" "${root}/usr/local/bin/"
  start kube-controller-manager
  bin/conformance --kubeconfig "${root}/etc/kubernetes/super-admin.conf" --artifacts _artifacts/kubeadm-conformance
fi
