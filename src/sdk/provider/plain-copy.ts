import { types } from 'node:util';

/** Values that nobody writes by hand are not that deep; beyond it is a mistake, not data. */
const DEEPEST = 32;
/** Nor that long: it would take minutes to look at. */
const LONGEST = 1_000_000;

/** What could not be read of a value, and where. */
export interface Unreadable {
  readonly path: string;
  /** Completes "…, which": `throws when it is read`. */
  readonly trouble: string;
}

/** A copy of foreign data that can be read without surprises, and what had to be left out of it. */
export interface PlainCopy {
  readonly value: unknown;
  readonly unreadable: readonly Unreadable[];
}

/**
 * Reads a value of somebody else once. Plain objects and lists are copied, their fields without a value left out;
 * patterns are copied; everything else is what it was. Never throws, whatever the value does when it is read.
 */
export function plainCopy(value: unknown, path = ''): PlainCopy {
  const copier = new Copier();
  return { value: copier.copy(value, path, 0), unreadable: copier.unreadable };
}

/** The place of a field, from the place of what holds it. */
export const fieldPath = (path: string, key: string): string => (path === '' ? key : `${path}.${key}`);

class Copier {
  readonly unreadable: Unreadable[] = [];
  readonly #above: unknown[] = [];

  copy(value: unknown, path: string, depth: number): unknown {
    if (typeof value !== 'object' || value === null) return value;
    if (this.#above.includes(value)) return this.#leaveOut(path, 'contains itself');
    if (depth > DEEPEST) return this.#leaveOut(path, `is nested more than ${DEEPEST} levels deep`);
    this.#above.push(value);
    try {
      return this.#copyObject(value, path, depth);
    } catch {
      return this.#leaveOut(path, 'throws when it is read');
    } finally {
      this.#above.pop();
    }
  }

  #copyObject(value: object, path: string, depth: number): unknown {
    if (Array.isArray(value)) {
      if (value.length > LONGEST) return this.#leaveOut(path, `is a list of more than ${LONGEST} entries`);
      return Array.from(value, (item, index) => this.copy(item, `${path}[${index}]`, depth + 1));
    }
    if (types.isRegExp(value)) return new RegExp(value.source, value.flags);
    if (!isPlain(value)) return value;
    const fields = Object.keys(value).map((key) => [key, this.#field(value, key, path, depth)] as const);
    return Object.fromEntries(fields.filter(([, field]) => field !== undefined));
  }

  #field(holder: object, key: string, path: string, depth: number): unknown {
    const place = fieldPath(path, key);
    try {
      return this.copy(Reflect.get(holder, key), place, depth + 1);
    } catch {
      return this.#leaveOut(place, 'throws when it is read');
    }
  }

  #leaveOut(path: string, trouble: string): undefined {
    this.unreadable.push({ path, trouble });
  }
}

/** An object literal, from whatever realm, or one without a prototype. */
export function isPlain(value: unknown): value is Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}
