import type { JsonObject } from '../json.ts';
import type { KubeObject } from '../object.ts';
import { type Conversion, crdOf } from './crd.ts';
import type { DefinedKind } from './define-kind.ts';
import { type FieldProblem, KindDefinitionError } from './kind-error.ts';

export interface KindVersions<Stored extends DefinedKind> {
  /** The version that objects are kept in. */
  readonly storage: Stored;
  readonly versions: readonly DefinedKind[];
  toCRD(): JsonObject & KubeObject;
}

/** Several versions of one kind in one CustomResourceDefinition. Names, scope and labels are those of the stored one. */
export function defineVersions<Stored extends DefinedKind>(
  storage: Stored,
  others: readonly DefinedKind[],
  { conversion }: { readonly conversion?: Conversion } = {},
): KindVersions<Stored> {
  const versions: readonly DefinedKind[] = [storage, ...others];
  const problems = versions.flatMap((version, at) => problemsOf(version, versions.slice(0, at)));
  if (problems.length > 0) throw new KindDefinitionError(storage.kind, problems);
  return {
    storage,
    versions,
    toCRD: () =>
      crdOf(
        storage.names,
        versions.map(({ crdVersion }) => crdVersion),
        conversion,
      ),
  };
}

const SHARED = ['group', 'kind', 'plural', 'scope'] as const;

function problemsOf(version: DefinedKind, before: readonly DefinedKind[]): readonly FieldProblem[] {
  const [storage = version] = before;
  const different = SHARED.filter((name) => version[name] !== storage[name]).map((path) => ({
    path,
    problem: `version ${version.version} says "${version[path]}", the stored version ${storage.version} "${storage[path]}"`,
    hint: 'all versions of a kind share it',
  }));
  const isTwice = before.some((other) => other.version === version.version);
  return [...different, ...(isTwice ? [{ path: 'version', problem: `${version.version} is there twice` }] : [])];
}
