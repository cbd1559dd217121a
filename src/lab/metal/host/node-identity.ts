import { join } from 'node:path';
import { kubeletLabelProblems, nodeLabelsOf } from '../../../object/kubelet-labels.ts';
import { dnsSubdomainProblems } from '../../../object/names.ts';
import type { BootedHost } from './host-power.ts';
import { type IgnitionConfig, type IgnitionUnit, readIgnition } from './ignition-config.ts';
import type { NodeIdentity } from './installed-hosts.ts';
import { ScriptRoot } from './script-root.ts';

export interface IdentityRequest {
  readonly host: BootedHost;
  /** Ignition as texts; what a later one says of a file or unit holds. */
  readonly ignition: readonly string[];
}

/** Runs what the ignition of a host says about its name, its labels and its provider ID. */
export type IdentityReader = (request: IdentityRequest) => Promise<NodeIdentity>;

export interface ScriptedIdentityOptions {
  /** Each host has a directory in it while its scripts run. */
  readonly directory: string;
  /** Keeps lab time still meanwhile: scripts run in real time. */
  readonly hold?: (reason: string) => Disposable;
  /** Where bash and a few other programs are; the usual places unless told otherwise. */
  readonly programDirectories?: readonly string[];
}

const METADATA_UNIT = 'configdrive-metadata.service';
const METADATA_ENV = '/etc/metadata_env';
/** In the order in which they run before the kubelet. Nothing else of an ignition config runs. */
const UNITS = ['kubelet-customlabels.service', 'set-hostname.service', 'capoa-inject-provider-id.service'];
/** Of the lab: it does what it says without being run. */
const KNOWN = new Set([...UNITS, METADATA_UNIT, 'agent.service']);

/** Really executes the scripts, with bash, in a directory of their own. */
export function scriptedIdentity(options: ScriptedIdentityOptions): IdentityReader {
  return async ({ host, ignition }) => {
    using _hold = options.hold?.(`the scripts of host ${host.name}`);
    const config = combined(ignition);
    const units = config.units.filter(({ isEnabled }) => isEnabled);
    const notRun = units.map(({ name }) => name).filter((name) => !KNOWN.has(name));
    const ours = UNITS.flatMap((name) => units.find((unit) => unit.name === name) ?? []);
    if (ours.length === 0) return { hostname: host.name, labels: {}, problems: [], notRun };
    const root = await ScriptRoot.create(join(options.directory, host.id), options.programDirectories);
    try {
      for (const file of config.files) await root.write(file);
      const hasMetadata = units.some(({ name }) => name === METADATA_UNIT);
      if (hasMetadata) await root.write({ path: METADATA_ENV, text: metadataEnv(host.metadata), mode: 0o644 });
      const problems: string[] = [];
      for (const unit of ours) problems.push(...(await runUnit(root, unit)));
      return { ...(await found(root, host)), problems, notRun };
    } finally {
      await root.remove();
    }
  };
}

/** Pure: what the machine makes of its config drive. */
export function metadataEnv(metadata: Readonly<Record<string, string>>): string {
  const lines = Object.entries(metadata).map(
    ([key, value]) => `METADATA_${key.toUpperCase().replaceAll('-', '_')}=${value}\n`,
  );
  return [...new Set(lines)].toSorted().join('');
}

function combined(texts: readonly string[]): IgnitionConfig {
  const configs = texts.flatMap((text) => readIgnition(text) ?? []);
  const last = <T>(items: readonly T[], key: (item: T) => string): readonly T[] => [
    ...new Map(items.map((item) => [key(item), item])).values(),
  ];
  return {
    files: last(
      configs.flatMap(({ files }) => files),
      ({ path }) => path,
    ),
    units: last(
      configs.flatMap(({ units }) => units),
      ({ name }) => name,
    ),
  };
}

