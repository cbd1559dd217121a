import { goQuote } from '../validation/go-text.ts';
import type { Claim, Claims } from './claims.ts';
import { type FieldSet, pathsOf, pathText } from './field-set.ts';
import { compareText, type PathElement } from './path-element.ts';

/** One field that somebody else owns. */
export interface Conflict {
  /** The manager as messages name it: `"kubectl" using v1`. */
  readonly manager: string;
  /** `.spec.ports[port=80].name` */
  readonly path: string;
}

export interface ConflictCause {
  readonly reason: 'FieldManagerConflict';
  readonly message: string;
  readonly field: string;
}

/** Conflicts by the identity of the manager, which is what they are sorted by. */
export type ConflictSets = ReadonlyMap<string, FieldSet>;

/** An apply that would take fields from others and was not told to (S9). */
export class ApplyConflict extends Error {
  readonly conflicts: readonly Conflict[];
  readonly causes: readonly ConflictCause[];

  constructor(sets: ConflictSets, claims: Claims) {
    const groups = [...sets]
      .sort(([a], [b]) => compareText(a, b))
      .map(([identity, set]) => groupOf(claims.get(identity), [...pathsOf(set)]));
    super(messageOf(groups));
    this.name = 'ApplyConflict';
    this.conflicts = groups.flatMap(({ manager, paths }) => paths.map((path) => ({ manager, path })));
    this.causes = this.conflicts
      .map(({ manager, path }) => ({
        reason: 'FieldManagerConflict' as const,
        message: `conflict with ${manager}`,
        field: path,
      }))
      .sort((a, b) => compareText(a.field, b.field));
  }
}

interface Group {
  readonly manager: string;
  readonly paths: readonly string[];
}

const groupOf = (claim: Claim | undefined, paths: readonly (readonly PathElement[])[]): Group => ({
  manager: claim === undefined ? '' : managerText(claim),
  paths: paths.map(pathText),
});

function managerText({ manager, subresource, isApplied, apiVersion }: Claim): string {
  const through = subresource === '' ? '' : ` with subresource ${goQuote(subresource)}`;
  return `${goQuote(manager)}${through}${isApplied ? '' : ` using ${apiVersion}`}`;
}

function messageOf(groups: readonly Group[]): string {
  const count = groups.reduce((sum, { paths }) => sum + paths.length, 0);
  const [first] = groups;
  if (count === 1 && first !== undefined) {
    return `Apply failed with 1 conflict: conflict with ${first.manager}: ${first.paths[0] ?? ''}`;
  }
  const lines = groups.flatMap(({ manager, paths }) => [
    `conflicts with ${manager}:`,
    ...paths.map((path) => `- ${path}`),
  ]);
  return `Apply failed with ${count} conflicts: ${lines.join('\n')}`;
}
