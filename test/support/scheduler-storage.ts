import { PersistentVolume, PersistentVolumeClaim } from '../../src/api/generated/core-v1.ts';
import { CSINode, StorageClass } from '../../src/api/generated/storage-v1.ts';
import type { KubeClient } from '../../src/kube/client/kube-client.ts';
import type { PodSketch } from './pretend-cluster.ts';

const DRIVER = 'csi.example';
const SELECTED = 'volume.kubernetes.io/selected-node';

/** What makes, binds and limits volumes, in place of the controllers that do it. */
export class PretendStorage {
  readonly #client: KubeClient;

  constructor(client: KubeClient) {
    this.#client = client;
  }

  async addClass(name: string, volumeBindingMode: 'Immediate' | 'WaitForFirstConsumer'): Promise<void> {
    await this.#client.create(StorageClass, { metadata: { name }, provisioner: DRIVER, volumeBindingMode });
  }

  async addClaim(name: string, storageClassName: string): Promise<void> {
    await this.#client.create(PersistentVolumeClaim, {
      metadata: { namespace: 'default', name },
      spec: { storageClassName, accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
    });
  }

  /** A volume for a claim, reachable from one node or from all. */
  async provision(name: string, node?: string): Promise<void> {
    const volumeName = `pv-${name}`;
    const matchExpressions = [{ key: 'kubernetes.io/hostname', operator: 'In' as const, values: [node ?? ''] }];
    await this.#client.create(PersistentVolume, {
      metadata: { name: volumeName },
      spec: {
        capacity: { storage: '1Gi' },
        accessModes: ['ReadWriteOnce'],
        csi: { driver: DRIVER, volumeHandle: name },
        ...(node !== undefined && { nodeAffinity: { required: { nodeSelectorTerms: [{ matchExpressions }] } } }),
      },
    });
    const annotations = { 'pv.kubernetes.io/bind-completed': 'yes' };
    await this.#patch(name, { metadata: { annotations }, spec: { volumeName } });
  }

  /** A volume cannot be made where it was wanted. */
  async giveUp(name: string): Promise<void> {
    await this.#patch(name, { metadata: { annotations: { [SELECTED]: null } } });
  }

  async limit(node: string, count: number): Promise<void> {
    const spec = { drivers: [{ name: DRIVER, nodeID: node, allocatable: { count } }] };
    await this.#client.create(CSINode, { metadata: { name: node }, spec });
  }

  /** A driver that registers anew: what it says of itself cannot be changed. */
  async raiseLimit(name: string, count: number): Promise<void> {
    await this.#client.delete(CSINode, { name });
    await this.limit(name, count);
  }

  /** The node for which a volume is to be made. */
  async selectedNode(name: string): Promise<string | undefined> {
    const { metadata } = await this.#client.get(PersistentVolumeClaim, { namespace: 'default', name });
    return metadata.annotations?.[SELECTED];
  }

  async #patch(name: string, body: object): Promise<void> {
    const key = { namespace: 'default', name };
    await this.#client.patch(PersistentVolumeClaim, key, { type: 'merge', body: body as never });
  }
}

/** A pod with volumes from claims. */
export const podUsing = (name: string, ...claims: readonly string[]): PodSketch => ({
  name,
  spec: { volumes: claims.map((claimName) => ({ name: claimName, persistentVolumeClaim: { claimName } })) },
});
