import { readFileSync } from 'node:fs';
import type { AssetSource } from '../definition.ts';
import { type ReadManifest, readManifest, readObject } from './decode.ts';
import type { ManifestScope } from './manifest-kinds.ts';
import { compileTemplate, type Template, type TemplateValues } from './template.ts';

/** One manifest of a provider. */
export interface Asset {
  readonly file: string;
  /** Throws for a value that the template misses; tells all that is wrong with what it rendered. */
  read(values: TemplateValues): ReadManifest;
}

/** Reads the files of a source, once, and compiles them. `prefix` goes before their names in messages. */
export function loadAssets(source: AssetSource, scope: ManifestScope, prefix = ''): readonly Asset[] {
  if ('objects' in source) {
    return source.objects.map((object, index) => {
      const file = `${prefix}objects[${index}]`;
      const manifest = readObject(object, file, scope);
      return { file, read: () => manifest };
    });
  }
  return source.files.map((name) => {
    const file = `${prefix}${name}`;
    const template = compileTemplate(readFileSync(fileIn(source.folder, name), 'utf8'), file);
    return { file, read: rememberingLast(template, (text) => readManifest(text, file, scope)) };
  });
}

/** Values are the same nearly each time, and reading YAML takes by far the most time of rendering. */
function rememberingLast(template: Template, readText: (text: string) => ReadManifest): Asset['read'] {
  let last: { readonly text: string; readonly manifest: ReadManifest } | undefined;
  return (values) => {
    const text = template.render(values);
    if (last?.text !== text) last = { text, manifest: readText(text) };
    return last.manifest;
  };
}

const fileIn = (folder: URL, name: string): URL =>
  new URL(name, folder.href.endsWith('/') ? folder : `${folder.href}/`);
