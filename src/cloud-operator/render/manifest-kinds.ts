import { Pod } from '../../api/generated/core-v1.ts';
import type { Kind } from '../../api/object.ts';
import { APPLIED_KINDS } from '../apply/applied-kinds.ts';

/** The part of a kind that manifests speak of. */
export type ManifestKind = Pick<Kind, 'group' | 'version' | 'kind'>;

/** Which kinds are allowed in a place, and what is said about all others. */
export interface ManifestScope {
  readonly kinds: ReadonlyMap<string, ManifestKind>;
  readonly refusal: (kind: string) => string;
}

const byName = (...kinds: readonly ManifestKind[]): ReadonlyMap<string, ManifestKind> =>
  new Map(kinds.map((kind) => [kind.kind, kind]));

/** What the operator applies (R38). */
export const OPERANDS: ManifestScope = {
  kinds: byName(...APPLIED_KINDS),
  refusal: (kind) => `unhandled type ${kind}; the operator applies ${[...OPERANDS.kinds.keys()].join(', ')}`,
};

/** What runs on a bootstrap machine, where there is no API server to apply anything to (R95). */
export const STATIC_PODS: ManifestScope = {
  kinds: byName(Pod),
  refusal: (kind) => `only static pods are allowed, found ${kind}`,
};

/** The name of its shape: `apps.v1.Deployment`, `rbac.v1.Role`. */
export const shapeNameOf = ({ group, version, kind }: ManifestKind): string =>
  `${group.split('.')[0] || 'core'}.${version}.${kind}`;
