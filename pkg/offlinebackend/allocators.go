// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package offlinebackend

import (
	"net"
	"sync/atomic"

	"k8s.io/kubernetes/pkg/apis/core"
	"k8s.io/kubernetes/pkg/registry/core/service/allocator"
	"k8s.io/kubernetes/pkg/registry/core/service/ipallocator"
)

// addresses allocates cluster IPs, and does not remember them: Services of different requests do
// not exist at the same time.
type addresses struct {
	network net.IPNet
	family  core.IPFamily
	// next is the address that AllocateNext returns.
	next net.IP
}

var _ ipallocator.Interface = addresses{}

// serviceAddresses has an allocator for IPv4, the family that servers have by default. The
// allocator accepts every IPv4 address that a Service asks for, because the range is a flag of each
// server. Services that ask for none get an address in the default range of kubeadm.
var serviceAddresses = map[core.IPFamily]ipallocator.Interface{
	core.IPv4Protocol: addresses{
		network: net.IPNet{IP: net.IPv4zero.To4(), Mask: net.CIDRMask(0, 8*net.IPv4len)},
		family:  core.IPv4Protocol,
		next:    net.IPv4(10, 96, 0, 100),
	},
}

// Allocate implements ipallocator.Interface. It returns an error for an address of another family.
func (a addresses) Allocate(ip net.IP) error {
	if !a.network.Contains(ip) {
		return &ipallocator.ErrNotInRange{IP: ip, ValidRange: a.network.String()}
	}
	return nil
}

func (a addresses) AllocateNext() (net.IP, error) { return a.next, nil }
func (a addresses) Release(net.IP) error          { return nil }
func (a addresses) ForEach(func(net.IP))          {}
func (a addresses) CIDR() net.IPNet               { return a.network }
func (a addresses) IPFamily() core.IPFamily       { return a.family }
func (a addresses) Has(net.IP) bool               { return false }
func (a addresses) Destroy()                      {}
func (a addresses) EnableMetrics()                {}
func (a addresses) DryRun() ipallocator.Interface { return a }

// ports allocates node ports, and does not remember them. Consecutive ports differ, because those
// of one Service must.
type ports struct {
	count int64
	last  atomic.Int64
}

func newPorts(count int, _ string, _ int) (allocator.Interface, error) {
	return &ports{count: int64(count)}, nil
}

func (p *ports) Allocate(int) (bool, error)       { return true, nil }
func (p *ports) AllocateNext() (int, bool, error) { return int(p.last.Add(1) % p.count), true, nil }
func (p *ports) Release(int) error                { return nil }
func (p *ports) ForEach(func(int))                {}
func (p *ports) Has(int) bool                     { return false }
func (p *ports) Free() int                        { return int(p.count) }
func (p *ports) Destroy()                         {}
