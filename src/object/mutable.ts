import type { KubeObject, Mutable } from '../api/object.ts';
import { cloneJson, type JsonObject } from './json.ts';

/** A deep copy that its holder may change; what a cache hands out is frozen (runtime/A2). */
export const mutable = <T extends KubeObject>(object: T): Mutable<T> =>
  cloneJson(object as unknown as JsonObject) as unknown as Mutable<T>;
