import { IGNITION_OVERRIDE, type OpenshiftAssistedConfigSpec } from '../../api/agent/bootstrap-v1alpha2.ts';
import { type SlipwayError, userError } from '../../base/errors.ts';
import { parseExact } from '../../object/exact-json.ts';
import { isJsonObject, type Json, type JsonObject } from '../../object/json.ts';
import { stringifyJson } from '../../object/json-text.ts';
import { configProblem } from './config-check.ts';
import { mergeConfigs } from './config-merge.ts';
import { IGNITION_VERSION } from './ignition-config.ts';
import { installSteps } from './node-steps.ts';

/**
 * What the installed node gets besides what the installer gives it: the steps that the spec asks for, with the config of
 * the annotation merged over them. The same input gives the same bytes. Throws a user error that names the field.
 */
export function installIgnition(spec: OpenshiftAssistedConfigSpec, override: string | undefined): string {
  const config = installConfig(spec);
  const child = overrideConfig(override);
  if (child === undefined) return stringifyJson(config);
  const merged = mergeConfigs(config, child);
  // Two valid configs may give one that is not: a file with the user's owner by id and ours by name.
  const problem = configProblem(merged);
  if (problem !== undefined) throw invalidOverride(`merged over what the spec asks for, ${problem}`);
  return stringifyJson(merged);
}

function installConfig(spec: OpenshiftAssistedConfigSpec): JsonObject {
  const steps = installSteps(spec);
  const ignition = { version: IGNITION_VERSION };
  if (steps.length === 0) return { ignition, storage: {} };
  return {
    ignition,
    storage: { files: steps.map(({ file }) => file) },
    systemd: { units: steps.map(({ unit }) => unit) },
  };
}

/** Text that is no JSON is ignored, as upstream does: it never was an override. */
function overrideConfig(override: string | undefined): JsonObject | undefined {
  const value = jsonOf(override ?? '');
  if (value === undefined) return undefined;
  const problem = configProblem(value);
  if (problem === undefined && isJsonObject(value)) return inOurVersion(value);
  throw invalidOverride(problem ?? 'it is no object');
}

const invalidOverride = (problem: string): SlipwayError =>
  userError(
    'InvalidIgnitionOverride',
    `the annotation ${IGNITION_OVERRIDE} is not an Ignition config that can be merged: ${problem}. ` +
      'Correct the annotation, or remove it',
  );

function jsonOf(text: string): Json | undefined {
  try {
    return parseExact(text);
  } catch {
    return undefined;
  }
}

/** Nothing of an older version means something else in ours. */
const inOurVersion = (config: JsonObject): JsonObject => ({
  ...config,
  ignition: { ...(isJsonObject(config['ignition']) ? config['ignition'] : {}), version: IGNITION_VERSION },
});
