import { Node } from '../../../api/generated/core-v1.ts';
import { CSINode } from '../../../api/generated/storage-v1.ts';
import type { JsonObject } from '../../../api/json.ts';
import { keyOf } from '../../../api/object.ts';
import type { ChannelSource } from '../../../kube/controller/channel.ts';
import { type Controller, controllerOf } from '../../../kube/controller/controller.ts';
import { after, DONE, type ReconcileContext } from '../../../kube/controller/reconcile.ts';
import { needs } from '../../../kube/rbac/need.ts';
import { isOfNode, nextDrivers, nodeMarks } from './csi-node-object.ts';
import type { DriverStore } from './driver-store.ts';

export interface CsiNodeOptions {
  /** The name of the node. */
  readonly node: string;
  readonly drivers: Pick<DriverStore, 'registered' | 'gone' | 'subscribe'>;
}

/** How long until the Node object is looked for again: the node registers when it can. */
const NODE_WAIT_MS = 5_000;

/**
 * Tells the cluster which CSI drivers a node has (N36): its CSINode, which belongs to the Node, and annotation and
 * topology labels of the Node itself.
 */
export function csiNode({ node: name, drivers }: CsiNodeOptions): Controller {
  return (
    controllerOf('csi-node')
      // A node may not watch CSINodes; its Node tells when to look again, by the status that it reports, if nothing else.
      .watches(Node, (object) => (object.metadata.name === name ? [keyOf(object)] : []))
      .watchesChannel(changesOf(name, drivers))
      .needs(
        needs(CSINode, ['create']),
        needs(CSINode, ['get', 'patch', 'delete'], { names: [name] }),
        needs(Node, ['get', 'patch'], { names: [name] }),
      )
      .reconcileKeys(async (key, context) => {
        // Always the newest: what belongs to a Node of the past is removed at once.
        const node = await context.client.live.find(Node, key);
        if (node === undefined) return after(NODE_WAIT_MS);
        const isSettled = await tellDrivers(node, drivers, context);
        await markNode(node, drivers, context);
        return isSettled ? DONE : after(1);
      })
  );
}

type Drivers = CsiNodeOptions['drivers'];

/** One step towards the CSINode that is to be; whether it was the last one. */
async function tellDrivers(node: Node, drivers: Drivers, { client }: ReconcileContext): Promise<boolean> {
  const { name, uid = '' } = node.metadata;
  const found = await client.live.find(CSINode, { name });
  if (found === undefined) {
    const ownerReferences = [{ apiVersion: 'v1', kind: 'Node', name, uid }];
    const next = nextDrivers([], drivers) ?? [];
    await client.create(CSINode, { metadata: { name, ownerReferences }, spec: { drivers: next } });
    return true;
  }
  if (!isOfNode(found, node)) {
    const { uid: former } = found.metadata;
    await client.delete(CSINode, { name }, former === undefined ? {} : { preconditions: { uid: former } });
    return false;
  }
  const next = nextDrivers(found.spec.drivers, drivers);
  if (next === undefined) return true;
  const { resourceVersion = '' } = found.metadata;
  const body: JsonObject = { metadata: { resourceVersion }, spec: { drivers: next.map((entry) => plain(entry)) } };
  await client.patch(CSINode, { name }, { type: 'merge', body });
  return nextDrivers(next, drivers) === undefined;
}

/** Only what goes to JSON anyway. */
const plain = (value: object): JsonObject => JSON.parse(JSON.stringify(value)) as JsonObject;

async function markNode(node: Node, drivers: Drivers, { client, events }: ReconcileContext): Promise<void> {
  const { patch: body, conflicts } = nodeMarks(node, drivers);
  for (const conflict of conflicts) events.warning(node, 'TopologyConflict', conflict);
  if (body !== undefined) await client.patch(Node, keyOf(node), { type: 'merge', body });
}

const changesOf = (name: string, drivers: Drivers): ChannelSource => ({
  subscribe(listener) {
    listener({ name });
    return drivers.subscribe(() => listener({ name }));
  },
});
