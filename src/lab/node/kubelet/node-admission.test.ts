import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Container, Node, Pod, PodSpec } from '../../../api/generated/core-v1-types.ts';
import { rejection } from './node-admission.ts';

const NODE: Node = {
  apiVersion: 'v1',
  kind: 'Node',
  metadata: { name: 'n1', labels: { zone: 'a' } },
  spec: {},
  status: {
    allocatable: { cpu: '2', memory: '1Gi', pods: '3', 'acme.example/npu': '1', 'acme.example/gone': '0' },
  },
};

const wanting = (requests: Readonly<Record<string, string>>, name = 'c'): Container => ({
  name,
  resources: { requests },
});
const pod = (spec: Partial<PodSpec>): Pod => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'p' },
  spec: { containers: [], ...spec },
});
const using = (requests: Readonly<Record<string, string>>): Pod => pod({ containers: [wanting(requests)] });

const onPort = (hostPort: number, metadata: Partial<Pod['metadata']> = {}): Pod => ({
  ...pod({ containers: [{ name: 'c', ports: [{ containerPort: 80, hostPort }] }] }),
  metadata: { name: 'p', ...metadata },
});
const NO_PORTS =
  "NodePorts: Pod was rejected: Predicate NodePorts failed: node(s) didn't have free ports for the requested pod ports";

const SHORT = "Pod was rejected: Node didn't have enough resource: ";
const ROWS: readonly {
  readonly name: string;
  readonly pod: Pod;
  readonly others?: readonly Pod[];
  readonly want?: string;
}[] = [
  { name: 'what fits is let in', pod: using({ cpu: '2', memory: '1Gi' }) },
  {
    name: 'a selector that does not match',
    pod: pod({ nodeSelector: { zone: 'b' } }),
    want: "NodeAffinity: Pod was rejected: Predicate NodeAffinity failed: node(s) didn't match Pod's node affinity/selector",
  },
  {
    name: 'the selector is looked at before resources',
    pod: pod({ nodeSelector: { zone: 'b' }, containers: [wanting({ cpu: '9' })] }),
    want: "NodeAffinity: Pod was rejected: Predicate NodeAffinity failed: node(s) didn't match Pod's node affinity/selector",
  },
  {
    name: 'too much cpu, in thousandths',
    pod: using({ cpu: '1500m' }),
    others: [using({ cpu: '600m' })],
    want: `OutOfcpu: ${SHORT}cpu, requested: 1500, used: 600, capacity: 2000`,
  },
  {
    name: 'too much memory, in bytes',
    pod: using({ memory: '2Gi' }),
    want: `OutOfmemory: ${SHORT}memory, requested: 2147483648, used: 0, capacity: 1073741824`,
  },
  {
    name: 'too many pods',
    pod: pod({}),
    others: [pod({}), pod({}), pod({})],
    want: `OutOfpods: ${SHORT}pods, requested: 1, used: 3, capacity: 3`,
  },
  {
    name: 'too many devices',
    pod: using({ 'acme.example/npu': '1' }),
    others: [using({ 'acme.example/npu': '1' })],
    want: `OutOfacme.example/npu: ${SHORT}acme.example/npu, requested: 1, used: 1, capacity: 1`,
  },
  {
    name: 'a device that the node had once',
    pod: using({ 'acme.example/gone': '1' }),
    want: `OutOfacme.example/gone: ${SHORT}acme.example/gone, requested: 1, used: 0, capacity: 0`,
  },
  { name: 'a resource that the node does not have is counted elsewhere', pod: using({ 'other.example/x': '5' }) },
  {
    name: 'a port of the node that somebody has (X4)',
    pod: onPort(8080),
    others: [onPort(8080)],
    want: NO_PORTS,
  },
  {
    name: 'a port of the node that a pod of the host network has (X4)',
    pod: onPort(8080),
    others: [pod({ hostNetwork: true, containers: [{ name: 'c', ports: [{ containerPort: 8080 }] }] })],
    want: NO_PORTS,
  },
  { name: 'another port of the node (X4)', pod: onPort(8080), others: [onPort(8081)] },
  {
    name: 'a port of a pod that leaves (X4)',
    pod: onPort(8080),
    others: [onPort(8080, { deletionTimestamp: '2030-01-01T00:00:00Z' })],
  },
  {
    name: 'a static pod, whose former self may have its port still (X4)',
    pod: onPort(8080, { annotations: { 'kubernetes.io/config.source': 'file' } }),
    others: [onPort(8080)],
  },
];

describe('rejection', () => {
  for (const { name, pod: asked, others = [], want } of ROWS) {
    it(`lab/N16: ${name}`, () => {
      const found = rejection({ pod: asked, node: NODE, others });
      assert.equal(found === undefined ? undefined : `${found.reason}: ${found.message}`, want);
    });
  }
});
