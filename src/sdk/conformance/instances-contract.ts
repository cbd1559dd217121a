import { isDeepStrictEqual } from 'node:util';
import type { Node } from '../../api/generated/core-v1.ts';
import { qualifiedNameProblems } from '../../object/names.ts';
import type { InstanceObservation, InstanceRef, PresentInstance } from '../capabilities/instances.ts';
import { broken, type ContractCase, type ContractSuite } from './contract.ts';
import {
  bareCapabilityOf,
  callWith,
  capabilityOf,
  eventually,
  frozen,
  type ProviderSubject,
  requireAbort,
  requireReadOnly,
  requireThrown,
  wait,
} from './contract-subject.ts';
import { type ConformanceOptions, registerContract } from './test-framework.ts';

/** A machine with the Node that its kubelet registers. */
export interface MadeInstance {
  /** With the provider ID that the machine has; cases leave it out where they need to. */
  readonly ref: InstanceRef;
  /** What its kubelet is told with `--node-ip`. */
  readonly nodeIP: string;
}

/** How machines come and go in the cloud under test. */
export interface InstancesSubject extends ProviderSubject {
  /** Orders a machine; the Node may be young, and reads need not show it yet. */
  create(): Promise<MadeInstance>;
  stop?(ref: InstanceRef): Promise<void>;
  /** Of one that was stopped. */
  start?(ref: InstanceRef): Promise<void>;
  /** For ever. */
  terminate?(ref: InstanceRef): Promise<void>;
  /** A Node whose machine is not of this cloud; one with a provider ID of another scheme unless given. */
  foreignRef?(): InstanceRef;
}

type Case = ContractCase<InstancesSubject>;

/** Most cases only look: they share a machine, since machines of real clouds take time and money. */
const shared = new WeakMap<InstancesSubject, Promise<MadeInstance>>();

async function runningMachine(subject: InstancesSubject): Promise<MadeInstance> {
  const known = shared.get(subject) ?? freshMachine(subject);
  shared.set(subject, known);
  return await known;
}

async function freshMachine(subject: InstancesSubject): Promise<MadeInstance> {
  const machine = await subject.create();
  await powered(subject, machine.ref, 'on');
  return machine;
}

const describe = async (subject: InstancesSubject, ref: InstanceRef): Promise<InstanceObservation> =>
  await capabilityOf(subject, 'instances').describe(structuredClone(ref), callWith());

/** What `describeMany` says about one; undefined when there is no such method, or no answer, which means unknown. */
async function amongMany(subject: InstancesSubject, ref: InstanceRef): Promise<InstanceObservation | undefined> {
  const answers = await capabilityOf(subject, 'instances').describeMany?.([structuredClone(ref)], callWith());
  return answers?.get(ref.nodeName);
}

const hasMany = (subject: InstancesSubject): boolean =>
  capabilityOf(subject, 'instances').describeMany !== undefined;

/** Waits for the power; what is answered instead on the way is the last thing that a message shows. */
async function powered(
  subject: InstancesSubject,
  ref: InstanceRef,
  power: 'on' | 'off',
): Promise<PresentInstance> {
  return await eventually(subject, `describe() answers present with power ${power}`, async () => {
    const answer = await describe(subject, ref);
    return answer.state === 'present' && answer.power === power ? { got: answer } : { yet: shown(answer) };
  });
}

async function present(subject: InstancesSubject): Promise<PresentInstance> {
  const { ref } = await runningMachine(subject);
  const answer = await describe(subject, ref);
  if (answer.state === 'present') return answer;
  throw broken(`describe() answered ${shown(answer)} for a running machine`);
}

const shown = (answer: InstanceObservation): string => {
  if (answer.state === 'absent') return `absent ("${answer.evidence}")`;
  return answer.state === 'present' ? `present with power ${answer.power}` : answer.state;
};

const withoutId = ({ nodeName, node }: InstanceRef): InstanceRef => ({ nodeName, node });

function strangerOf({ provider }: InstancesSubject): InstanceRef {
  const providerID = `not-${provider.definition.providerID.scheme}://elsewhere/1`;
  const node: Node = { apiVersion: 'v1', kind: 'Node', metadata: { name: 'stranger' }, spec: { providerID } };
  return { nodeName: 'stranger', providerID, node };
}

