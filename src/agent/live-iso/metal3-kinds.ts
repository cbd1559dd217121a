import { CustomResourceDefinition } from '../../api/generated/apiextensions-v1.ts';
import {
  INFRASTRUCTURE_GROUP,
  Metal3Machine,
  Metal3MachineTemplate,
} from '../../api/metal3/infrastructure-v1beta2.ts';
import { type Kind, type KubeObject, resourceOf } from '../../api/object.ts';
import { retryError } from '../../base/errors.ts';
import type { LiveReader } from '../../kube/client/kube-client.ts';

export interface Metal3Kinds {
  readonly machine: Kind<Metal3Machine>;
  readonly template: Kind<Metal3MachineTemplate>;
}

/** The newest contract first; the value of the label names the version that keeps it. */
const CONTRACTS = ['cluster.x-k8s.io/v1beta2', 'cluster.x-k8s.io/v1beta1'];

/** The only kinds that are read here at run time; roles name them. */
export const METAL3_DEFINITIONS: readonly string[] = [
  resourceOf(Metal3Machine),
  resourceOf(Metal3MachineTemplate),
];

/** Pure: whether the live-ISO writer knows the infrastructure of a Machine. */
export const isMetal3 = ({ apiGroup, kind }: { readonly apiGroup: string; readonly kind: string }): boolean =>
  apiGroup === INFRASTRUCTURE_GROUP && kind === Metal3Machine.kind;

/**
 * The kinds of Metal3 in the version that keeps the contract of Cluster API, as core finds it: by labels of the
 * definitions. Found once for each life of the program; an upgrade of Metal3 keeps serving the old version for a while.
 */
export class ContractKinds {
  #found: Metal3Kinds | undefined;

  async find(reader: LiveReader): Promise<Metal3Kinds> {
    this.#found ??= {
      machine: await inContract(reader, Metal3Machine),
      template: await inContract(reader, Metal3MachineTemplate),
    };
    return this.#found;
  }
}

async function inContract<T extends KubeObject>(reader: LiveReader, kind: Kind<T>): Promise<Kind<T>> {
  const name = resourceOf(kind);
  const definition = await reader.find(CustomResourceDefinition, { name }, { metadataOnly: true });
  const labels = definition?.metadata.labels ?? {};
  const text = CONTRACTS.map((contract) => labels[contract] ?? '').find((versions) => versions !== '');
  if (definition === undefined || text === undefined)
    throw retryError(
      'InfrastructureNotServed',
      `CustomResourceDefinition ${name} ${definition === undefined ? 'does not exist' : `has none of the labels ${CONTRACTS.join(', ')}`}; install the Metal3 infrastructure provider`,
    );
  // Several versions may keep a contract; they are separated by underscores, and the last is the newest.
  return { ...kind, version: text.split('_').at(-1) ?? kind.version };
}
