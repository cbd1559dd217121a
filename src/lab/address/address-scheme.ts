import { isIPv4 } from 'node:net';
import { userError } from '../../base/errors.ts';
import type { LabAddress, NetworkMode } from './address-plan.ts';

/** What decides how the addresses of a lab look. */
export interface AddressScheme {
  /** L */
  readonly octet: number;
  readonly mode: NetworkMode;
}

/** Octets that a lab can have: below are networks that people use at home, above is broadcast. */
export const FIRST_OCTET = 16;
export const LAST_OCTET = 250;

/** All that there is in mode `ports` (X10). */
export const SHARED_ADDRESS = '127.0.0.1';

/** `10.L.a.b` with what can be dialled on this machine (X1). */
export const labAddress = (scheme: AddressScheme, a: number, b: number): LabAddress => {
  const api = `10.${scheme.octet}.${a}.${b}`;
  return { api, wire: toWire(scheme, api) };
};

/** Node `n` of cluster `k`. Throws outside of the plan. */
export function nodeAddress(scheme: AddressScheme, cluster: number, node: number): LabAddress {
  if (!Number.isInteger(node) || node < 1 || node > 253)
    throw userError(
      'OutsideAddressPlan',
      `a cluster of a lab has nodes 1 to 253, not ${node}: use another cluster`,
    );
  return labAddress(scheme, networkOf(cluster), node);
}

/** The API server of cluster `k`. Throws outside of the plan. */
export const clusterApiAddress = (scheme: AddressScheme, cluster: number): LabAddress =>
  labAddress(scheme, networkOf(cluster), 254);

function networkOf(cluster: number): number {
  if (Number.isInteger(cluster) && cluster >= 1 && cluster <= 31) return cluster;
  throw userError('OutsideAddressPlan', `a lab has clusters 1 to 31, not ${cluster}: start another lab`);
}

/** Whether an API or wire address belongs to the lab. In mode `ports` all share one wire address, which is nobody's. */
export function isOwned({ octet, mode }: AddressScheme, address: string): boolean {
  const networks = mode === 'loopback' ? ['10', '127'] : ['10'];
  return isIPv4(address) && networks.some((network) => address.startsWith(`${network}.${octet}.`));
}

/** What can be dialled for a lab address; others as they are. */
export function toWire(scheme: AddressScheme, address: string): string {
  if (!isOwned(scheme, address)) return address;
  if (scheme.mode === 'ports') return SHARED_ADDRESS;
  return scheme.mode === 'anyip' ? address : withFirst('127', address);
}

/** What the API shows for a lab address; others as they are. */
export const toApi = (scheme: AddressScheme, address: string): string =>
  isOwned(scheme, address) ? withFirst('10', address) : address;

const withFirst = (first: string, address: string): string => first + address.slice(address.indexOf('.'));
