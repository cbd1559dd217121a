import { requestAttributes } from '../kube/rbac/request-attributes.ts';
import { isWrite, type TransportRequest } from '../kube/transport/transport.ts';
import { OUTSIDE } from './crash-faults.ts';
import type { Effect } from './crash-scenario.ts';

/** A write that a scenario is about. */
export interface Write {
  /** `verb|resource|object`: the role of the object, never a name that somebody made up. */
  readonly role: string;
  /** Whose events tell of it: `widgets.example.com`. */
  readonly resource: string;
}

/** Undefined for what only reads. Events, leases and questions about rights are not what a scenario is about either. */
export function writeIn(request: TransportRequest): Write | undefined {
  const { verb, group, resource, namespace, name } = requestAttributes(request.method, request.target);
  if (!isWrite(request) || isAside(resource)) return undefined;
  const inGroup = (text: string): string => (group === '' ? text : `${text}.${group}`);
  const [plural = ''] = resource.split('/');
  const object = `${namespace}/${name === '' ? nameIn(request) : name}`;
  return { role: `${verb}|${inGroup(resource)}|${object}`, resource: inGroup(plural) };
}

/** Whether a request is about what every program does, whatever its controllers are for. */
export const isAside = (resource: string): boolean =>
  resource === 'events' || resource === 'leases' || resource.endsWith('reviews');

export const roleOf = ({ verb, kind, name }: Effect): string => `${verb}|${OUTSIDE}${kind}|${name}`;

/** The role of a point. */
export const withoutOrdinal = (point: string): string => point.slice(0, point.lastIndexOf('|'));

/** Numbers the writes of one role: the first, the second … */
export class PointCounter {
  // Bounded by the roles of a scenario.
  readonly #seen = new Map<string, number>();

  next(role: string): string {
    const ordinal = (this.#seen.get(role) ?? 0) + 1;
    this.#seen.set(role, ordinal);
    return `${role}|${ordinal}`;
  }
}

/** Of an object that is created: what its maker calls it. */
function nameIn({ body = '' }: TransportRequest): string {
  const text = typeof body === 'string' ? body : Buffer.from(body).toString('utf8');
  const { metadata }: { metadata?: { name?: string; generateName?: string } } = JSON.parse(text || '{}');
  return (metadata?.name ?? '') || `${metadata?.generateName ?? ''}*`;
}
