import { describe, it } from 'node:test';
import type { InstanceObservation, InstanceRef, Instances } from '../../src/sdk/capabilities/instances.ts';
import type { Zones } from '../../src/sdk/capabilities/zones.ts';
import { instancesSuite } from '../../src/sdk/conformance/instances-contract.ts';
import { zonesSuite } from '../../src/sdk/conformance/zones-contract.ts';
import { isProviderError, ProviderError } from '../../src/sdk/provider/provider-error.ts';
import {
  caught,
  deaf,
  type Mutant,
  type Mutation,
  requireAll,
  requireBreak,
  spoil,
} from '../support/fake-provider-world.ts';

/** Instances whose answers are changed, those of `describeMany` too. */
const answering =
  (change: (answer: InstanceObservation, ref: InstanceRef) => InstanceObservation): Mutation =>
  ({ instances }) => {
    const describeOne: Instances['describe'] = async (ref, call) =>
      change(await instances.describe(ref, call), ref);
    return {
      instances: {
        ...instances,
        describe: describeOne,
        describeMany: async (refs, call) =>
          new Map(
            await Promise.all(refs.map(async (ref) => [ref.nodeName, await describeOne(ref, call)] as const)),
          ),
      },
    };
  };

const describing =
  (describe: (right: Required<Instances>) => Partial<Instances>): Mutation =>
  ({ instances }) => ({ instances: { ...instances, ...describe(instances as Required<Instances>) } });

/** Only `describeMany` answers something else; `isNew`: it has not been asked about the machine before. */
function listing(
  right: Required<Instances>,
  change: (answer: InstanceObservation, ref: InstanceRef, asked: { isNew: boolean }) => InstanceObservation,
): Required<Instances>['describeMany'] {
  const asked = new Set<string>();
  return async (refs, call) => {
    const answers = new Map(await right.describeMany(refs, call));
    for (const ref of refs) {
      const answer = answers.get(ref.nodeName);
      const isNew = !asked.has(ref.nodeName);
      asked.add(ref.nodeName);
      if (answer !== undefined) answers.set(ref.nodeName, change(answer, ref, { isNew }));
    }
    return answers;
  };
}

const present = (change: object) => (answer: InstanceObservation) =>
  answer.state === 'present' ? { ...answer, ...change } : answer;

