import { isDeepStrictEqual } from 'node:util';
import type { Zone } from '../capabilities/zones.ts';
import { broken, type ContractSuite } from './contract.ts';
import {
  answerText,
  bareCapabilityOf,
  callWith,
  capabilityOf,
  type ProviderSubject,
  requireAbort,
  requireThrown,
} from './contract-subject.ts';
import { type ConformanceOptions, registerContract } from './test-framework.ts';

/** Zones need nothing but a provider. */
export type ZonesSubject = ProviderSubject;

const list = (subject: ZonesSubject): Promise<readonly Zone[]> => capabilityOf(subject, 'zones').list(callWith());

const callsWith = (subject: ZonesSubject): Parameters<typeof requireThrown>[0] => ({
  list: (call) => capabilityOf(subject, 'zones').list(call),
});

/** What `zones` promises. */
export const zonesSuite: ContractSuite<ZonesSubject> = {
  name: 'zones',
  cases: [
    {
      id: 'zones/there-is-one',
      promise: 'there is at least one zone, and each has a name of its own and a region',
      async check(subject) {
        const zones = await list(subject);
        if (zones.length === 0) throw broken('list() answered none');
        const nameless = zones.find(({ name, region }) => name.trim() === '' || region.trim() === '');
        if (nameless !== undefined) throw broken(`list() answered ${answerText(nameless)}`);
        if (new Set(zones.map(({ name }) => name)).size < zones.length)
          throw broken(`list() answered a name twice: ${zones.map(({ name }) => name).join(', ')}`);
      },
    },
    {
      id: 'zones/are-stable',
      promise: 'zones are the same, in the same order, whenever they are asked for',
      async check(subject) {
        const [first, second] = [await list(subject), await list(subject)];
        if (!isDeepStrictEqual(first, second))
          throw broken(`list() answered ${answerText(first)}, and then ${answerText(second)}`);
      },
    },
    {
      id: 'zones/trouble-is-thrown',
      promise: 'trouble of the cloud is thrown and never answered',
      needs: ['breakCloud'],
      async check(subject) {
        await using _broken = await subject.breakCloud?.();
        await requireThrown(callsWith(subject), 'while the cloud was down');
      },
    },
    {
      id: 'zones/abort-is-obeyed',
      promise: 'a call ends when its signal aborts',
      async check(subject) {
        const zones = bareCapabilityOf(subject, 'zones');
        await requireAbort(subject, { list: (call) => zones.list(call) });
      },
    },
  ],
};

/** Registers the suite with `node:test`, or with what is given. */
export const zonesConformance = (options: ConformanceOptions<ZonesSubject>): void =>
  registerContract(zonesSuite, options);
