import { isJsonObject, type Json, type JsonObject } from '../../object/json.ts';
import { printYamlBody } from '../../object/yaml-print.ts';

/** What the cloud controller manager of vSphere is told, by the names of its YAML. */
export interface VSphereConfig {
  readonly global: JsonObject;
  /** By names that people choose; mostly that of the server. */
  vcenter: ReadonlyMap<string, JsonObject | null>;
  labels: JsonObject | undefined;
  nodes: JsonObject;
}

/**
 * A number of `whole` is never below zero. In the place of a `looseText` a number or a truth value is one too, in that of
 * a `text` it is a mistake: the password `012` must not become `10`.
 */
export type VSphereType = 'text' | 'looseText' | 'texts' | 'switch' | 'whole';
export type VSphereFields = Readonly<Record<string, VSphereType>>;

export const VCENTER_FIELDS: VSphereFields = {
  user: 'text',
  password: 'text',
  server: 'text',
  port: 'whole',
  insecureFlag: 'switch',
  datacenters: 'texts',
  soapRoundtripCount: 'whole',
  caFile: 'text',
  thumbprint: 'text',
  secretName: 'text',
  secretNamespace: 'text',
  ipFamily: 'texts',
};

export const GLOBAL_FIELDS: VSphereFields = {
  ...VCENTER_FIELDS,
  secretsDirectory: 'text',
  apiDisable: 'switch',
  apiBinding: 'text',
};

export const LABEL_FIELDS: VSphereFields = { zone: 'text', region: 'text' };

export const NODE_FIELDS: VSphereFields = {
  internalNetworkSubnetCidr: 'looseText',
  externalNetworkSubnetCidr: 'looseText',
  internalVmNetworkName: 'looseText',
  externalVmNetworkName: 'looseText',
  excludeInternalNetworkSubnetCidr: 'looseText',
  excludeExternalNetworkSubnetCidr: 'looseText',
};

/** YAML with sorted keys, without what is empty; `global` is always there. */
export function printVSphereConfig({ global, vcenter, labels, nodes }: VSphereConfig): string {
  const servers = [...vcenter].map(([name, fields]) => [name, fields === null ? null : filled(fields)] as const);
  return printYamlBody({
    global: filled(global),
    ...(servers.length > 0 && { vcenter: Object.fromEntries(servers) }),
    ...(labels !== undefined && { labels: filled(labels) }),
    ...(Object.keys(filled(nodes)).length > 0 && { nodes: filled(nodes) }),
  });
}

const filled = (fields: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => !isEmpty(value)));

const isEmpty = (value: Json): boolean =>
  Array.isArray(value) ? value.length === 0 : !isJsonObject(value) && !value;
