import { getKey, isJsonObject, type Json, type JsonObject } from '../../../object/json.ts';

/** A file that an ignition config writes. */
export interface IgnitionFile {
  readonly path: string;
  readonly text: string;
  readonly mode: number;
}

export interface IgnitionUnit {
  readonly name: string;
  readonly isEnabled: boolean;
  readonly contents: string;
}

/** The part of an ignition config that a host of the lab acts on. */
export interface IgnitionConfig {
  readonly files: readonly IgnitionFile[];
  readonly units: readonly IgnitionUnit[];
}

const USUAL_MODE = 0o644;

/** Undefined when the text is no ignition config. Files whose contents are not in the config are left out. */
export function readIgnition(text: string): IgnitionConfig | undefined {
  const config = parsed(text);
  if (config === undefined || typeof getKey(objectAt(config, 'ignition'), 'version') !== 'string')
    return undefined;
  return {
    files: listAt(objectAt(config, 'storage'), 'files').flatMap(fileOf),
    units: listAt(objectAt(config, 'systemd'), 'units').map((unit) => ({
      name: textAt(unit, 'name'),
      isEnabled: getKey(unit, 'enabled') === true,
      contents: textAt(unit, 'contents'),
    })),
  };
}

function fileOf(file: JsonObject): readonly IgnitionFile[] {
  const text = dataUrlText(textAt(objectAt(file, 'contents'), 'source'));
  const path = textAt(file, 'path');
  if (text === undefined || !path.startsWith('/')) return [];
  const mode = getKey(file, 'mode');
  return [{ path, text, mode: typeof mode === 'number' ? mode : USUAL_MODE }];
}

/** The text of a `data:` URL; undefined for anything else. */
export function dataUrlText(url: string): string | undefined {
  const [, parameters, data] = /^data:([^,]*),(.*)$/s.exec(url) ?? [];
  if (parameters === undefined || data === undefined) return undefined;
  if (parameters.endsWith(';base64')) return Buffer.from(data, 'base64').toString('utf8');
  try {
    return decodeURIComponent(data);
  } catch {
    return undefined;
  }
}

function parsed(text: string): JsonObject | undefined {
  try {
    const value: Json = JSON.parse(text);
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function objectAt(from: JsonObject, key: string): JsonObject {
  const value = getKey(from, key);
  return isJsonObject(value) ? value : {};
}

function textAt(from: JsonObject, key: string): string {
  const value = getKey(from, key);
  return typeof value === 'string' ? value : '';
}

function listAt(from: JsonObject, key: string): readonly JsonObject[] {
  const value = getKey(from, key);
  return Array.isArray(value) ? value.filter(isJsonObject) : [];
}

/** Who a host talks to while it is discovered, from the agent's unit. */
export interface DiscoveryOrder {
  readonly url: string;
  readonly infraEnvId: string;
  readonly token?: string;
}

/** Undefined when the config has no agent. */
export function discoveryOrder({ units }: IgnitionConfig): DiscoveryOrder | undefined {
  const { contents } = units.find(({ name }) => name === 'agent.service') ?? {};
  if (contents === undefined) return undefined;
  const [, infraEnvId] = /--infra-env-id[= ](\S+)/.exec(contents) ?? [];
  const [, url] = /--url[= ](\S+)/.exec(contents) ?? [];
  const [, token] = /^Environment=PULL_SECRET_TOKEN=(\S+)$/m.exec(contents) ?? [];
  if (infraEnvId === undefined || url === undefined) return undefined;
  return { infraEnvId, url, ...(token !== undefined && { token }) };
}
