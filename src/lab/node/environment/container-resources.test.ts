import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Container, Pod } from '../../../api/generated/core-v1-types.ts';
import { ResourceProblem, resourceField } from './container-resources.ts';

const MAIN: Container = {
  name: 'main',
  resources: {
    limits: { cpu: '1500m', memory: '100Mi', 'hugepages-2Mi': '4Mi' },
    requests: { cpu: '250m', memory: '0.5Gi', 'ephemeral-storage': '1k' },
  },
};
const BARE: Container = { name: 'bare' };
const INIT: Container = { name: 'init' };
const POD: Pod = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'web' },
  spec: { containers: [MAIN, BARE], initContainers: [INIT] },
};
const ALLOCATABLE = { cpu: '4', memory: '16Gi', 'ephemeral-storage': '100Gi', 'hugepages-2Mi': '64Mi' };

interface Row {
  readonly resource: string;
  readonly divisor?: string;
  readonly of?: string;
  readonly from?: Container;
  readonly want: string;
}

const ROWS: readonly Row[] = [
  { resource: 'limits.cpu', want: '2' },
  { resource: 'limits.cpu', divisor: '0', want: '2' },
  { resource: 'limits.cpu', divisor: '1m', want: '1500' },
  { resource: 'limits.memory', want: '104857600' },
  { resource: 'limits.memory', divisor: '1Mi', want: '100' },
  { resource: 'limits.memory', divisor: '1Gi', want: '1' },
  { resource: 'limits.memory', divisor: '3', want: '34952534' },
  { resource: 'limits.hugepages-2Mi', divisor: '1Mi', want: '4' },
  { resource: 'requests.cpu', want: '1' },
  { resource: 'requests.cpu', divisor: '1m', want: '250' },
  { resource: 'requests.memory', divisor: '1Mi', want: '512' },
  { resource: 'requests.ephemeral-storage', want: '1000' },
  { resource: 'limits.ephemeral-storage', divisor: '1Gi', want: '100' },
  { resource: 'limits.cpu', of: 'bare', want: '4' },
  { resource: 'limits.memory', from: BARE, divisor: '1Gi', want: '16' },
  { resource: 'limits.memory', from: INIT, divisor: '1Gi', want: '16' },
  { resource: 'limits.hugepages-2Mi', from: BARE, want: '0' },
  { resource: 'requests.cpu', from: BARE, want: '0' },
  { resource: 'limits.cpu', of: 'init', want: '0' },
];

describe('resourceField', () => {
  for (const { resource, divisor, of, from = MAIN, want } of ROWS) {
    const whose = of === undefined ? `its own, ${from.name}` : of;
    it(`lab/N25: gives ${want} for ${resource} of ${whose}, divisor ${divisor ?? 'none'}`, () => {
      const selector = {
        resource,
        ...(divisor !== undefined && { divisor }),
        ...(of !== undefined && { containerName: of }),
      };
      assert.equal(resourceField(selector, { pod: POD, container: from, allocatable: ALLOCATABLE }), want);
    });
  }

  it('lab/N25: takes the limit of the pod before what the node has', () => {
    const pod: Pod = { ...POD, spec: { ...POD.spec, resources: { limits: { cpu: '2' } } } };
    const given = { pod, container: BARE, allocatable: ALLOCATABLE };
    assert.equal(resourceField({ resource: 'limits.cpu' }, given), '2');
    assert.equal(resourceField({ resource: 'limits.memory', divisor: '1Gi' }, given), '16');
  });

  it('lab/N25: refuses a resource and a container that are not there', () => {
    const given = { pod: POD, container: MAIN, allocatable: ALLOCATABLE };
    for (const resource of ['limits.gpu', 'requests', 'limits.acme.example/npu']) {
      const refusal = new ResourceProblem(`unsupported container resource : ${resource}`);
      assert.throws(() => resourceField({ resource }, given), refusal);
    }
    const elsewhere = { resource: 'limits.cpu', containerName: 'other' };
    assert.throws(() => resourceField(elsewhere, given), /^ResourceProblem: container other not found$/);
  });
});
