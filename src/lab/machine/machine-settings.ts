import { z } from 'zod';
import type { Taint } from '../../api/generated/core-v1-types.ts';
import { messageOf } from '../../base/errors.ts';
import { parseYaml } from '../../object/yaml.ts';
import type { NodeSettings } from '../node/registration/node-object.ts';
import type { BootstrapWay } from '../node/registration/way-in.ts';
import type { Ignition } from './ignition.ts';

/** What a machine has to know to become a node. */
export interface MachineSettings {
  readonly node: NodeSettings;
  readonly way: BootstrapWay;
}

/** Where installers of OpenShift put it. */
const KUBECONFIG = '/etc/kubernetes/kubeconfig';
const HOSTNAME = '/etc/hostname';
const UNIT = 'kubelet.service';

/** Pure: how a machine joins its cluster (N1). Throws with one sentence when its files do not say. */
export function machineSettings(ignition: Ignition, machine: { readonly hostname: string }): MachineSettings {
  const text = fileText(ignition, KUBECONFIG);
  if (text === undefined)
    throw new Error(`user data has no file ${KUBECONFIG}: the machine does not know its cluster`);
  const flags = kubeletFlags(ignition.units.get(UNIT) ?? '');
  const hostname = fileText(ignition, HOSTNAME)?.trim() ?? machine.hostname;
  const name = flags.get('hostname-override') ?? hostname;
  return { node: { hostname, ...flaggedSettings(flags), name }, way: bootstrapWay(text) };
}

/** Pure: whether the files of a machine say which cluster it is to join. */
export const namesCluster = (ignition: Ignition): boolean => fileText(ignition, KUBECONFIG) !== undefined;

const fileText = ({ files }: Ignition, path: string): string | undefined =>
  files.find((file) => file.path === path)?.content.toString('utf8');

/** The flags of `kubelet` in its unit; the last one of a name wins. */
const kubeletFlags = (unit: string): ReadonlyMap<string, string> =>
  new Map(
    [...unit.matchAll(/(?<=\s)--([a-z-]+)=("[^"]*"|\S+)/g)].map((found) => [found[1] ?? '', bare(found[2] ?? '')]),
  );

const bare = (text: string): string => text.replace(/^"(.*)"$/s, '$1');

function flaggedSettings(flags: ReadonlyMap<string, string>): Omit<NodeSettings, 'name'> {
  const [provider, providerId, address] = ['cloud-provider', 'provider-id', 'node-ip'].map((name) =>
    flags.get(name),
  );
  return {
    labels: Object.fromEntries(listed(flags.get('node-labels')).map((label) => pair(label, '='))),
    taints: listed(flags.get('register-with-taints')).map(taintOf),
    ...(provider === 'external' && { cloudProvider: provider }),
    ...(providerId !== undefined && { providerId }),
    ...(address !== undefined && { forcedAddress: address }),
  };
}

const listed = (text = ''): readonly string[] => text.split(',').filter((one) => one !== '');

const pair = (text: string, separator: string): readonly [string, string] => {
  const at = text.indexOf(separator);
  return at < 0 ? [text, ''] : [text.slice(0, at), text.slice(at + 1)];
};

const EFFECTS = ['NoSchedule', 'PreferNoSchedule', 'NoExecute'] as const;
const isEffect = (text: string): text is (typeof EFFECTS)[number] => (EFFECTS as readonly string[]).includes(text);

/** `key=value:Effect`, or `key:Effect`. */
function taintOf(text: string): Taint {
  const [left, effect] = pair(text, ':');
  const [key, value] = pair(left, '=');
  if (!isEffect(effect))
    throw new Error(`${UNIT}: --register-with-taints: "${text}" ends with none of ${EFFECTS.join(', ')}`);
  return { key, ...(value !== '' && { value }), effect };
}

const clusterSchema = z.object({
  cluster: z.object({ server: z.url(), 'certificate-authority-data': z.base64() }),
});
const userSchema = z.object({ user: z.object({ token: z.string().min(1) }) });
/** Only what installers write: one cluster, one user. */
const kubeconfigSchema = z.object({ clusters: z.tuple([clusterSchema]), users: z.tuple([userSchema]) });

function yamlOf(text: string): unknown {
  try {
    return parseYaml(text);
  } catch (error) {
    throw new Error(`${KUBECONFIG}: ${messageOf(error)}`, { cause: error });
  }
}

function bootstrapWay(text: string): BootstrapWay {
  const result = kubeconfigSchema.safeParse(yamlOf(text));
  if (!result.success) {
    const [issue] = result.error.issues;
    throw new Error(`${KUBECONFIG}: ${issue?.path.join('.') ?? ''}: ${issue?.message ?? 'is wrong'}`);
  }
  const [{ cluster }] = result.data.clusters;
  const [{ user }] = result.data.users;
  const caPem = Buffer.from(cluster['certificate-authority-data'], 'base64').toString('utf8');
  return { mode: 'bootstrap', url: cluster.server, caPem, token: user.token };
}
