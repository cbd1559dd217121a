import type { PersistentVolumeClaim } from '../../../api/generated/core-v1-types.ts';
import type { NodeView } from './node-view.ts';
import type { PodFacts } from './pod-facts.ts';
import { classOf, type StorageObjects } from './storage-view.ts';
import { claimKey } from './volumes.ts';

/** Drivers by volume: what several pods share is attached once. */
type Attached = Map<string, string>;

/** Whether a node can attach the volumes of a pod beside those of its pods (K2). Nodes that say no limit have none. */
export function hasRoomForVolumes(facts: PodFacts, node: NodeView, objects: StorageObjects): boolean {
  const limits = new Map(
    objects.csiNodes
      .get(node.name)
      ?.spec.drivers.flatMap(({ name, allocatable }) =>
        allocatable?.count === undefined ? [] : [[name, allocatable.count] as const],
      ) ?? [],
  );
  if (limits.size === 0) return true;
  const wanted = volumesOf(facts, objects);
  const attached: Attached = new Map();
  for (const pod of node.pods.values())
    for (const [id, driver] of volumesOf(pod, objects)) attached.set(id, driver);
  for (const id of attached.keys()) wanted.delete(id);
  return [...limits].every(([driver, limit]) => {
    const more = countOf(wanted, driver);
    return more === 0 || countOf(attached, driver) + more <= limit;
  });
}

const countOf = (volumes: Attached, driver: string): number =>
  [...volumes.values()].filter((one) => one === driver).length;

function volumesOf(facts: PodFacts, objects: StorageObjects): Attached {
  const volumes: Attached = new Map();
  for (const { name } of facts.claims) {
    const key = claimKey(facts, name);
    const claim = objects.claims.get(key);
    const found = claim === undefined ? undefined : volumeOf(key, claim, objects);
    if (found !== undefined) volumes.set(found.id, found.driver);
  }
  return volumes;
}

/** A volume that is still to be made counts already, for the driver that will make it. */
function volumeOf(
  key: string,
  claim: PersistentVolumeClaim,
  { volumes, classes }: StorageObjects,
): { readonly id: string; readonly driver: string } | undefined {
  const volume = volumes.get(claim.spec.volumeName ?? '');
  if (volume !== undefined) {
    const { csi } = volume.spec;
    return csi === undefined ? undefined : { id: `${csi.driver}/${csi.volumeHandle}`, driver: csi.driver };
  }
  const driver = classes.get(classOf(claim))?.provisioner;
  return driver === undefined ? undefined : { id: `${driver}/claim ${key}`, driver };
}
