import type { TransformContext } from '../definition.ts';
import { ensureSection, findSection, type IniSection, setIniKey } from './ini-file.ts';
import { parseIni } from './ini-reader.ts';
import { printIniFile } from './ini-writer.ts';
import { cloudConfigProblem, during, wrongPlatform } from './problem.ts';

/** What these must say, if they say anything: another program once read them. In this order they are complained about. */
const LEGACY: readonly (readonly [key: string, value: string])[] = [
  ['secret-name', 'openstack-credentials'],
  ['secret-namespace', 'kube-system'],
  ['kubeconfig-path', ''],
];

const CREDENTIALS: readonly (readonly [key: string, value: string])[] = [
  ['use-clouds', 'true'],
  ['clouds-file', '/etc/openstack/secret/clouds.yaml'],
  ['cloud', 'openstack'],
];

const LOAD_BALANCER: readonly (readonly [key: string, value: string])[] = [
  // Load balancers that several Services share are a danger where people do not know about them.
  ['max-shared-lb', '1'],
  ['manage-security-groups', 'true'],
];

/** R73: credentials come from a file, and sections of other programs go. */
export function openStackCloudConfig(source: string, { infra }: TransformContext): string {
  if (infra.status?.platformStatus?.type !== 'OpenStack') throw wrongPlatform('to be OpenStack');
  const file = during('failed to read the cloud.conf', () => parseIni(source));
  const global = ensureSection(file, 'Global');
  dropLegacy(global);
  for (const [key, value] of CREDENTIALS) setIniKey(global, key, value);
  const blockStorage = findSection(file, 'BlockStorage');
  if (blockStorage !== undefined) file.sections.splice(file.sections.indexOf(blockStorage), 1);
  const loadBalancer = ensureSection(file, 'LoadBalancer');
  loadBalancer.keys.delete('use-octavia');
  for (const [key, value] of LOAD_BALANCER) {
    if (!loadBalancer.keys.has(key)) setIniKey(loadBalancer, key, value);
  }
  return printIniFile(file);
}

function dropLegacy({ keys }: IniSection): void {
  for (const [key, value] of LEGACY) {
    if ((keys.get(key)?.value ?? value) !== value) {
      throw cloudConfigProblem(`'[Global] ${key}' is set to a non-default value`);
    }
    keys.delete(key);
  }
}