/** What failed, in words; as on a real machine the others go on. */
async function runUnit(root: ScriptRoot, { name, contents }: IgnitionUnit): Promise<readonly string[]> {
  const [, command = ''] = /^ExecStart=(.+)$/m.exec(contents) ?? [];
  const script = command.split(/\s+/).find((word) => word.startsWith('/') && !word.endsWith('bash'));
  if (script === undefined) return [`${name}: ExecStart names no script`];
  const [, isOptional, file] = /^EnvironmentFile=(-?)(.+)$/m.exec(contents) ?? [];
  const text = file === undefined ? '' : await root.read(file);
  if (text === undefined && isOptional !== '-') return [`${name}: ${file ?? ''} is not there`];
  const { exitCode, output } = await root.run(script, Object.fromEntries(environmentOf(text ?? '')));
  return exitCode === 0 ? [] : [`${name}: exit code ${exitCode}: ${output.slice(-500)}`];
}

/** As systemd reads an environment file: the last one of a name holds, quotes around a value are no part of it. */
export const environmentOf = (text: string): ReadonlyMap<string, string> =>
  new Map(
    text.split('\n').flatMap((line) => {
      const [, name, value] = /^\s*([A-Za-z_]\w*)=(.*)$/.exec(line) ?? [];
      return name === undefined || value === undefined ? [] : [[name, unquoted(value.trim())] as const];
    }),
  );

const unquoted = (value: string): string => /^(["'])(.*)\1$/s.exec(value)?.[2] ?? value;

type Found = Pick<NodeIdentity, 'hostname' | 'labels' | 'providerId' | 'failure'>;

async function found(root: ScriptRoot, host: BootedHost): Promise<Found> {
  const hostname = (await root.read('/lab-hostname')) ?? host.name;
  const kubelet = environmentOf((await root.read('/etc/kubernetes/kubelet-env')) ?? '');
  const labels = labelsOf(kubelet.get('CUSTOM_KUBELET_LABELS') ?? '');
  const dropIns = await root.readAll('/etc/systemd/system/kubelet.service.d', '.conf');
  const providerId = dropIns.flatMap(providerIdIn).at(-1);
  const failure = kubeletFailure(hostname, labels);
  return {
    hostname,
    labels,
    ...(providerId !== undefined && { providerId }),
    ...(failure !== undefined && { failure }),
  };
}

/** Pure: `a=b,c=d` as the kubelet takes it. */
export const labelsOf = (text: string): Readonly<Record<string, string>> => Object.fromEntries(nodeLabelsOf(text));

/** The last command of the kubelet that the drop-in sets, if it says something. */
function providerIdIn(dropIn: string): readonly string[] {
  const commands = dropIn.split('\n').filter((line) => line.startsWith('ExecStart='));
  const [, quoted, bare] = /--provider-id=(?:"((?:\\.|[^"\\])*)"|(\S+))/.exec(commands.at(-1) ?? '') ?? [];
  const value = quoted ?? bare;
  return value === undefined || value === '' ? [] : [unitText(value)];
}

/** As systemd reads a word of a command: what would be a variable or a specifier is written twice. */
const unitText = (text: string): string =>
  text
    .replaceAll(/\\(.)/g, (_, character: string) => (character === 'n' ? '\n' : character))
    .replaceAll('%%', '%')
    .replaceAll('$$', () => '$');

/** A kubelet does not start with a label or a name that the API would refuse. */
export function kubeletFailure(hostname: string, labels: Readonly<Record<string, string>>): string | undefined {
  const [ofName] = dnsSubdomainProblems(hostname);
  if (ofName !== undefined) return `the kubelet does not start: "${hostname}" is no name of a node: ${ofName}`;
  for (const [key, value] of Object.entries(labels)) {
    const [problem] = kubeletLabelProblems(key, value);
    if (problem !== undefined) return `the kubelet does not start: --node-labels has ${key}=${value}: ${problem}`;
  }
  return undefined;
}
