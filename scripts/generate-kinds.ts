// The built-in kinds as TypeScript: an interface for each type and a tiny constant for each resource. No prose.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { RawSchema } from '../src/apiserver/builtin-data/builtin-schema.ts';
import { kindFileName, TypeWriter } from './generate-kind-types.ts';

export interface KindResource {
  readonly name: string;
  readonly kind: string;
  readonly namespaced?: boolean;
  /** True unless said otherwise. */
  readonly isStored?: boolean;
}

export interface KindGroupVersion {
  readonly group: string;
  readonly version: string;
  readonly package: string;
  readonly resources: readonly KindResource[];
}

/** File name → text, from the tables below `src/apiserver/generated`; the same tables give the same files. */
export function kindFiles(tables: string): ReadonlyMap<string, string> {
  const groupVersions = Object.values(entriesOf<KindGroupVersion>(join(tables, 'resources.json')));
  const schemas = new Map(
    readdirSync(join(tables, 'schemas'))
      .toSorted()
      .flatMap((file) => Object.entries(entriesOf<RawSchema>(join(tables, 'schemas', file)))),
  );
  const writer = new TypeWriter(schemas, groupVersions);
  return new Map(
    writer.packages().flatMap((name): [string, string][] => [
      [`${kindFileName(name)}.ts`, writer.kindFile(name)],
      [`${kindFileName(name)}-types.ts`, writer.typeFile(name)],
    ]),
  );
}

function entriesOf<Entry>(file: string): Readonly<Record<string, Entry>> {
  const { entries }: { readonly entries: Readonly<Record<string, Entry>> } = JSON.parse(
    readFileSync(file, 'utf8'),
  );
  return entries;
}