const instanceMutants: readonly Mutant[] = [
  {
    breaks: 'instances/running-is-present',
    says: /at last present with power unknown/,
    mutate: answering(present({ power: 'unknown' })),
    andOthers: true,
  },
  {
    breaks: 'instances/provider-id-matches',
    says: /answered "i-1", which .* does not match/,
    mutate: answering(present({ providerID: 'i-1' })),
  },
  {
    breaks: 'instances/provider-id-is-stable',
    says: /answered fake:\/\/node-\d+, and fake:\/\/moved after a stop/,
    mutate: answering((answer) =>
      answer.state === 'present' && answer.power === 'off' ? { ...answer, providerID: 'fake://moved' } : answer,
    ),
  },
  {
    breaks: 'instances/has-node-ip',
    says: /addresses 192\.0\.2\.1, and the kubelet runs with --node-ip=10\.0\.0\.1: .* taint .*ccm\/O16/,
    mutate: answering(present({ addresses: [{ type: 'ExternalIP', address: '192.0.2.1' }] })),
  },
  {
    breaks: 'instances/found-by-name',
    says: /a call threw: no provider ID/,
    mutate: describing((right) => ({
      describe: (ref, call) =>
        ref.providerID === undefined
          ? Promise.reject(new ProviderError('not-found', 'no provider ID'))
          : right.describe(ref, call),
    })),
  },
  { breaks: 'instances/place-has-names', says: /answered zone ""/, mutate: answering(present({ zone: '' })) },
  {
    breaks: 'instances/labels-are-valid',
    says: /answered the label "a b"/,
    mutate: answering(present({ labels: { 'a b': '' } })),
  },
  {
    breaks: 'instances/new-is-not-absent',
    says: /answered absent \("404"\) for a machine that was just made/,
    mutate: describing((right) => {
      const seen = new Set<string>(['stranger']);
      return {
        describe: async (ref, call) => {
          const isNew = !seen.has(ref.nodeName);
          seen.add(ref.nodeName);
          return isNew ? { state: 'absent', evidence: '404' } : await right.describe(ref, call);
        },
      };
    }),
  },
  {
    breaks: 'instances/off-still-exists',
    says: /promise broken: a machine that is off still exists — describe\(\) answered absent \("404"\) for a stopped machine/,
    mutate: answering((answer) =>
      answer.state === 'present' && answer.power === 'off' ? { state: 'absent', evidence: '404' } : answer,
    ),
    andOthers: true,
  },
  {
    breaks: 'instances/absent-has-evidence',
    says: /answered absent without saying how it knows/,
    mutate: answering((answer) => (answer.state === 'absent' ? { state: 'absent', evidence: ' ' } : answer)),
  },
  {
    breaks: 'instances/foreign-is-unmanaged',
    says: /answered absent \("no such machine"\) for other:\/\/1/,
    mutate: answering((answer) =>
      answer.state === 'unmanaged' ? { state: 'absent', evidence: 'no such machine' } : answer,
    ),
  },
  {
    breaks: 'instances/many-agree',
    says: /describeMany\(\) left stranger out; describe\(\) answers unmanaged/,
    mutate: describing((right) => ({
      describeMany: async (refs, call) =>
        new Map([...(await right.describeMany(refs, call))].filter(([, { state }]) => state !== 'unmanaged')),
    })),
  },
  {
    breaks: 'instances/many-agree',
    says: /describeMany\(\) answered .*"power":"off".*, and describe\(\) .*"power":"on"/,
    mutate: describing((right) => ({
      describeMany: async (refs, call) =>
        new Map(
          [...(await right.describeMany(refs, call))].map(([name, answer]) => [
            name,
            present({ power: 'off' })(answer),
          ]),
        ),
    })),
  },
  {
    breaks: 'instances/many-agree',
    says: /describeMany\(\) answered .*"unmanaged".* for node-\d+ without a provider ID, and describe\(\) .*"present"/,
    mutate: describing((right) => ({
      describeMany: listing(right, (answer, { providerID }) =>
        providerID === undefined ? { state: 'unmanaged' } : answer,
      ),
    })),
    andOthers: true,
  },
  {
    breaks: 'instances/new-is-not-absent',
    says: /describeMany\(\) answered absent \("not listed"\) for a machine that was just made: leave it out/,
    mutate: describing((right) => ({
      describeMany: listing(right, (answer, ref, { isNew }) =>
        isNew && ref.nodeName !== 'node-1' && answer.state === 'present' && answer.power === 'on'
          ? { state: 'absent', evidence: 'not listed' }
          : answer,
      ),
    })),
  },
  {
    breaks: 'instances/off-still-exists',
    says: /describeMany\(\) answered absent \("not listed"\) for a stopped machine/,
    mutate: describing((right) => ({
      describeMany: listing(right, (answer) =>
        answer.state === 'present' && answer.power === 'off'
          ? { state: 'absent', evidence: 'not listed' }
          : answer,
      ),
    })),
  },
  {
    breaks: 'instances/absent-has-evidence',
    says: /describeMany\(\) answers absent for a terminated machine: not after 2 s; at last unmanaged/,
    mutate: describing((right) => ({
      describeMany: listing(right, (answer) => (answer.state === 'absent' ? { state: 'unmanaged' } : answer)),
    })),
  },
  {
    breaks: 'instances/trouble-is-thrown',
    says: /describe\(\) answered .*absent.* while the cloud was down/,
    mutate: describing((right) => ({
      describe: (ref, call) => caught(right.describe(ref, call), { state: 'absent', evidence: 'no answer' }),
    })),
  },
  {
    breaks: 'instances/trouble-is-thrown',
    says: /describeMany\(\) threw "oops" while the cloud was down, which is no ProviderError/,
    mutate: describing((right) => ({
      describeMany: (refs, call) =>
        right.describeMany(refs, call).catch((error: unknown) => {
          throw isProviderError(error) ? new Error('oops') : error;
        }),
    })),
  },
  {
    breaks: 'instances/abort-is-obeyed',
    says: /describe\(\) answered .* though its signal had aborted/,
    mutate: describing((right) => ({ describe: (ref, call) => right.describe(ref, deaf(call)) })),
  },
  {
    breaks: 'instances/abort-is-obeyed',
    says: /describe\(\) went on for 5 s after its signal had aborted/,
    mutate: describing((right) => ({
      describe: (ref, call) => {
        call.signal.throwIfAborted();
        return right.describe(ref, deaf(call));
      },
    })),
  },
  {
    breaks: 'instances/inputs-are-read-only',
    says: /describe\(\) changes what it is given/,
    mutate: describing((right) => ({
      describe: async (ref, call) => {
        spoil(ref.node);
        return await right.describe(ref, call);
      },
    })),
  },
];

const zoning =
  (list: (right: Zones) => Zones['list']): Mutation =>
  ({ zones }) => ({ zones: { ...zones, list: list(zones) } });

const zoneMutants: readonly Mutant[] = [
  {
    breaks: 'zones/there-is-one',
    says: /list\(\) answered none/,
    mutate: zoning((right) => async (call) => (await right.list(call)).slice(1)),
  },
  {
    breaks: 'zones/there-is-one',
    says: /answered .*"region":""/,
    mutate: zoning((right) => async (call) => (await right.list(call)).map((zone) => ({ ...zone, region: '' }))),
  },
  {
    breaks: 'zones/are-stable',
    says: /list\(\) answered .*, and then/,
    mutate: zoning((right) => {
      let asked = 0;
      return async (call) => (await right.list(call)).map((zone) => ({ ...zone, name: `a${++asked}` }));
    }),
  },
  {
    breaks: 'zones/trouble-is-thrown',
    says: /list\(\) answered \[\] while the cloud was down/,
    mutate: zoning((right) => (call) => caught(right.list(call), [])),
  },
  {
    breaks: 'zones/abort-is-obeyed',
    says: /list\(\) answered .* though its signal had aborted/,
    mutate: zoning((right) => (call) => right.list(deaf(call))),
  },
];

describe('the contract of instances', () => {
  for (const [index, mutant] of instanceMutants.entries()) {
    it(`ccm/O16, ccm/I1, ccm/I4: finds a provider that breaks ${mutant.breaks} (${index + 1})`, async () => {
      await requireBreak(instancesSuite, ({ instances }) => instances, mutant);
    });
  }

  it('has a provider that breaks it for each promise', () => requireAll(instancesSuite, instanceMutants));
});

describe('the contract of zones', () => {
  for (const [index, mutant] of zoneMutants.entries()) {
    it(`finds a provider that breaks ${mutant.breaks} (${index + 1})`, async () => {
      await requireBreak(zonesSuite, ({ common }) => common, mutant);
    });
  }

  it('has a provider that breaks it for each promise', () => requireAll(zonesSuite, zoneMutants));
});
