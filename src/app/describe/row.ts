import type { Health } from '../../api/journey.ts';
import type { KubeObject } from '../../api/object.ts';
import { shellWord } from '../journey/plain-text.ts';
import type { Looked } from './facts.ts';
import { groupIn, type Reference } from './object-fields.ts';
import { conditionsOf, type ToldCondition } from './told-condition.ts';

/** What is said of an object. */
export interface State {
  readonly health: Health;
  /** One word, or a group of words: `provisioning`, `2/3 available`. */
  readonly word: string;
  /** Since when, RFC 3339. */
  readonly since?: string | undefined;
  /** What it waits for or what is wrong with it. */
  readonly why?: string | undefined;
  /** What helps: a command to copy, or a sentence. */
  readonly next?: string | undefined;
}

/** An object of the tree, or the place of one that is not there. */
export interface Row extends State {
  readonly kind: string;
  /** Empty for something whose name nobody knows yet. */
  readonly name: string;
  readonly namespace?: string;
  readonly apiVersion?: string;
  readonly conditions: readonly ToldCondition[];
  readonly children: readonly Row[];
  /** Shown only with `--all`, unless something is wrong with it. */
  readonly isExtra?: boolean;
}

export function rowOf(object: KubeObject, state: State, children: readonly Row[] = []): Row {
  const { apiVersion, kind, metadata } = object;
  return {
    kind,
    name: metadata.name,
    ...(metadata.namespace !== undefined && { namespace: metadata.namespace }),
    apiVersion,
    ...state,
    conditions: conditionsOf(object),
    children,
  };
}

/** For what is not there: nobody has made it yet, or it is named and missing. */
export const placeOf = (kind: string, name: string, state: State): Row => ({
  kind,
  name,
  ...state,
  conditions: [],
  children: [],
});

/** The row of what a reference names: `make` tells of the object when it was found. */
export function referredRow(reference: Reference, looked: Looked, make: (object: KubeObject) => Row): Row {
  switch (looked.type) {
    case 'found':
      return make(looked.object);
    case 'missing':
      return placeOf(reference.kind, reference.name, {
        health: 'failed',
        word: 'missing',
        why: looked.why,
        next: `create ${reference.kind} ${reference.name} of ${reference.group}, or correct what names it`,
      });
    case 'unread':
      return placeOf(reference.kind, reference.name, { health: 'skipped', word: 'not read', why: looked.why });
  }
}

export const labelOf = ({ kind, name }: Pick<Row, 'kind' | 'name'>): string =>
  name === '' ? kind : `${kind}/${name}`;

export const isProblem = ({ health }: Pick<State, 'health'>): boolean =>
  health === 'failed' || health === 'attention';

/** Every row, parents before their children. */
export const rowsIn = (row: Row): readonly Row[] => [row, ...row.children.flatMap(rowsIn)];

export const hasProblem = (row: Row): boolean => rowsIn(row).some(isProblem);

/** Problems that no problem below explains, each object once: it may stand below several Machines. */
export function causesIn(row: Row): readonly Row[] {
  const causes = rowsIn(row).filter((one) => isProblem(one) && !one.children.some(hasProblem));
  return [...new Map(causes.map((one) => [`${labelOf(one)} ${one.name === '' ? one.why : ''}`, one])).values()];
}

/** Groups whose kinds other programs have names for, too, such as `machines`. */
const SHARED_NAMES: ReadonlySet<string> = new Set(['cluster.x-k8s.io']);

/** `kubectl -n NAMESPACE VERB RESOURCE NAME …` for an object. */
export function kubectl(object: KubeObject, verb: string, more = ''): string {
  const { name, namespace } = object.metadata;
  const group = groupIn(object.apiVersion);
  const word = object.kind.toLowerCase();
  const resource = SHARED_NAMES.has(group) ? `${word}.${group}` : word;
  return [
    'kubectl',
    ...(namespace === undefined ? [] : ['-n', shellWord(namespace)]),
    verb,
    resource,
    shellWord(name),
    ...(more === '' ? [] : [more]),
  ].join(' ');
}

export const secretCommand = ({ metadata }: KubeObject, secret: string): string =>
  `kubectl -n ${shellWord(metadata.namespace ?? '')} edit secret ${shellWord(secret)}`;
