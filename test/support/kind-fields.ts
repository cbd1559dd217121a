import assert from 'node:assert/strict';
import type { Kind } from '../../src/api/object.ts';
import type { KindOf } from '../../src/api/schema/define-kind.ts';

/** Compiles only when the two types are the same. */
type Same<A, B> =
  (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : { readonly a: A; readonly b: B };
export const same = <A, B>(_isSame: Same<A, B>): void => {};

/** Which fields there are and of what type; not what may be missing, nor which texts are allowed. */
export type Fields<T> = T extends string
  ? string
  : T extends readonly (infer Item)[]
    ? Fields<Item>[]
    : T extends object
      ? { -readonly [Key in keyof T]-?: Fields<Exclude<T[Key], null | undefined>> }
      : T;

/** The same of a definition. */
export type Defined<K extends Kind> = Fields<KindOf<K>>;

export type Part<T, Key extends keyof T> = Exclude<T[Key], null | undefined>;

/** That a definition has the names of the kind that readers use. */
export function assertSameNames(pairs: readonly (readonly [kind: Kind, definition: Kind])[]): void {
  for (const [kind, definition] of pairs) {
    const { group, version, kind: name, plural, scope } = definition;
    assert.deepEqual(
      [group, version, name, plural, scope],
      [kind.group, kind.version, kind.kind, kind.plural, kind.scope],
    );
  }
}
