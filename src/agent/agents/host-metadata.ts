import type { OpenshiftAssistedConfigSpec } from '../../api/agent/bootstrap-v1alpha2.ts';
import type { Host } from './host-match.ts';

/** What a config says of a node, as far as it is known without a config drive. */
export interface ResolvedNode {
  readonly spec: OpenshiftAssistedConfigSpec;
  readonly hostname?: string;
  readonly labels: Readonly<Record<string, string>>;
}

const REFERENCE = /\$(?:([A-Za-z_][A-Za-z0-9_]*)|\{([A-Za-z_][A-Za-z0-9_]*)\})/g;
const NAME_REFERENCE = /^\$?\{?([A-Za-z_][A-Za-z0-9_]*)\}?$/;

/** Pure: what Metal3 writes to the config drive of a host (section 3). */
function hostMetadata({ key: { name, namespace = '' }, uid, infraMachine }: Host): ReadonlyMap<string, string> {
  return new Map([
    ['METADATA_UUID', uid],
    ['METADATA_NAME', name],
    ['METADATA_METAL3_NAME', name],
    ['METADATA_LOCAL_HOSTNAME', name],
    ['METADATA_METAL3_NAMESPACE', namespace],
    ['METADATA_PROVIDERID', `${namespace}/${name}/${infraMachine}`],
  ]);
}

/**
 * Pure: the settings of a node with the values of its host in place of variables. A host that booted an ISO has no
 * config drive to read them from; what Metal3 does not know stays a variable.
 */
export function resolvedNode(spec: OpenshiftAssistedConfigSpec, host: Host): ResolvedNode {
  const { nodeRegistration } = spec;
  if (nodeRegistration === undefined) return { spec, labels: {} };
  const values = hostMetadata(host);
  const { name = '', kubeletExtraLabels = [], providerID, ...rest } = nodeRegistration;
  const labels = kubeletExtraLabels.map((label) => filledLabel(label, values));
  const hostname = values.get(NAME_REFERENCE.exec(name)?.[1] ?? '');
  return {
    spec: {
      ...spec,
      nodeRegistration: {
        ...rest,
        // Assisted-service names the host, so that nothing is left for the node to do.
        ...(hostname === undefined && name !== '' && { name }),
        ...(labels.length > 0 && { kubeletExtraLabels: labels }),
        ...(providerID !== undefined && { providerID: filled(providerID, values) }),
      },
    },
    ...(hostname !== undefined && { hostname }),
    labels: Object.fromEntries(labels.flatMap(knownLabel)),
  };
}

const filled = (text: string, values: ReadonlyMap<string, string>): string =>
  text.replaceAll(REFERENCE, (all, bare?: string, braced?: string) => values.get(bare ?? braced ?? '') ?? all);

/** Variables are for values, as on the node. */
function filledLabel(label: string, values: ReadonlyMap<string, string>): string {
  const at = label.indexOf('=');
  return at < 0 ? label : label.slice(0, at) + filled(label.slice(at), values);
}

/** One whose value is known in full. */
function knownLabel(label: string): readonly (readonly [string, string])[] {
  const at = label.indexOf('=');
  return at <= 0 || label.includes('$') ? [] : [[label.slice(0, at), label.slice(at + 1)]];
}
