import type { Schema } from '../../api/schema/structural.ts';
import type { JsonObject } from '../json.ts';
import { TypedProblem } from './typed-problem.ts';
import { type Ownership, objectOwnership } from './typing.ts';

/** How objects look in the other versions of their kind (spec 13.6). */
export interface Versions {
  /** `undefined` if the version does not exist (any more). May throw what the caller of the merge wants to have. */
  readonly convert: (object: JsonObject, apiVersion: string) => JsonObject | undefined;
  readonly schemaOf: (apiVersion: string) => Schema | undefined;
  /**
   * Whether reset fields (S2) are left alone in claims of other versions too, as for built-in kinds. Of custom resources
   * themselves (not of their status) upstream knows only the version of the request: a PUT in v1 takes the status from
   * who wrote it in v2.
   */
  readonly shareResetFields?: boolean;
}

/** An object in one version, with the ownership that version has. */
export interface VersionedObject {
  readonly object: JsonObject;
  readonly apiVersion: string;
  readonly ownership: Ownership;
}

/** The versions of one request. */
export class VersionConverter {
  readonly #versions: Versions | undefined;
  readonly #home: Omit<VersionedObject, 'object'>;

  constructor(apiVersion: string, schema: Schema, versions: Versions | undefined) {
    this.#versions = versions;
    this.#home = { apiVersion, ownership: objectOwnership(schema) };
  }

  /** An object in the version of the request. */
  home(object: JsonObject): VersionedObject {
    return { object, ...this.#home };
  }

  ownershipAt(apiVersion: string): Ownership | undefined {
    if (apiVersion === this.#home.apiVersion) return this.#home.ownership;
    const schema = this.#versions?.schemaOf(apiVersion);
    return schema === undefined ? undefined : objectOwnership(schema);
  }

  /** `doing` goes before the reason if it fails. */
  convert(from: VersionedObject, apiVersion: string, doing = ''): VersionedObject | undefined {
    if (from.apiVersion === apiVersion) return from;
    try {
      return this.#converted(from, apiVersion);
    } catch (error) {
      throw doing !== '' && error instanceof TypedProblem ? error.within(doing) : error;
    }
  }

  /** Between two others the version of the request is always in the middle. */
  #converted(from: VersionedObject, apiVersion: string): VersionedObject | undefined {
    const { apiVersion: home } = this.#home;
    if (from.apiVersion !== home && apiVersion !== home) {
      const middle = this.#converted(from, home);
      return middle === undefined ? undefined : this.#converted(middle, apiVersion);
    }
    const ownership = this.ownershipAt(apiVersion);
    const object = ownership === undefined ? undefined : this.#versions?.convert(from.object, apiVersion);
    return object === undefined || ownership === undefined ? undefined : { object, apiVersion, ownership };
  }
}
