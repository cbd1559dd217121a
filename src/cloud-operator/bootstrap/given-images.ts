import { messageOf, userError } from '../../base/errors.ts';
import { nearestWord } from '../../object/nearest-word.ts';
import { isRecord } from '../../object/record.ts';
import { parseYaml } from '../../object/yaml.ts';
import { parseImages } from '../config/images.ts';
import { type GivenFile, readConfigMap } from './given-files.ts';

/** What images of a release are looked at with. */
export interface ImageRules {
  /** Those that somebody reads. */
  readonly keys: readonly string[];
  /** What is wrong with the name of an image, after it. Whatever it is, it is taken unless told otherwise. */
  readonly problemOf?: ((image: string) => string | undefined) | undefined;
}

export interface GivenImages {
  /** By key. */
  readonly images: ReadonlyMap<string, string>;
  readonly hints: readonly string[];
}

const IMAGES_KEY = 'images.json';

/** Images by key out of the ConfigMap that has `images.json` (R86). Throws a userError that names the file. */
export function imagesOf(given: GivenFile, { keys, problemOf }: ImageRules): GivenImages {
  const problem = (text: string, cause?: unknown) => userError('InvalidFile', `${given.file}: ${text}`, { cause });
  if (isImagesJson(given, keys)) {
    throw problem(`holds images alone: give the ConfigMap that has them under the key ${IMAGES_KEY}`);
  }
  const { data, metadata } = readConfigMap(given);
  const shown = `ConfigMap ${metadata.namespace ?? ''}/${metadata.name}`;
  if (data === undefined) throw problem('unable to find Data field in provided ConfigMap');
  const text = data[IMAGES_KEY];
  if (text === undefined) throw problem(`unable to find images key "${IMAGES_KEY}" in ${shown}`);
  let images: ReadonlyMap<string, string>;
  try {
    images = parseImages({ text, file: IMAGES_KEY, keys });
  } catch (cause) {
    throw problem(`unable to decode images content from ${shown}: ${messageOf(cause)}`, cause);
  }
  for (const [key, image] of images) {
    const wrong = image === '' ? undefined : problemOf?.(image);
    if (wrong !== undefined) throw problem(`${IMAGES_KEY}: ${key}: ${wrong}`);
  }
  // It has just been read as one.
  const found = Object.keys(JSON.parse(text) as object);
  return { images, hints: unknownKeys(found, keys).map((hint) => `${given.file}: ${IMAGES_KEY} ${hint}`) };
}

const unknownKeys = (found: readonly string[], keys: readonly string[]): readonly string[] =>
  found
    .filter((key) => !keys.includes(key))
    .map((key) => {
      const near = nearestWord(key, keys);
      return `has "${key}", which nobody reads${near === undefined ? '' : `. Did you mean ${near}?`}`;
    });

/** What the ConfigMap holds, without the ConfigMap. */
function isImagesJson({ text }: GivenFile, keys: readonly string[]): boolean {
  try {
    const value = parseYaml(text);
    return isRecord(value) && keys.some((key) => Object.hasOwn(value, key));
  } catch {
    return false;
  }
}
