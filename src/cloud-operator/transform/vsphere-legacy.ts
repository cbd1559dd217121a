import type { JsonObject } from '../../object/json.ts';
import { type GitConfigSection, parseGitConfig } from './git-config.ts';
import { type Fields, type FieldValue, isNamed, readFields, shownSection } from './git-config-fields.ts';
import type { VSphereConfig } from './vsphere-config.ts';

/** By their names in the old form; `ca-file` is `caFile` in YAML. */
const VCENTER: Fields = {
  user: 'text',
  password: 'text',
  server: 'text',
  port: 'port',
  'insecure-flag': 'switch',
  datacenters: 'text',
  'soap-roundtrip-count': 'uint',
  'ca-file': 'text',
  thumbprint: 'text',
  'secret-name': 'text',
  'secret-namespace': 'text',
  'ip-family': 'text',
};

const GLOBAL: Fields = {
  ...VCENTER,
  'secrets-directory': 'text',
  'api-disable': 'switch',
  'api-binding': 'text',
};

/** Upstream reads them and does nothing with them. */
const LOST_OF_GLOBAL = ['api-disable', 'api-binding', 'ip-family'];

const LABELS: Fields = { zone: 'text', region: 'text' };

const NODES: Fields = {
  'internal-network-subnet-cidr': 'text',
  'external-network-subnet-cidr': 'text',
  'internal-vm-network-name': 'text',
  'external-vm-network-name': 'text',
  'exclude-internal-network-subnet-cidr': 'text',
  'exclude-external-network-subnet-cidr': 'text',
};

/** R74: the form that came before YAML. What is left out of the result goes into `unknown`. */
export function readVSphereIni(source: string, unknown: string[]): VSphereConfig {
  const [global, labels, nodes] = [newValues(), newValues(), newValues()];
  const vcenter = new Map<string, Map<string, FieldValue>>();
  for (const section of parseGitConfig(source)) {
    const { name, subsection } = section;
    if (isNamed(name, 'VirtualCenter')) {
      const values = vcenter.get(subsection) ?? newValues();
      vcenter.set(subsection, values);
      unknown.push(...readFields(section, VCENTER, values));
    } else if (subsection !== '') unknown.push(...lostSection(section));
    else if (isNamed(name, 'Global')) unknown.push(...readFields(section, GLOBAL, global));
    else if (isNamed(name, 'Labels')) unknown.push(...readFields(section, LABELS, labels));
    else if (isNamed(name, 'Nodes')) unknown.push(...readFields(section, NODES, nodes));
    else unknown.push(...lostSection(section));
  }
  for (const key of LOST_OF_GLOBAL) {
    if (global.delete(key)) unknown.push(`${key} in [Global]`);
  }
  const said = yamlFields(labels);
  return {
    global: yamlFields(global),
    vcenter: new Map([...vcenter].map(([name, values]) => [name, vcenterFields(name, values)])),
    labels: Object.values(said).some((text) => text !== '') ? said : undefined,
    nodes: yamlFields(nodes),
  };
}

const newValues = () => new Map<string, FieldValue>();

/** Every old configuration has them, for a program that is gone: nobody needs to hear about them. */
const EXPECTED_LOSSES = ['Workspace', 'Disk', 'Network'];

const lostSection = (section: GitConfigSection): readonly string[] =>
  EXPECTED_LOSSES.some((name) => isNamed(section.name, name))
    ? []
    : [`${shownSection(section)} (line ${section.line})`];

/** A vCenter that says nothing else is reached by its name. */
function vcenterFields(name: string, values: ReadonlyMap<string, FieldValue>): JsonObject {
  const fields = yamlFields(values);
  const { ipFamily = '', server = '' } = fields;
  return { ...fields, server: server === '' ? name : server, ipFamily: ipFamily === '' ? [] : [ipFamily] };
}

const yamlFields = (values: ReadonlyMap<string, FieldValue>): JsonObject =>
  Object.fromEntries([...values].map(([key, value]) => [yamlName(key), yamlValue(key, value)]));

const yamlName = (key: string): string => key.replaceAll(/-([a-z])/g, (_, letter: string) => letter.toUpperCase());

function yamlValue(key: string, value: FieldValue) {
  if (key === 'datacenters') return datacenters(String(value));
  return typeof value === 'object' ? [...value] : value;
}

const datacenters = (text: string): string[] =>
  text
    .split(',')
    .filter((name) => name !== '')
    .map((name) => name.replaceAll(/^ +| +$/g, ''));
