import type { Machine } from '../../../api/cluster-api/core-v1beta2.ts';
import { Secret } from '../../../api/generated/core-v1.ts';
import { Metal3DataTemplate, Metal3Machine } from '../../../api/metal3/infrastructure-v1beta2.ts';
import type { BareMetalHost } from '../../../api/metal3/metal3-v1alpha1.ts';
import { isAlreadyExists } from '../../../kube/client/api-error.ts';
import type { ReconcileContext } from '../../../kube/controller/reconcile.ts';
import { ownedBy } from '../../../object/owner-references.ts';
import { printYaml } from '../../../object/yaml.ts';
import { writeChanges } from '../core/write-changes.ts';
import { renderedMetaData } from './data-template.ts';

interface Scope {
  readonly metal3Machine: Metal3Machine;
  readonly machine: Machine;
  readonly host: BareMetalHost;
}

/** The Secret with what a Metal3DataTemplate puts on the config drive. Metal3 makes it through two more kinds. */
export class MachineMetaData {
  /** The machine that refers to it; undefined while the template is missing. Machines without a template need none. */
  async ensure(scope: Scope, context: ReconcileContext): Promise<Metal3Machine | undefined> {
    const { metal3Machine } = scope;
    const { namespace = '', name } = metal3Machine.metadata;
    const { name: template = '' } = metal3Machine.spec?.dataTemplate ?? {};
    if (template === '' || hasMetaData(metal3Machine)) return metal3Machine;
    const { client } = context;
    const found = await client.live.find(Metal3DataTemplate, { namespace, name: template });
    if (found === undefined) return undefined;
    const index = await indexOf(metal3Machine, template, context);
    const metaData = printYaml(renderedMetaData(found, { ...scope, index }));
    const secret = { name: `${name}-metadata`, namespace };
    try {
      await client.create(Secret, {
        metadata: {
          ...secret,
          labels: { ...metal3Machine.metadata.labels },
          ...ownedBy(metal3Machine, Metal3Machine),
        },
        type: 'infrastructure.cluster.x-k8s.io/secret',
        data: { metaData: Buffer.from(metaData).toString('base64') },
      });
    } catch (error) {
      // An earlier attempt, which did not live to tell.
      if (!isAlreadyExists(error)) throw error;
    }
    // A field that the types of others do not name.
    const status: Metal3Machine['status'] & { readonly metaData: typeof secret } = {
      ...metal3Machine.status,
      metaData: secret,
    };
    return writeChanges(client, Metal3Machine, metal3Machine, { status });
  }
}

const hasMetaData = ({ status }: Metal3Machine): boolean =>
  status !== undefined && 'metaData' in status && status.metaData !== undefined;

/** The place among the machines of the template, oldest first. */
async function indexOf(
  { metadata: { namespace = '', name } }: Metal3Machine,
  template: string,
  { client }: ReconcileContext,
): Promise<number> {
  const { items } = await client.list(Metal3Machine, { namespace });
  const names = items
    .filter(({ spec }) => spec?.dataTemplate?.name === template)
    .toSorted((a, b) => ageOf(a) - ageOf(b) || (a.metadata.name < b.metadata.name ? -1 : 1))
    .map(({ metadata }) => metadata.name);
  return Math.max(0, names.indexOf(name));
}

const ageOf = ({ metadata: { creationTimestamp } }: Metal3Machine): number =>
  Date.parse(creationTimestamp ?? '') || 0;
