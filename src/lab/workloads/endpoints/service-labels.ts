import type { Service } from '../../../api/generated/core-v1-types.ts';
import { isHeadless } from './pod-endpoint.ts';

type Labels = Readonly<Record<string, string>>;

/** Whose slice it is. */
export const SERVICE_NAME = 'kubernetes.io/service-name';
/** Who writes a slice, and who writes Endpoints. */
export const SLICE_MANAGED_BY = 'endpointslice.kubernetes.io/managed-by';
export const SLICE_MANAGER = 'endpointslice-controller.k8s.io';
export const LEGACY_MANAGED_BY = 'endpoints.kubernetes.io/managed-by';
export const LEGACY_MANAGER = 'endpoint-controller';

const HEADLESS = 'service.kubernetes.io/headless';
const RESERVED: readonly string[] = [SERVICE_NAME, SLICE_MANAGED_BY, HEADLESS];

/** Pure: the labels of the slices of a service: its own, and whose they are. */
export const sliceLabels = (service: Service): Labels => ({
  ...without(service.metadata.labels, RESERVED),
  ...(isHeadless(service) && { [HEADLESS]: '' }),
  [SERVICE_NAME]: service.metadata.name,
  [SLICE_MANAGED_BY]: SLICE_MANAGER,
});

/** Pure: the labels of the Endpoints of a service. */
export const legacyLabels = (service: Service): Labels => ({
  ...without(service.metadata.labels, [HEADLESS]),
  ...(isHeadless(service) && { [HEADLESS]: '' }),
  [LEGACY_MANAGED_BY]: LEGACY_MANAGER,
});

const without = (labels: Labels = {}, keys: readonly string[]): Labels =>
  Object.fromEntries(Object.entries(labels).filter(([key]) => !keys.includes(key)));

export function sameLabels(one: Labels = {}, other: Labels = {}): boolean {
  const keys = Object.keys(one);
  return keys.length === Object.keys(other).length && keys.every((key) => one[key] === other[key]);
}
