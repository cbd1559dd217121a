import { Fields } from './kubeconfig-fields.ts';
import type { KubeconfigFile } from './kubeconfig-file.ts';
import type { ProblemList } from './problem-list.ts';

/** The entries of all files by name. */
export interface MergedKubeconfig {
  readonly clusters: ReadonlyMap<string, Fields>;
  readonly users: ReadonlyMap<string, Fields>;
  readonly contexts: ReadonlyMap<string, Fields>;
  /** Of the first file that names one, with the top of that file for problems. */
  readonly current?: { readonly name: string; readonly top: Fields };
}

/** Merges as C1 says: the first file that has a name decides what it means, whole; entries are never mixed. */
export function mergeKubeconfigs(files: readonly KubeconfigFile[], problems: ProblemList): MergedKubeconfig {
  const clusters = new Map<string, Fields>();
  const users = new Map<string, Fields>();
  const contexts = new Map<string, Fields>();
  let current: MergedKubeconfig['current'];
  for (const file of files) {
    const top = new Fields({ file, path: [], shown: '', problems }, file.content);
    checkHeader(top);
    addEntries(clusters, top, 'cluster');
    addEntries(users, top, 'user');
    addEntries(contexts, top, 'context');
    const name = top.text('current-context');
    if (current === undefined && name !== undefined) current = { name, top };
  }
  return { clusters, users, contexts, ...(current !== undefined && { current }) };
}

/** Both may be absent, as kubectl allows; another kind of object is a mistake that explains everything after it. */
function checkHeader(top: Fields): void {
  for (const [key, allowed] of [
    ['apiVersion', 'v1'],
    ['kind', 'Config'],
  ] as const) {
    const found = top.text(key);
    if (found !== undefined && found !== allowed)
      top.problem(key, `found "${found}", but a kubeconfig has ${allowed}`);
  }
}

function addEntries(entries: Map<string, Fields>, top: Fields, singular: 'cluster' | 'user' | 'context'): void {
  const inThisFile = new Set<string>();
  for (const item of top.items(`${singular}s`, 'name')) {
    const name = item.text('name');
    if (name === undefined) {
      if (item.raw('name') === undefined) item.problem('', 'has no name; add "name: …", contexts refer to it');
      continue;
    }
    if (inThisFile.has(name))
      item.problem('name', `"${name}" stands there twice; names must differ within one file`);
    inThisFile.add(name);
    const fields = item.section(singular) ?? item.emptySection(singular);
    if (!entries.has(name)) entries.set(name, fields);
  }
}
