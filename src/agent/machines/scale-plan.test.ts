import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { DELETE_MACHINE_ANNOTATION, type Machine } from '../../api/cluster-api/core-v1beta2.ts';
import { type ScaleStep, scaleStep } from './scale-plan.ts';

interface Sketch {
  readonly name: string;
  readonly domain?: string;
  readonly isReady?: boolean;
  readonly isMarked?: boolean;
  readonly isDeleting?: boolean;
  readonly age?: number;
}

const LEAVING = { deletionTimestamp: '2026-02-01T00:00:00Z' };
const MARKED = { annotations: { [DELETE_MACHINE_ANNOTATION]: '' } };

function machine({ name, domain, isReady, isMarked = false, isDeleting = false, age = 0 }: Sketch): Machine {
  const status = isReady === false ? 'False' : 'True';
  return {
    apiVersion: 'cluster.x-k8s.io/v1beta2',
    kind: 'Machine',
    metadata: {
      name,
      creationTimestamp: `2026-01-${String(28 - age).padStart(2, '0')}T00:00:00Z`,
      ...(isMarked && MARKED),
      ...(isDeleting && LEAVING),
    },
    spec: {
      clusterName: 'ocp',
      bootstrap: {},
      infrastructureRef: { apiGroup: 'g', kind: 'K', name },
      ...(domain !== undefined && { failureDomain: domain }),
    },
    status: {
      conditions: [
        { type: 'Ready', status, reason: 'R', message: '', lastTransitionTime: '2026-01-01T00:00:00Z' },
      ],
    },
  };
}

interface Around {
  readonly outdated?: readonly string[];
  readonly isInitialized?: boolean;
}

function step(
  desired: number,
  machines: readonly Sketch[],
  domains: readonly string[] = [],
  { outdated = [], isInitialized = true }: Around = {},
): string {
  const facts = {
    desired,
    machines: machines.map(machine),
    domains,
    isUpToDate: ({ metadata }: Machine) => !outdated.includes(metadata.name),
    isInitialized,
  };
  return textOf(scaleStep(facts));
}

function textOf(found: ScaleStep): string {
  switch (found.type) {
    case 'none':
      return 'none';
    case 'create':
      return `create in ${found.failureDomain ?? 'no domain'}`;
    case 'delete':
      return `delete ${found.machine.metadata.name}`;
    case 'wait':
      return `wait: ${found.why}`;
  }
}

const three = [
  { name: 'a', age: 1 },
  { name: 'b', age: 3 },
  { name: 'c', age: 2 },
];

const unready = three.map((one) => ({ ...one, isReady: false }));

describe('the next step to the desired number of Machines', () => {
  for (const { name, want, given } of [
    { name: 'agent/C12: nothing is done when the number is right', given: step(3, three), want: 'none' },
    { name: 'agent/C12: nothing is done for nobody', given: step(0, []), want: 'none' },
    {
      name: 'agent/C15: one that is missing is made',
      given: step(3, three.slice(1)),
      want: 'create in no domain',
    },
    {
      name: 'agent/X18: one on its way out is not counted',
      given: step(3, [...three.slice(1), { name: 'a', isDeleting: true }]),
      want: 'create in no domain',
    },
    { name: 'agent/C16: the oldest goes', given: step(1, three), want: 'delete b' },
    {
      name: 'agent/X18: one at a time, whoever began it',
      given: step(1, [...three, { name: 'd', isDeleting: true }]),
      want: 'wait: the next Machine is deleted when d is gone',
    },
    {
      name: 'agent/X18: one that somebody marked goes first, also without domains',
      given: step(2, [...three.slice(1), { name: 'a', isMarked: true }]),
      want: 'delete a',
    },
    {
      name: 'agent/X18: one that is not Ready goes before older ones',
      given: step(2, [...three.slice(0, 2), { name: 'c', isReady: false }]),
      want: 'delete c',
    },
    {
      name: 'agent/X18: a marked one that is Ready stays while another is not',
      given: step(2, [{ name: 'a', isMarked: true }, { name: 'b' }, { name: 'c', isReady: false }]).slice(0, 61),
      want: 'wait: Machine a is Ready and is not deleted while c is not; w',
    },
    {
      name: 'agent/X18: before there is a cluster, one that is not Ready goes though others are not either',
      given: step(1, unready, [], { isInitialized: false }),
      want: 'delete b',
    },
    {
      name: 'agent/X18: of a cluster of which no Machine is Ready, none goes',
      given: step(1, unready).slice(0, 71),
      want: 'wait: no Machine is Ready, so nobody knows which one can go; wait, or m',
    },
    {
      name: 'agent/X18: of a cluster of which no Machine is Ready, the one that somebody marked goes',
      given: step(2, [...unready.slice(1), { name: 'a', isReady: false, isMarked: true }]),
      want: 'delete a',
    },
    {
      name: 'agent/X18: those that are not Ready go while one is',
      given: step(1, [{ name: 'd' }, ...unready]),
      want: 'delete b',
    },
    {
      name: 'agent/C18: the first goes to the first domain',
      given: step(3, [], ['z2', 'z1', 'z3'].toSorted()),
      want: 'create in z1',
    },
    {
      name: 'agent/C18: the next goes where the fewest are',
      given: step(
        3,
        [
          { name: 'a', domain: 'z1' },
          { name: 'b', domain: 'z3' },
        ],
        ['z1', 'z2', 'z3'],
      ),
      want: 'create in z2',
    },
    {
      name: 'agent/C18: only those that are up to date count first',
      given: step(
        3,
        [
          { name: 'a', domain: 'z1' },
          { name: 'b', domain: 'z2' },
        ],
        ['z1', 'z2'],
        { outdated: ['b'] },
      ),
      want: 'create in z2',
    },
    {
      name: 'agent/C18: then all of them',
      given: step(
        5,
        [
          { name: 'a', domain: 'z1' },
          { name: 'b', domain: 'z2' },
          { name: 'c', domain: 'z1' },
        ],
        ['z1', 'z2'],
        { outdated: ['a', 'b', 'c'] },
      ),
      want: 'create in z2',
    },
    {
      name: 'agent/C18: one goes from where the most are',
      given: step(
        2,
        [
          { name: 'a', domain: 'z1', age: 9 },
          { name: 'b', domain: 'z2', age: 1 },
          { name: 'c', domain: 'z2', age: 2 },
        ],
        ['z1', 'z2'],
      ),
      want: 'delete c',
    },
    {
      name: 'agent/C18: marked ones decide about the domain',
      given: step(
        2,
        [
          { name: 'a', domain: 'z1', isMarked: true },
          { name: 'b', domain: 'z2' },
          { name: 'c', domain: 'z2' },
        ],
        ['z1', 'z2'],
      ),
      want: 'delete a',
    },
    {
      name: 'agent/C16: Machines outside of all domains are candidates when no domain has any',
      given: step(1, three, ['z1']),
      want: 'delete b',
    },
  ])
    it(name, () => assert.equal(given, want));
});
