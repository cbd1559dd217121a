import type { InfraEnv } from '../../../api/assisted/agent-install-v1beta1.ts';
import { getKey, isJsonObject, type Json, type JsonObject } from '../../../object/json.ts';
import { infraEnvId, keyTo, type ServiceAddress } from './service-urls.ts';

const VERSION = '3.1.0';
/** How each list of an ignition config names its members. */
const MEMBER_KEYS: Readonly<Record<string, string>> = {
  files: 'path',
  directories: 'path',
  units: 'name',
  users: 'name',
};

/** Pure: what a host is told that boots for an InfraEnv, as JSON text. The same InfraEnv gives the same text (S16). */
export function discoveryIgnition(infraEnv: InfraEnv, address: ServiceAddress): string {
  const { ignitionConfigOverride = '', sshAuthorizedKey = '' } = infraEnv.spec ?? {};
  const base: JsonObject = {
    ignition: { version: VERSION },
    passwd: {
      users: [{ name: 'core', ...(sshAuthorizedKey !== '' && { sshAuthorizedKeys: [sshAuthorizedKey] }) }],
    },
    storage: { files: [issueFile(infraEnv)] },
    systemd: { units: [agentUnit(infraEnv, address)] },
  };
  const override = parsedObject(ignitionConfigOverride);
  return JSON.stringify(override === undefined ? base : merged(base, override));
}

/** The agent is told whom to talk to, in whose name, and with which key. */
function agentUnit(infraEnv: InfraEnv, address: ServiceAddress): JsonObject {
  const key = keyTo(infraEnv, address);
  const contents = [
    '[Unit]',
    'Wants=network-online.target',
    'After=network-online.target',
    '',
    '[Service]',
    'Restart=always',
    ...(key === undefined ? [] : [`Environment=PULL_SECRET_TOKEN=${key}`]),
    `ExecStart=/usr/local/bin/agent --url ${address.baseUrl} --infra-env-id ${infraEnvId(infraEnv)}`,
    '',
    '[Install]',
    'WantedBy=multi-user.target',
    '',
  ].join('\n');
  return { name: 'agent.service', enabled: true, contents };
}

const issueFile = ({ metadata }: InfraEnv): JsonObject => ({
  path: '/etc/issue.d/discovery.issue',
  overwrite: true,
  mode: 0o644,
  contents: { source: `data:,${encodeURIComponent(`InfraEnv ${metadata.name}\n`)}` },
});

/** Undefined when it is none: assisted-service refuses such a text elsewhere. */
function parsedObject(text: string): JsonObject | undefined {
  if (text === '') return undefined;
  try {
    const value: Json = JSON.parse(text);
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** As ignition merges: objects member by member, lists by what names their members, anything else is replaced. */
function merged(base: JsonObject, child: JsonObject): JsonObject {
  const result: JsonObject = { ...base };
  for (const [key, value] of Object.entries(child)) {
    const old = getKey(base, key);
    if (isJsonObject(old) && isJsonObject(value)) result[key] = merged(old, value);
    else if (Array.isArray(old) && Array.isArray(value)) result[key] = mergedLists(old, value, MEMBER_KEYS[key]);
    else result[key] = value;
  }
  return result;
}

function mergedLists(old: readonly Json[], child: readonly Json[], key: string | undefined): Json[] {
  if (key === undefined) return [...old, ...child];
  const nameOf = (item: Json): Json | undefined => (isJsonObject(item) ? getKey(item, key) : undefined);
  const kept = old.map((item) => {
    const newer = child.find((other) => nameOf(other) !== undefined && nameOf(other) === nameOf(item));
    return isJsonObject(item) && isJsonObject(newer) ? merged(item, newer) : item;
  });
  const more = child.filter(
    (item) => !old.some((other) => nameOf(other) !== undefined && nameOf(other) === nameOf(item)),
  );
  return [...kept, ...more];
}