const lookCases: readonly Case[] = [
  {
    id: 'instances/running-is-present',
    promise: 'a running machine is present with power on',
    async check(subject) {
      const { ref } = await runningMachine(subject);
      const answer = await describe(subject, ref);
      if (answer.state !== 'present' || answer.power !== 'on')
        throw broken(`describe() answered ${shown(answer)} for a running machine`);
    },
  },
  {
    id: 'instances/provider-id-matches',
    promise: 'provider IDs match the pattern of the definition',
    async check(subject) {
      const { providerID } = await present(subject);
      const { pattern } = subject.provider.definition.providerID;
      if (!pattern.test(providerID))
        throw broken(`describe() answered "${providerID}", which ${pattern} does not match`);
    },
  },
  {
    id: 'instances/provider-id-is-stable',
    promise: 'the provider ID of a machine never changes while it lives',
    async check(subject) {
      const machine = await (subject.start === undefined ? runningMachine(subject) : freshMachine(subject));
      const before = await powered(subject, machine.ref, 'on');
      requireSameId(before, await powered(subject, machine.ref, 'on'), 'the next call');
      if (subject.stop === undefined || subject.start === undefined) return;
      await subject.stop(machine.ref);
      requireSameId(before, await powered(subject, machine.ref, 'off'), 'a stop');
      await subject.start(machine.ref);
      requireSameId(before, await powered(subject, machine.ref, 'on'), 'a start');
    },
  },
  {
    id: 'instances/has-node-ip',
    promise: 'the addresses hold the one that the kubelet uses',
    async check(subject) {
      const { nodeIP } = await runningMachine(subject);
      const addresses = (await present(subject)).addresses.map(({ address }) => address);
      if (addresses.includes(nodeIP)) return;
      const found = addresses.length === 0 ? 'none' : addresses.join(', ');
      throw broken(
        `describe() answered the addresses ${found}, and the kubelet runs with --node-ip=${nodeIP}: a Node whose address the cloud does not confirm keeps the taint uninitialized for ever (ccm/O16)`,
      );
    },
  },
  {
    id: 'instances/found-by-name',
    promise: 'a Node without a provider ID is found by its name',
    async check(subject) {
      const { ref } = await runningMachine(subject);
      const { providerID } = await present(subject);
      const answer = await describe(subject, withoutId(ref));
      if (answer.state !== 'present' || answer.providerID !== providerID)
        throw broken(
          `describe() answered ${shown(answer)} for ${ref.nodeName} without a provider ID, which is ${providerID}`,
        );
    },
  },
  {
    id: 'instances/place-has-names',
    promise: 'zone and region are absent or have a name',
    async check(subject) {
      const { zone, region } = await present(subject);
      for (const [field, value] of Object.entries({ zone, region }))
        if (value !== undefined && (typeof value !== 'string' || value.trim() === ''))
          throw broken(`describe() answered ${field} ${JSON.stringify(value)}: leave it out instead`);
    },
  },
  {
    id: 'instances/labels-are-valid',
    promise: 'labels have keys that a Node takes',
    async check(subject) {
      for (const key of Object.keys((await present(subject)).labels ?? {})) {
        const [problem] = qualifiedNameProblems(key);
        if (problem !== undefined) throw broken(`describe() answered the label "${key}": ${problem}`);
      }
    },
  },
];

function requireSameId(before: PresentInstance, now: PresentInstance, after: string): void {
  if (before.providerID !== now.providerID)
    throw broken(`describe() answered ${before.providerID}, and ${now.providerID} after ${after}`);
}

const existenceCases: readonly Case[] = [
  {
    id: 'instances/new-is-not-absent',
    promise: 'a machine that was just made is not absent',
    async check(subject) {
      const { ref } = await subject.create();
      const { consistencyMs = 0 } = capabilityOf(subject, 'instances').declare();
      for (const each of [ref, withoutId(ref)]) await requireNotGone(subject, each, 'was just made');
      await wait(subject, consistencyMs);
      await requireNotGone(subject, ref, `was made ${consistencyMs} ms ago`);
    },
  },
  {
    id: 'instances/off-still-exists',
    promise: 'a machine that is off still exists',
    needs: ['stop'],
    async check(subject) {
      const { ref } = await freshMachine(subject);
      await subject.stop?.(ref);
      await eventually(subject, 'describe() answers power off for a stopped machine', async () => {
        const answer = await describe(subject, ref);
        if (answer.state !== 'present') throw broken(`describe() answered ${shown(answer)} for a stopped machine`);
        return answer.power === 'off' ? { got: answer } : { yet: shown(answer) };
      });
      const listed = await unlessThrown(amongMany(subject, ref));
      if (listed !== undefined && listed.state !== 'present')
        throw broken(`describeMany() answered ${shown(listed)} for a stopped machine`);
    },
  },
  {
    id: 'instances/absent-has-evidence',
    promise: 'a machine that is gone is absent, with evidence',
    needs: ['terminate'],
    async check(subject) {
      const { ref } = await freshMachine(subject);
      await subject.terminate?.(ref);
      const answer = await eventually(subject, 'describe() answers absent for a terminated machine', async () => {
        const found = await describe(subject, ref);
        return found.state === 'absent' ? { got: found } : { yet: shown(found) };
      });
      if (typeof answer.evidence !== 'string' || answer.evidence.trim() === '')
        throw broken('describe() answered absent without saying how it knows: a Node is deleted because of it');
      if (!hasMany(subject)) return;
      await eventually(subject, 'describeMany() answers absent for a terminated machine', async () => {
        const found = await amongMany(subject, ref);
        return found?.state === 'absent'
          ? { got: found }
          : { yet: found === undefined ? 'nothing' : shown(found) };
      });
    },
  },
  {
    id: 'instances/foreign-is-unmanaged',
    promise: 'a Node whose machine is not of this cloud is unmanaged',
    async check(subject) {
      const ref = subject.foreignRef?.() ?? strangerOf(subject);
      const answer = await describe(subject, ref);
      if (answer.state !== 'unmanaged')
        throw broken(`describe() answered ${shown(answer)} for ${ref.providerID ?? ref.nodeName}`);
    },
  },
];

