import { getKey, isJsonObject, type Json, type JsonObject, jsonEqual, setKey } from './json.ts';
import { listIndex, pointerParts } from './json-pointer.ts';
import { stringifyJson } from './json-text.ts';
import { byteLength } from './names.ts';
import { PatchProblem } from './patch-problem.ts';
import { PatchedLists } from './patched-lists.ts';
import { goKind } from './validation/go-text.ts';

const MOST_OPERATIONS = 10_000;
// Upstream's limit for all copies of a patch together: one that doubles its document again and again ends here.
const MOST_COPIED_BYTES = 3 * 1_048_576;

/**
 * RFC 6902 with the habits of upstream's library: `replace` of a missing member adds it, negative positions count from
 * the end, a missing `value` is null. Returns a new document; neither input is written to.
 */
export function applyJsonPatch(document: Json, patch: Json): Json {
  if (patch === null) return document;
  if (!Array.isArray(patch)) {
    throw notDecodable(`${goKind(patch)} into Go value of type []handlers.jsonPatchOp`);
  }
  // As upstream, all of them are read before they are counted.
  const operations = patch.map(operationOf);
  if (operations.length > MOST_OPERATIONS) {
    throw new PatchProblem(
      'too-large',
      `The allowed maximum operations in a JSON patch is ${MOST_OPERATIONS}, got ${patch.length}`,
    );
  }
  const run = new PatchRun(document);
  for (const operation of operations) run.apply(operation);
  return run.result();
}

function operationOf(item: Json): JsonObject {
  if (item === null) return {};
  if (!isJsonObject(item)) throw notDecodable(`${goKind(item)} into Go value of type handlers.jsonPatchOp`);
  for (const name of ['op', 'path', 'from']) {
    const value = getKey(item, name) ?? '';
    if (typeof value !== 'string') {
      throw notDecodable(`${goKind(value)} into Go struct field jsonPatchOp.${name} of type string`);
    }
  }
  return item;
}

const notDecodable = (what: string): PatchProblem =>
  new PatchProblem('malformed', `error decoding patch: json: cannot unmarshal ${what}`);

type Container = Json[] | JsonObject;

class PatchRun {
  #document: Json;
  /** What this run has already copied and may write to. */
  readonly #own = new WeakSet<Container>();
  readonly #lists = new PatchedLists();
  #copied = 0;

  constructor(document: Json) {
    this.#document = document;
  }

  result(): Json {
    this.#lists.settle(this.#document);
    return this.#document;
  }

  apply(operation: JsonObject): void {
    const kind = textMember(operation, 'op') ?? 'unknown';
    switch (kind) {
      case 'add':
        return this.#add(pathOf(operation, 'path', 'add'), valueOf(operation), 'add');
      case 'remove':
        return this.#remove(pathOf(operation, 'path', 'remove'), 'remove');
      case 'replace':
        return this.#replace(pathOf(operation, 'path', 'replace'), valueOf(operation));
      case 'test':
        return this.#test(pathOf(operation, 'path', 'test'), valueOf(operation));
      case 'move':
        return this.#move(operation);
      case 'copy':
        return this.#copy(operation);
      default:
        throw new PatchProblem('unprocessable', `Unexpected kind: ${kind}`);
    }
  }

