import {
  type Capabilities,
  INSTALL_CONFIG_OVERRIDE,
  type OpenshiftAssistedControlPlane,
} from '../../api/agent/controlplane-v1alpha3.ts';
import { messageOf, userError } from '../../base/errors.ts';
import { isRecord } from '../../object/record.ts';

/** What bare metal gets unless users say otherwise: no machine API, which would manage the same hosts (D9). */
const BARE_METAL_CAPABILITIES = [
  'baremetal',
  'Console',
  'Insights',
  'OperatorLifecycleManager',
  'Ingress',
  'marketplace',
  'NodeTuning',
  'DeploymentConfig',
];

/** The JSON that is merged into the install-config; undefined when nothing is (D8). Pure. */
export function installConfigOverride(
  object: OpenshiftAssistedControlPlane,
  isBareMetal: boolean,
): string | undefined {
  const given = object.metadata.annotations?.[INSTALL_CONFIG_OVERRIDE] ?? '';
  const capabilities = capabilitiesOverride(object.spec.config?.capabilities ?? {}, isBareMetal);
  if (given === '') return capabilities === undefined ? undefined : JSON.stringify(capabilities);
  // It may not be JSON: that is what users wrote, and assisted-service tells them what it thinks of it.
  if (capabilities === undefined) return given;
  return JSON.stringify({ ...parsed(given), ...capabilities });
}

function parsed(text: string): Readonly<Record<string, unknown>> {
  const invalid = (why: string) =>
    userError(
      'InvalidInstallConfigOverride',
      `annotation ${INSTALL_CONFIG_OVERRIDE} is no JSON object: ${why}; it is merged with spec.config.capabilities, so it must be one`,
    );
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw invalid(messageOf(error));
  }
  if (!isRecord(value)) throw invalid(`it is ${text.slice(0, 40)}`);
  return value;
}

function capabilitiesOverride(
  { baselineCapability = '', additionalEnabledCapabilities = [] }: Capabilities,
  isBareMetal: boolean,
): Readonly<Record<string, unknown>> | undefined {
  const isEmpty = baselineCapability === '' && additionalEnabledCapabilities.length === 0;
  if (isEmpty && !isBareMetal) return undefined;
  const additional = additionalCapabilities(additionalEnabledCapabilities, isBareMetal);
  return {
    capabilities: {
      baselineCapabilitySet: baselineSet(baselineCapability, isBareMetal),
      ...(additional.length > 0 && { additionalEnabledCapabilities: additional }),
    },
  };
}

function baselineSet(given: string, isBareMetal: boolean): string {
  if (given === '') return isBareMetal ? 'None' : 'vCurrent';
  if (given === 'None' || given === 'vCurrent' || /^v4\.[0-9]+$/.test(given)) return given;
  throw userError(
    'InvalidCapabilities',
    `invalid baseline capability set, must be one of: None, vCurrent, or v4.x. Got: [${given}]`,
  );
}

function additionalCapabilities(given: readonly string[], isBareMetal: boolean): readonly string[] {
  const wanted = given.filter((name) => !(isBareMetal && name.toLowerCase() === 'machineapi'));
  return [...new Set([...(isBareMetal ? BARE_METAL_CAPABILITIES : []), ...wanted])];
}
