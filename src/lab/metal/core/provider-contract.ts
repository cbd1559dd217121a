import type { ApiEndpoint, FailureDomain, MachineAddress } from '../../../api/cluster-api/core-v1beta2.ts';
import type { Condition } from '../../../api/object.ts';
import { fieldAt } from '../../../api/unstructured.ts';
import { findCondition } from '../../../object/conditions.ts';
import { isRecord } from '../../../object/record.ts';
import type { External } from './external-objects.ts';

/** What core reads of objects of providers, in both contracts. Pure. */

export const isInfrastructureProvisioned = ({ object, contract }: External): boolean =>
  contract === 'v1beta2'
    ? fieldAt(object, 'status', 'initialization', 'provisioned') === true
    : fieldAt(object, 'status', 'ready') === true;

/** The name of the Secret with bootstrap data, once there is one. */
export function dataSecretOf({ object, contract }: External): string | undefined {
  const isCreated =
    contract === 'v1beta2'
      ? fieldAt(object, 'status', 'initialization', 'dataSecretCreated') === true
      : fieldAt(object, 'status', 'ready') === true;
  return isCreated ? textAt(object, 'status', 'dataSecretName') : undefined;
}

export const isControlPlaneInitialized = ({ object, contract }: External): boolean =>
  contract === 'v1beta2'
    ? fieldAt(object, 'status', 'initialization', 'controlPlaneInitialized') === true
    : fieldAt(object, 'status', 'initialized') === true;

/** The field that says that something is done, for people. */
export const doneField = (contract: External['contract'], field: string): string =>
  contract === 'v1beta2' ? `status.initialization.${field}` : 'status.ready';

export const providerIdOf = ({ object }: External): string | undefined => textAt(object, 'spec', 'providerID');

export const failureDomainOf = ({ object }: External): string | undefined =>
  textAt(object, 'status', 'failureDomain') ?? textAt(object, 'spec', 'failureDomain');

/** Only one that can be dialled. */
export function endpointOf({ object }: External): Required<ApiEndpoint> | undefined {
  const host = textAt(object, 'spec', 'controlPlaneEndpoint', 'host');
  const port = fieldAt(object, 'spec', 'controlPlaneEndpoint', 'port');
  return host !== undefined && typeof port === 'number' && port > 0 ? { host, port } : undefined;
}

export function addressesOf({ object }: External): readonly MachineAddress[] {
  const addresses = fieldAt(object, 'status', 'addresses');
  return listOf(addresses).flatMap((item) => {
    const { type, address } = item;
    return typeof type === 'string' && typeof address === 'string' ? [{ type, address }] : [];
  });
}

/** A list in v1beta2, a map by name in v1beta1. */
export function failureDomainsOf({ object }: External): readonly FailureDomain[] {
  const domains = fieldAt(object, 'status', 'failureDomains');
  const named = isRecord(domains)
    ? Object.entries(domains).map(([name, domain]) => ({ ...(isRecord(domain) && domain), name }))
    : listOf(domains);
  return named.flatMap(({ name, controlPlane, attributes }: Readonly<Record<string, unknown>>) =>
    typeof name !== 'string'
      ? []
      : [
          {
            name,
            ...(typeof controlPlane === 'boolean' && { controlPlane }),
            ...(isRecord(attributes) && { attributes: textsOf(attributes) }),
          },
        ],
  );
}

/** A condition of v1beta2; those of the older contract are spelled otherwise, and not mirrored. */
export const conditionOf = ({ object, contract }: External, type: string): Condition | undefined =>
  contract === 'v1beta2' ? findCondition(object, type) : undefined;

function textAt(object: External['object'], ...path: readonly string[]): string | undefined {
  const value = fieldAt(object, ...path);
  return typeof value === 'string' && value !== '' ? value : undefined;
}

const listOf = (value: unknown): readonly Readonly<Record<string, unknown>>[] =>
  Array.isArray(value) ? value.filter(isRecord) : [];

const textsOf = (record: Readonly<Record<string, unknown>>): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries(record).flatMap(([key, value]) => (typeof value === 'string' ? [[key, value]] : [])),
  );