  #add(path: string, value: Json, operation: string): void {
    const { container, key } = this.#parent(path, operation);
    if (!Array.isArray(container)) return setKey(container, key, value);
    const length = this.#lists.lengthOf(container);
    // One more position than there are items: the end.
    const index = key === '-' ? length : listIndex(key, length + 1);
    if (index === undefined) throw badIndex(operation, path, key);
    this.#lists.insert(container, index, value);
  }

  #remove(path: string, operation: string): void {
    const { container, key } = this.#parent(path, operation);
    if (Array.isArray(container)) {
      const index = listIndex(key, this.#lists.lengthOf(container));
      if (index === undefined) throw badIndex(operation, path, key);
      this.#lists.remove(container, index);
      return;
    }
    if (!Object.hasOwn(container, key)) {
      const missing = `Unable to remove nonexistent key: ${key}: missing value`;
      throw new PatchProblem('unprocessable', `error in ${operation} for path: '${path}': ${missing}`);
    }
    delete container[key];
  }

  #replace(path: string, value: Json): void {
    if (path === '') {
      if (!isContainer(value)) {
        throw new PatchProblem('unprocessable', 'replace operation value must be object or array');
      }
      this.#document = value;
      return;
    }
    const { container, key } = this.#parent(path, 'replace');
    if (!Array.isArray(container)) return setKey(container, key, value);
    const index = listIndex(key, this.#lists.lengthOf(container));
    if (index === undefined) {
      throw new PatchProblem(
        'unprocessable',
        `replace operation does not apply: doc is missing key: ${path}: missing value`,
      );
    }
    this.#lists.set(container, index, value);
  }

  #test(path: string, wanted: Json): void {
    const found = path === '' ? this.#document : this.#read(path, 'test');
    this.#lists.settle(found);
    if (!jsonEqual(found ?? null, wanted)) {
      throw new PatchProblem('unprocessable', `testing value ${path} failed: test failed`);
    }
  }

  #move(operation: JsonObject): void {
    const from = pathOf(operation, 'from', 'move');
    const value = this.#read(from, 'move') ?? null;
    this.#remove(from, 'move');
    this.#add(pathOf(operation, 'path', 'move'), value, 'move');
  }

  #copy(operation: JsonObject): void {
    // The copy may share its parts with the original: whatever is written to later is copied first.
    const value = this.#read(pathOf(operation, 'from', 'copy'), 'copy') ?? null;
    this.#lists.settle(value);
    this.#copied += byteLength(stringifyJson(value));
    if (this.#copied > MOST_COPIED_BYTES) {
      const sizes = `the accumulated size increase of copy is ${this.#copied}, exceeding the limit ${MOST_COPIED_BYTES}`;
      throw new PatchProblem('unprocessable', `Unable to complete the copy, ${sizes}`);
    }
    if (isContainer(value)) this.#disown(value);
    this.#add(pathOf(operation, 'path', 'copy'), value, 'copy');
  }

  #disown(value: Container): void {
    this.#own.delete(value);
    for (const item of Array.isArray(value) ? value : Object.values(value)) {
      if (isContainer(item)) this.#disown(item);
    }
  }

  #read(path: string, operation: string): Json | undefined {
    const parts = pointerParts(path);
    if (parts === undefined) throw missingPath(operation, path);
    const key = parts.pop() ?? '';
    let here: Json | undefined = this.#document;
    for (const part of parts) here = isContainer(here) ? this.#child(here, part) : undefined;
    if (!isContainer(here)) throw missingPath(operation, path);
    if (Array.isArray(here) && listIndex(key, this.#lists.lengthOf(here)) === undefined)
      throw badIndex(operation, path, key);
    return this.#child(here, key);
  }

  #child(container: Container, part: string): Json | undefined {
    if (!Array.isArray(container)) return getKey(container, part);
    const index = listIndex(part, this.#lists.lengthOf(container));
    return index === undefined ? undefined : this.#lists.at(container, index);
  }

  /** The container of what a path names, with everything on the way to it copied. */
  #parent(path: string, operation: string): { container: Container; key: string } {
    const parts = pointerParts(path);
    if (parts === undefined || !isContainer(this.#document)) throw missingPath(operation, path);
    const key = parts.pop() ?? '';
    let here: Container = this.#writable(this.#document);
    this.#document = here;
    for (const part of parts) {
      const next = this.#child(here, part);
      if (!isContainer(next)) throw missingPath(operation, path);
      const own = this.#writable(next);
      if (own !== next) this.#replaceChild(here, part, own);
      here = own;
    }
    return { container: here, key };
  }

  #replaceChild(container: Container, part: string, value: Json): void {
    if (!Array.isArray(container)) setKey(container, part, value);
    else this.#lists.set(container, listIndex(part, this.#lists.lengthOf(container)) ?? 0, value);
  }

  #writable(container: Container): Container {
    if (this.#own.has(container)) return container;
    const copy = Array.isArray(container) ? [...container] : { ...container };
    this.#own.add(copy);
    return copy;
  }
}

const isContainer = (value: Json | undefined): value is Container => typeof value === 'object' && value !== null;

function textMember(operation: JsonObject, name: string): string | undefined {
  const value = getKey(operation, name);
  return typeof value === 'string' ? value : undefined;
}

function pathOf(operation: JsonObject, name: 'path' | 'from', kind: string): string {
  const path = textMember(operation, name);
  if (path !== undefined) return path;
  throw new PatchProblem('unprocessable', `${kind} operation failed to decode ${name}: missing value`);
}

const valueOf = (operation: JsonObject): Json => getKey(operation, 'value') ?? null;

const missingPath = (operation: string, path: string): PatchProblem =>
  new PatchProblem(
    'unprocessable',
    `${operation} operation does not apply: doc is missing path: ${JSON.stringify(path)}: missing value`,
  );

const badIndex = (operation: string, path: string, key: string): PatchProblem =>
  new PatchProblem(
    'unprocessable',
    `error in ${operation} for path: '${path}': Unable to access invalid index: ${key}: invalid index referenced`,
  );
