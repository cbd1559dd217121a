import {
  BOOT_METHOD,
  type CommonConfigSpec,
  DISCOVERY_IGNITION_OVERRIDE,
  IGNITION_OVERRIDE,
  type OpenshiftAssistedConfigSpec,
} from '../../api/agent/bootstrap-v1alpha2.ts';
import { SlipwayError } from '../../base/errors.ts';
import { HUB_DATA_ANNOTATION } from '../conversion/conversion-data.ts';
import { doubtfulLabels, refusedLabels } from '../ignition/label-check.ts';
import { nodeIdentity } from '../ignition/node-labels.ts';
import { BOOT_METHODS } from '../live-iso/boot-method.ts';

type Annotations = Readonly<Record<string, string>>;

/** What decides how machines boot: of a config, of a template, or of a control plane. */
export interface BootInput {
  readonly annotations?: Annotations;
  readonly spec?: CommonConfigSpec;
}

/** Why the annotations cannot be meant; undefined when they can. Upstream knows none of those that are looked at. */
export function bootMethodProblem({ annotations = {} }: BootInput): string | undefined {
  const method = annotations[BOOT_METHOD];
  if (method === undefined || BOOT_METHODS.includes(method)) return undefined;
  return `annotation ${BOOT_METHOD} must be ${BOOT_METHODS.join(' or ')}, and is "${method}"; correct it, or remove it for ignition`;
}

/** What works upstream, too, but not as its author thinks: one sentence each, with the names of fields below `at`. */
export const bootAdvice = ({ annotations = {}, spec = {} }: BootInput, at: string): readonly string[] => [
  ...imageAdvice(spec, at),
  ...nodeAdvice(spec, at),
  ...[DISCOVERY_IGNITION_OVERRIDE, IGNITION_OVERRIDE].flatMap((key) => overrideAdvice(key, annotations[key])),
];

/** X14. */
function imageAdvice({ osImageVersion = '' }: CommonConfigSpec, at: string): readonly string[] {
  if (osImageVersion === '') return [];
  return [
    `${at}.osImageVersion is "${osImageVersion}", which assisted-service refuses for hosts of a cluster, so machines never boot; remove it: hosts boot the version that fits the release`,
  ];
}

/** What the config is held for before a host is switched on, and what may not work. */
function nodeAdvice(spec: CommonConfigSpec, at: string): readonly string[] {
  const unusable = userMessage(() => nodeIdentity(spec, at));
  const refused = refusedLabels(spec, at);
  return [...(unusable === undefined ? refused : [unusable]), ...doubtfulLabels(spec, at)];
}

/** What a user has to put right, if anything. */
export function userMessage(check: () => unknown): string | undefined {
  try {
    check();
    return undefined;
  } catch (error) {
    if (error instanceof SlipwayError) return error.message;
    throw error;
  }
}

function overrideAdvice(key: string, text = ''): readonly string[] {
  if (text === '' || isJson(text)) return [];
  return [
    `annotation ${key} is no JSON and has no effect: "${text.slice(0, 40)}"; write an Ignition config as JSON`,
  ];
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** Fields of the stored version that older ones lack, as far as they are there. */
function hubOnly(spec: OpenshiftAssistedConfigSpec): Readonly<Record<string, unknown>> {
  const { preBootstrapCommands, postBootstrapCommands, bootstrapCommandSentinelDir } = spec;
  return {
    preBootstrapCommands,
    postBootstrapCommands,
    bootstrapCommandSentinelDir,
    postBootstrapKubeconfigPath: spec.postBootstrapKubeconfigPath,
    'nodeRegistration.providerID': spec.nodeRegistration?.providerID,
  };
}

/** Names of fields below `at` that the stored version had and has no more (W2). */
export function lostFields(
  old: OpenshiftAssistedConfigSpec = {},
  spec: OpenshiftAssistedConfigSpec = {},
  at: string,
): readonly string[] {
  const now = hubOnly(spec);
  return Object.entries(hubOnly(old))
    .filter(([name, value]) => value !== undefined && now[name] === undefined)
    .map(([name]) => `${at}.${name}`);
}

/** For whoever writes an older version, which cannot say these fields. */
export const lossAdvice = (version: string, stored: string, lost: readonly string[]): readonly string[] =>
  lost.length === 0
    ? []
    : [
        `${version} cannot say ${lost.join(', ')}, and this update removes it because the annotation ${HUB_DATA_ANNOTATION} is missing or changed; use ${stored}, or keep the annotation as it was read`,
      ];
