import { builtinPackage } from '../builtin-data/builtin-resources.ts';
import { longName } from '../builtin-data/schema-name.ts';

export interface KindName {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
}

/** `io.k8s.api.apps.v1.Deployment`; for a custom kind the group reversed: `io.ex.v1.Widget` (D7). */
export function schemaNameOf({ group, version, kind }: KindName): string {
  const builtIn = builtinPackage(group, version);
  if (builtIn !== undefined) return longName(`${builtIn}.${kind}`);
  return `${group.split('.').reverse().join('.')}.${version}.${kind}`;
}

/** `apps` → `Apps`, `rbac.authorization.k8s.io` → `RbacAuthorization`, core → `Core`: a part of operation ids. */
export const groupWord = (group: string): string =>
  group === ''
    ? 'Core'
    : group
        .replace(/\.k8s\.io$/, '')
        .split('.')
        .map(capitalised)
        .join('');

export const capitalised = (word: string): string => word.slice(0, 1).toUpperCase() + word.slice(1);

/** `apps_v1`, `rbacAuthorization_v1`. */
export function tagOf(group: string, version: string): string {
  const word = groupWord(group);
  return `${word.slice(0, 1).toLowerCase()}${word.slice(1)}_${version}`;
}

export const META = 'io.k8s.apimachinery.pkg.apis.meta.v1.';
export const REFERENCE = '#/components/schemas/';
