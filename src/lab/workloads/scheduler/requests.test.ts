import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { nodeLike, podLike } from '../../../../test/support/pretend-cluster.ts';
import type { Container, PodSpec } from '../../../api/generated/core-v1-types.ts';
import { allocatableOf, podRequests, scoredRequests } from './requests.ts';

const MI = 1024 * 1024;

const container = (requests: Record<string, string>, more: Partial<Container> = {}): Container => ({
  name: 'c',
  image: 'i',
  resources: { requests },
  ...more,
});
const sidecar = (requests: Record<string, string>) => container(requests, { restartPolicy: 'Always' });

describe('the request of a pod', () => {
  const TABLE: readonly {
    readonly name: string;
    readonly spec: Partial<PodSpec>;
    readonly want: Readonly<Record<string, number>>;
  }[] = [
    {
      name: 'is the sum of its containers',
      spec: { containers: [container({ cpu: '1' }), container({ cpu: '250m' })] },
      want: { cpu: 1250 },
    },
    { name: 'is nothing when nothing is said', spec: { containers: [{ name: 'c', image: 'i' }] }, want: {} },
    {
      name: 'leaves out zeros',
      spec: { containers: [container({ cpu: '0', memory: '1Mi' })] },
      want: { memory: MI },
    },
    {
      name: 'is that of an init container where that is more, resource by resource',
      spec: {
        initContainers: [container({ cpu: '2', memory: '1Mi' }), container({ cpu: '1', memory: '5Mi' })],
        containers: [container({ cpu: '500m', memory: '8Mi' })],
      },
      want: { cpu: 2000, memory: 8 * MI },
    },
    {
      name: 'has sidecars beside the containers',
      spec: { initContainers: [sidecar({ cpu: '1' })], containers: [container({ cpu: '1' })] },
      want: { cpu: 2000 },
    },
    {
      name: 'has sidecars beside the init containers that come after them, and not beside those before',
      spec: {
        initContainers: [container({ cpu: '5' }), sidecar({ cpu: '2' }), container({ cpu: '4' })],
        containers: [container({ cpu: '1' })],
      },
      want: { cpu: 6000 },
    },
    {
      name: 'is that of all sidecars together where they are more than the rest',
      spec: {
        initContainers: [sidecar({ cpu: '2' }), sidecar({ cpu: '3' })],
        containers: [container({ memory: '1Mi' })],
      },
      want: { cpu: 5000, memory: MI },
    },
    {
      name: 'has the overhead on top',
      spec: {
        overhead: { cpu: '100m', memory: '10Mi' },
        initContainers: [container({ cpu: '2' })],
        containers: [container({ cpu: '1' })],
      },
      want: { cpu: 2100, memory: 10 * MI },
    },
    {
      name: 'is what the pod itself says of processors and memory, with the overhead on top',
      spec: {
        resources: { requests: { cpu: '3', 'example.com/x': '9' } },
        overhead: { cpu: '1' },
        containers: [container({ cpu: '1', memory: '1Mi', 'example.com/x': '1' })],
      },
      want: { cpu: 4000, memory: MI, 'example.com/x': 1 },
    },
    {
      name: 'knows storage, huge pages and devices, and nothing else',
      spec: {
        containers: [
          container({
            'ephemeral-storage': '1k',
            'hugepages-2Mi': '4Mi',
            'acme.example/npu': '3',
            'requests.storage': '1',
          }),
        ],
      },
      want: { 'ephemeral-storage': 1000, 'hugepages-2Mi': 4 * MI, 'acme.example/npu': 3 },
    },
    {
      name: 'is rounded up once, after adding',
      spec: { containers: [container({ cpu: '100u', memory: '0.5' }), container({ cpu: '100u', memory: '0.5' })] },
      want: { cpu: 1, memory: 1 },
    },
    {
      name: 'takes what is no amount for none',
      spec: { containers: [container({ cpu: 'much', memory: '1' })] },
      want: { memory: 1 },
    },
  ];
  for (const { name, spec, want } of TABLE) {
    it(`lab/K5: ${name}`, () => assert.deepEqual(Object.fromEntries(podRequests(podLike({ spec }))), want));
  }

  it('lab/K6: counts containers that say nothing as 100m and 200 MiB when nodes are compared', () => {
    const said = container({ cpu: '0' });
    const spec = { containers: [{ name: 'c', image: 'i' }, said] };
    assert.deepEqual(Object.fromEntries(scoredRequests(podLike({ spec }))), { cpu: 100, memory: 400 * MI });
  });
});

describe('what a node has', () => {
  it('lab/K5: is its allocatable, devices included', () => {
    const node = nodeLike({ allocatable: { cpu: '3500m', pods: '10', 'acme.example/npu': '2', other: '1' } });
    assert.deepEqual(Object.fromEntries(allocatableOf(node)), { cpu: 3500, pods: 10, 'acme.example/npu': 2 });
    assert.equal(allocatableOf({}).size, 0);
  });
});
