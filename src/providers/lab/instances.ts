import type { Call } from '../../sdk/capabilities/call.ts';
import type { InstanceObservation, InstanceRef, Instances } from '../../sdk/capabilities/instances.ts';
import { isProviderError, ProviderError } from '../../sdk/provider/provider-error.ts';
import { CONSISTENCY_MS } from './fresh-balancers.ts';
import { instanceIdOf, namesake, nodeAgeMs, observation } from './instance-choice.ts';
import type { LabClient } from './lab-client.ts';
import { isGone } from './lab-errors.ts';
import { instanceSchema, type LabInstance } from './lab-objects.ts';

type LabCall = Call<LabClient>;

const UNMANAGED: InstanceObservation = { state: 'unmanaged' };
/** Machines that a list did not show are asked for so many at a time. */
const MOST_AT_ONCE = 8;

/** Machines of the lab cloud behind Nodes. */
export const instances: Instances<LabCall> = {
  declare: () => ({ consistencyMs: CONSISTENCY_MS }),

  async describe(ref, call) {
    if (ref.providerID !== undefined) return await byProviderId(ref, ref.providerID, call);
    return await named(ref, await ofCluster(call, ref.nodeName), call);
  },

  async describeMany(refs, call) {
    const listed = await ofCluster(call);
    const answers = new Map<string, InstanceObservation>();
    for (let at = 0; at < refs.length; at += MOST_AT_ONCE) {
      const group = refs.slice(at, at + MOST_AT_ONCE);
      const found = await Promise.all(group.map((ref) => unlessUnknown(ref, listed, call)));
      for (const [index, { nodeName }] of group.entries()) {
        const answer = found[index];
        if (answer !== undefined) answers.set(nodeName, answer);
      }
    }
    return answers;
  },
};

/** Those that carry the tag of the cluster. */
export const ofCluster = ({ client, signal }: LabCall, name?: string): Promise<readonly LabInstance[]> =>
  client.list(
    'instances',
    { tags: client.clusterTags, ...(name !== undefined && { name }) },
    instanceSchema,
    signal,
  );

/** One answer out of a list; undefined for what cannot be told now. */
async function unlessUnknown(
  ref: InstanceRef,
  listed: readonly LabInstance[],
  call: LabCall,
): Promise<InstanceObservation | undefined> {
  try {
    if (ref.providerID === undefined) return await named(ref, listed, call);
    const shown = listed.find(({ providerID }) => providerID === ref.providerID);
    return shown === undefined ? await byProviderId(ref, ref.providerID, call) : await observed(shown, call);
  } catch (err) {
    if (!isProviderError(err)) throw err;
    call.log.debug({ err, node: ref.nodeName }, 'Could not tell what became of an instance');
    return undefined;
  }
}

async function byProviderId(ref: InstanceRef, providerID: string, call: LabCall): Promise<InstanceObservation> {
  const { client, signal } = call;
  const id = instanceIdOf(providerID);
  if (id === undefined) return UNMANAGED;
  try {
    const instance = await client.get('instances', id, instanceSchema, signal);
    return instance.providerID === providerID ? await observed(instance, call) : UNMANAGED;
  } catch (error) {
    if (!isGone(error)) throw error;
    requireOld(ref, call);
    return { state: 'absent', evidence: error.message };
  }
}

/** A Node that no machine has the name of may stand for a machine of somebody else: that proves nothing. */
async function named(
  ref: InstanceRef,
  known: readonly LabInstance[],
  call: LabCall,
): Promise<InstanceObservation> {
  const instance = namesake(ref, known);
  if (instance === undefined || instance.state === 'terminated') requireOld(ref, call);
  return instance === undefined ? UNMANAGED : await observed(instance, call);
}

const observed = async (instance: LabInstance, { client, signal }: LabCall): Promise<InstanceObservation> =>
  observation(instance, await client.regionOf(instance.zone, signal));

/** What is missing right after its creation may only not be shown yet (lab/C7). */
function requireOld(ref: InstanceRef, { client }: LabCall): void {
  const leftMs = CONSISTENCY_MS - nodeAgeMs(ref, client.clock.now());
  if (leftMs < 0) return;
  const message = `the machine of node ${ref.nodeName} cannot be seen yet: reads may be ${CONSISTENCY_MS} ms old`;
  throw new ProviderError('unavailable', message, { retryAfterMs: Math.max(1, Math.ceil(leftMs)) });
}
