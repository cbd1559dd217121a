import { userError } from '../../base/errors.ts';
import type { ApiWrite } from '../cluster/write-log.ts';
import type { StandIn } from '../workloads/start-workloads.ts';

/** A part of a lab that can be killed alone (B3). */
export type Component =
  | { readonly kind: 'stand-in'; readonly users: ReadonlySet<string> }
  | { readonly kind: 'node'; readonly name: string; readonly user: string }
  | { readonly kind: 'pod'; readonly namespace: string; readonly name: string };

export interface KnownComponents {
  readonly standIns: readonly Pick<StandIn, 'name' | 'user'>[];
  /** That the lab can start again. */
  readonly nodes: Iterable<string>;
}

const NODE_USER = 'system:node:';

/**
 * Pure: whom somebody means by a user, by a short name such as `deployment`, or by `node/<name>` or
 * `pod/<namespace>/<name>`. A short name of several users is all of them. Throws a userError when it is nobody.
 */
export function componentOf(text: string, { standIns, nodes }: KnownComponents): Component {
  const [kind, first = '', second = '', ...more] = text.split('/');
  if (kind === 'pod' && first !== '' && second !== '' && more.length === 0)
    return { kind: 'pod', namespace: first, name: second };
  const node = text.startsWith(NODE_USER) ? text.slice(NODE_USER.length) : text.replace(/^node\//, '');
  if (node !== text && [...nodes].includes(node)) return { kind: 'node', name: node, user: `${NODE_USER}${node}` };
  const users = standIns.filter(({ name, user }) => name === text || isCalled(user, text)).map(({ user }) => user);
  if (users.length > 0) return { kind: 'stand-in', users: new Set(users) };
  const names = [...new Set(standIns.map(({ name }) => name)), ...[...nodes].map((name) => `node/${name}`)];
  throw userError(
    'UnknownComponent',
    `"${text}" is no component that the lab can kill; it has ${names.join(', ')}, and pod/<namespace>/<name> for what runs as a process`,
  );
}

const isCalled = (user: string, text: string): boolean => user === text || user.endsWith(`:${text}`);

/** Pure: whether a component made a write. */
export function isBy(component: Component, { user, pod }: ApiWrite): boolean {
  if (component.kind === 'pod') return pod?.namespace === component.namespace && pod.name === component.name;
  return component.kind === 'node' ? user === component.user : component.users.has(user);
}
