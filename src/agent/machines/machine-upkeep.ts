import type { OpenshiftAssistedControlPlane } from '../../api/agent/controlplane-v1alpha3.ts';
import { Machine } from '../../api/cluster-api/core-v1beta2.ts';
import type { Condition } from '../../api/object.ts';
import { patcher } from '../../kube/apply/patcher.ts';
import { isConflict, isNotFound } from '../../kube/client/api-error.ts';
import type { KubeClient } from '../../kube/client/kube-client.ts';
import type { ReconcileContext } from '../../kube/controller/reconcile.ts';
import { conditionsOf, findCondition, setCondition } from '../../object/conditions.ts';
import { type MachineIdentity, machineMetadata, refreshedMachine } from './machine-objects.ts';

type TextMap = Readonly<Record<string, string>>;

const UP_TO_DATE = 'UpToDate';
const FIRST = ['Available', 'Ready', UP_TO_DATE];

/** Says on the Machine whether it is what its control plane asks for (C17); writes only when that changed. */
export async function sayUpToDate(
  { client, now }: Pick<ReconcileContext, 'client' | 'now'>,
  machine: Machine,
  outdated: readonly string[],
): Promise<void> {
  const isCurrent = outdated.length === 0;
  const wanted = {
    type: UP_TO_DATE,
    status: isCurrent ? 'True' : 'False',
    reason: isCurrent ? 'UpToDate' : 'NotUpToDate',
    message: outdated.map((part) => `* ${part}`).join('\n'),
  } as const;
  const { status, reason, message } = findCondition(machine, UP_TO_DATE) ?? {};
  if (status === wanted.status && reason === wanted.reason && message === wanted.message) return;
  const { generation } = machine.metadata;
  const stamped = { ...wanted, ...(generation !== undefined && { observedGeneration: generation }) };
  const { conditions } = setCondition(conditionsOf(machine), stamped, now());
  const patching = patcher(client, Machine, machine);
  // A draft is a copy that may be changed.
  patching.draft.status = structuredClone({ ...machine.status, conditions }) as NonNullable<
    typeof patching.draft.status
  >;
  await unlessGone(() => patching.patch({ ownedConditions: [UP_TO_DATE], orderConditions: machineOrder }));
}

/** As core sorts what it knows by name; the rest stays as it found it. */
const machineOrder = (conditions: readonly Condition[]): readonly Condition[] =>
  conditions.toSorted((a, b) => placeOf(a) - placeOf(b));

const placeOf = ({ type }: Condition): number => (FIRST.includes(type) ? FIRST.indexOf(type) : FIRST.length);

/** Somebody deleted the Machine meanwhile: its event brings the next reconcile. */
async function unlessGone(write: () => Promise<unknown>): Promise<void> {
  try {
    await write();
  } catch (error) {
    // A conflict of the uid, for fields are taken by force.
    if (!isNotFound(error) && !isConflict(error)) throw error;
  }
}

/**
 * Keeps labels and annotations of Machines as their template has them, without a rollout. A key that left the template
 * leaves Machines by being no longer applied; whether there are such keys the object does not show, so that each Machine
 * is applied once in the life of the process and then only for a change.
 */
export class MachineMetadata {
  /** By uid, with what was applied; of Machines that exist. */
  readonly #applied = new Map<string, ReadonlyMap<string, string>>();

  async keep(
    client: KubeClient,
    { object, clusterName }: Pick<MachineIdentity, 'object' | 'clusterName'>,
    machines: readonly Machine[],
  ): Promise<void> {
    const owner = object.metadata.uid ?? '';
    const before = this.#applied.get(owner) ?? new Map<string, string>();
    const wanted = machineMetadata({ object, clusterName });
    const text = JSON.stringify(wanted);
    const kept = new Map<string, string>();
    for (const machine of machines) {
      const { uid = '', labels = {}, annotations = {}, deletionTimestamp } = machine.metadata;
      const isThere = holds(labels, wanted.labels) && holds(annotations, wanted.annotations);
      if (deletionTimestamp === undefined && !(isThere && before.get(uid) === text))
        await unlessGone(() =>
          client.apply(Machine, refreshedMachine(machine, { object, clusterName }), { force: true }),
        );
      kept.set(uid, text);
    }
    this.#applied.set(owner, kept);
  }

  /** A Machine that was just made has what it should have. */
  made(identity: Pick<MachineIdentity, 'object' | 'clusterName'>, { metadata: { uid = '' } }: Machine): void {
    const owner = identity.object.metadata.uid ?? '';
    const text = JSON.stringify(machineMetadata(identity));
    this.#applied.set(owner, new Map([...(this.#applied.get(owner) ?? []), [uid, text]]));
  }

  forget({ metadata: { uid = '' } }: OpenshiftAssistedControlPlane): void {
    this.#applied.delete(uid);
  }
}

const holds = (found: TextMap, wanted: TextMap): boolean =>
  Object.entries(wanted).every(([key, value]) => found[key] === value);