async function requireNotGone(subject: InstancesSubject, ref: InstanceRef, what: string): Promise<void> {
  // The list first: clouds show a machine there later than anywhere else.
  const listed = await unlessThrown(amongMany(subject, ref));
  if (listed !== undefined && listed.state !== 'present')
    throw broken(
      `describeMany() answered ${shown(listed)} for a machine that ${what}: leave it out until it can be told`,
    );
  const answer = await unlessThrown(describe(subject, ref));
  if (answer !== undefined && answer.state !== 'present')
    throw broken(`describe() answered ${shown(answer)} for a machine that ${what}: throw until it can be told`);
}

/** Whoever cannot tell yet throws. */
async function unlessThrown<T>(answer: Promise<T>): Promise<T | undefined> {
  try {
    return await answer;
  } catch {
    return undefined;
  }
}

function requireAgreement(ref: InstanceRef, one: InstanceObservation, of: InstanceObservation | undefined): void {
  const which = ref.providerID === undefined ? `${ref.nodeName} without a provider ID` : ref.nodeName;
  if (of === undefined) throw broken(`describeMany() left ${which} out; describe() answers ${shown(one)}`);
  if (!isDeepStrictEqual(one, of))
    throw broken(
      `describeMany() answered ${JSON.stringify(of)} for ${which}, and describe() ${JSON.stringify(one)}`,
    );
}

const callCases: readonly Case[] = [
  {
    id: 'instances/many-agree',
    promise: 'describeMany says the same as describe, about every name',
    skip: (subject) => (hasMany(subject) ? undefined : 'there is no describeMany'),
    async check(subject) {
      const { ref } = await runningMachine(subject);
      const refs = [ref, subject.foreignRef?.() ?? strangerOf(subject)];
      const capability = capabilityOf(subject, 'instances');
      const many = await capability.describeMany?.(structuredClone(refs), callWith());
      for (const each of refs) requireAgreement(each, await describe(subject, each), many?.get(each.nodeName));
      const nameless = withoutId(ref);
      const one = await unlessThrown(describe(subject, nameless));
      if (one !== undefined) requireAgreement(nameless, one, await amongMany(subject, nameless));
    },
  },
  {
    id: 'instances/trouble-is-thrown',
    promise: 'trouble of the cloud is thrown and never answered',
    needs: ['breakCloud'],
    async check(subject) {
      const { ref } = await runningMachine(subject);
      await using _broken = await subject.breakCloud?.();
      await requireThrown(callsWith(subject, ref), 'while the cloud was down');
    },
  },
  {
    id: 'instances/abort-is-obeyed',
    promise: 'a call ends when its signal aborts',
    async check(subject) {
      const { ref } = await runningMachine(subject);
      await requireAbort(subject, callsWith(subject, ref, bareCapabilityOf(subject, 'instances')));
    },
  },
  {
    id: 'instances/inputs-are-read-only',
    promise: 'inputs are not changed',
    async check(subject) {
      await requireReadOnly(callsWith(subject, frozen((await runningMachine(subject)).ref)));
    },
  },
];

function callsWith(
  subject: InstancesSubject,
  ref: InstanceRef,
  capability = capabilityOf(subject, 'instances'),
): Parameters<typeof requireReadOnly>[0] {
  return {
    describe: (call) => capability.describe(ref, call),
    ...(capability.describeMany !== undefined && {
      describeMany: async (call) => await capability.describeMany?.(Object.freeze([ref]), call),
    }),
  };
}

/** What `instances` promises. */
export const instancesSuite: ContractSuite<InstancesSubject> = {
  name: 'instances',
  cases: [...lookCases, ...existenceCases, ...callCases],
};

/** Registers the suite with `node:test`, or with what is given. */
export const instancesConformance = (options: ConformanceOptions<InstancesSubject>): void =>
  registerContract(instancesSuite, options);
