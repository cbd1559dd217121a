import { getKey, isJsonObject, type Json, type JsonObject } from '../../object/json.ts';
import type { FieldPath, KubeconfigFile } from './kubeconfig-file.ts';
import type { ProblemList } from './problem-list.ts';

/** Where a map of fields stands. */
export interface FieldsPlace {
  readonly file: KubeconfigFile;
  readonly path: FieldPath;
  /** The path as people find it: by name instead of by number. */
  readonly shown: string;
  readonly problems: ProblemList;
}

const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/;

/** Reads the fields of one map of a kubeconfig; what has a wrong type becomes a problem and reads as absent. */
export class Fields {
  readonly file: KubeconfigFile;
  readonly #place: FieldsPlace;
  readonly #record: JsonObject;

  constructor(place: FieldsPlace, record: JsonObject) {
    this.file = place.file;
    this.#place = place;
    this.#record = record;
  }

  /** Names the file, the line and the field; `text` says what was found, what is allowed and a way on. */
  problem(key: string, text: string): void {
    const { file, path, shown, problems } = this.#place;
    const line = file.lineOf(key === '' ? path : [...path, key]);
    const field = [shown, key].filter((part) => part !== '').join('.');
    problems.add(
      `${file.path}${line === undefined ? '' : `:${line}`}: ${field === '' ? '' : `${field}: `}${text}`,
    );
  }

  /** Absent, null and empty text are the same, as in Go. The value never becomes part of a problem: it may be secret. */
  text(key: string): string | undefined {
    const value = this.#value(key);
    if (value === undefined || value === '') return undefined;
    if (typeof value === 'string') return value;
    this.problem(
      key,
      `found ${typeName(value)}, but it must be text${isPlain(value) ? '; put it in quotes' : ''}`,
    );
    return undefined;
  }

  flag(key: string): boolean {
    const value = this.#value(key) ?? false;
    if (typeof value === 'boolean') return value;
    this.problem(key, `found ${typeName(value)}, but it must be true or false, without quotes`);
    return false;
  }

  texts(key: string): readonly string[] {
    const value = this.#value(key) ?? [];
    const texts = Array.isArray(value) ? value.filter((item) => typeof item === 'string') : [];
    if (Array.isArray(value) && texts.length === value.length) return texts;
    this.problem(key, `found ${typeName(value)}, but it must be a list of texts, such as ["a", "b"]`);
    return [];
  }

  /** PEM text of a field that holds base64; undefined and a problem when it is none. */
  base64Text(key: string): string | undefined {
    const text = this.text(key)?.replaceAll(/\s/g, '');
    if (text === undefined) return undefined;
    if (text.length % 4 === 0 && BASE64.test(text)) return Buffer.from(text, 'base64').toString('utf8');
    const isPem = text.startsWith('-----BEGIN');
    const found = isPem ? 'PEM text as it is' : 'text that is not base64';
    this.problem(
      key,
      `found ${found}, but it must be PEM encoded as base64 (base64 -w0 <file>)${this.#fileHint(key)}`,
    );
    return undefined;
  }

  #fileHint(key: string): string {
    return key.endsWith('-data') ? `; or name the file in ${key.slice(0, -'-data'.length)}` : '';
  }

  /** The map below a key; undefined when absent. */
  section(key: string): Fields | undefined {
    const value = this.#value(key);
    if (value === undefined) return undefined;
    if (isJsonObject(value)) return new Fields(this.#below([key], key), value);
    this.problem(key, `found ${typeName(value)}, but it must hold fields`);
    return undefined;
  }

  /** In place of a section that is not there: `user:` with nothing below it is an anonymous user. */
  emptySection(key: string): Fields {
    return new Fields(this.#below([key], key), {});
  }

  /** The maps of a list; `nameKey` is shown instead of the number where an item has it. */
  items(key: string, nameKey: string): readonly Fields[] {
    const value = this.#value(key) ?? [];
    if (!Array.isArray(value)) {
      this.problem(key, `found ${typeName(value)}, but it must be a list ("- ${nameKey}: …")`);
      return [];
    }
    return value.flatMap((item, index) => {
      const name = isJsonObject(item) ? getKey(item, nameKey) : undefined;
      const shown = `${key}[${typeof name === 'string' && name !== '' ? JSON.stringify(name) : index}]`;
      const fields = new Fields(this.#below([key, index], shown), isJsonObject(item) ? item : {});
      if (isJsonObject(item)) return [fields];
      fields.problem('', `found ${typeName(item)}, but it must hold fields`);
      return [];
    });
  }

  keys(): readonly string[] {
    return Object.keys(this.#record);
  }

  /** As it is, for what is passed on and not understood here. */
  raw(key: string): Json | undefined {
    return this.#value(key);
  }

  #value(key: string): Json | undefined {
    return getKey(this.#record, key) ?? undefined;
  }

  #below(path: FieldPath, shown: string): FieldsPlace {
    const { path: above, shown: shownAbove } = this.#place;
    return {
      ...this.#place,
      path: [...above, ...path],
      shown: shownAbove === '' ? shown : `${shownAbove}.${shown}`,
    };
  }
}

const isPlain = (value: Json): boolean => typeof value !== 'object';

function typeName(value: Json): string {
  if (value === null) return 'nothing';
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'object') return 'a map';
  if (typeof value === 'boolean') return 'a boolean (unquoted y, n, yes, no, on and off are that too)';
  return typeof value === 'string' ? 'text' : 'a number';
}
