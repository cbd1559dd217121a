import { Node, Secret } from '../../../api/generated/core-v1.ts';
import type { Pod, SecretReference } from '../../../api/generated/core-v1-types.ts';
import { CSIDriver, VolumeAttachment } from '../../../api/generated/storage-v1.ts';
import type { CSIDriverSpec } from '../../../api/generated/storage-v1-types.ts';
import { messageOf } from '../../../base/errors.ts';
import type { CallOptions, KubeClient } from '../../../kube/client/kube-client.ts';
import { VolumeProblem } from '../volumes/pod-volumes.ts';
import { attachmentProblem } from './attachment.ts';
import type { ClaimedVolume } from './claimed-volume.ts';
import { attachmentName } from './csi-paths.ts';
import { podContext } from './volume-capability.ts';

const TOKENS = 'csi.storage.k8s.io/serviceAccount.tokens';

type Texts = Readonly<Record<string, string>>;

export interface DriverObjectsOptions {
  readonly client: Pick<KubeClient, 'live' | 'createToken'>;
  readonly node: string;
  readonly call: CallOptions;
}

/** What objects of the cluster say of a volume and its driver. Everything rejects with a VolumeProblem or an ApiError. */
export class DriverObjects {
  readonly #options: DriverObjectsOptions;

  constructor(options: DriverObjectsOptions) {
    this.#options = options;
  }

  /** Without a CSIDriver everything is as its defaults say. */
  async driver(name: string): Promise<CSIDriverSpec> {
    const { client, call } = this.#options;
    return (await client.live.find(CSIDriver, { name }, call))?.spec ?? {};
  }

  /** What the attacher said of the attachment; empty for a driver that needs none. Rejects while it is not attached. */
  async publishContext(pod: Pod, volume: ClaimedVolume, { attachRequired = true }: CSIDriverSpec): Promise<Texts> {
    if (!attachRequired) return {};
    const { client, node: nodeName, call } = this.#options;
    const name = attachmentName(volume, nodeName);
    const [attachment, node] = await Promise.all([
      client.live.find(VolumeAttachment, { name }, call),
      client.live.find(Node, { name: nodeName }, call),
    ]);
    const problem = attachmentProblem({ volume, pod, nodeName, attachment, node });
    if (problem !== undefined) throw problem;
    return attachment?.status?.attachmentMetadata ?? {};
  }

  /** The text of a Secret that a PersistentVolume names. */
  async secrets(kind: 'NodeStageSecretRef' | 'NodePublishSecretRef', reference?: SecretReference): Promise<Texts> {
    if (reference === undefined) return {};
    const { client, call } = this.#options;
    const { name = '', namespace = '' } = reference;
    try {
      const { data = {} } = await client.live.get(Secret, { namespace, name }, call);
      const texts = Object.entries(data).map(
        ([key, value]) => [key, Buffer.from(value, 'base64').toString('utf8')] as const,
      );
      return Object.fromEntries(texts);
    } catch (error) {
      throw new VolumeProblem('FailedMount', `fetching ${kind} ${namespace}/${name} failed: ${messageOf(error)}`);
    }
  }

  /** What a driver is told of the pod besides what the volume says: itself, and tokens of its account. */
  async podTexts(pod: Pod, spec: CSIDriverSpec): Promise<{ readonly context: Texts; readonly secrets: Texts }> {
    const context = spec.podInfoOnMount === true ? podContext(pod) : {};
    const tokens = await this.#tokens(pod, spec);
    if (spec.serviceAccountTokenInSecrets === true) return { context, secrets: tokens };
    return { context: { ...context, ...tokens }, secrets: {} };
  }

  async #tokens({ metadata, spec }: Pod, { tokenRequests = [] }: CSIDriverSpec): Promise<Texts> {
    if (tokenRequests.length === 0) return {};
    const { client, call } = this.#options;
    const { name, namespace = '', uid } = metadata;
    const boundObject = { apiVersion: 'v1', kind: 'Pod', name, ...(uid !== undefined && { uid }) };
    const key = { namespace, name: spec.serviceAccountName ?? 'default' };
    const tokens = await Promise.all(
      tokenRequests.map(async ({ audience, expirationSeconds }) => {
        const token = await client.createToken(key, {
          ...call,
          boundObject,
          ...(audience !== '' && { audiences: [audience] }),
          ...(expirationSeconds !== undefined && { expirationSeconds }),
        });
        return [audience, token] as const;
      }),
    );
    return { [TOKENS]: JSON.stringify(Object.fromEntries(tokens)) };
  }
}
